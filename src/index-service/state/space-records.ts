import type { Records } from '../memory/records.ts'
import type { HashValue } from '../values/hash-value.ts'
import { bytesOf } from '../values/latin1.ts'
import { HEAD_BYTES, packHead, type RecordHead, RecordKeys } from './record-format.ts'

/** The records of a space: those of its keys, and of the fields of its hashes. */
export class SpaceRecords {
  readonly #records: Records
  readonly #space: number
  readonly #keys = new RecordKeys()
  #buffer = new Uint8Array(4096)

  constructor(records: Records, space: number) {
    this.#records = records
    this.#space = space
  }

  /** A view, valid until the next change. */
  get(key: Uint8Array): Uint8Array | undefined {
    return this.#records.get(this.#keys.ofKey(key, this.#space))
  }

  /** `bytes` may be a view. */
  set(key: Uint8Array, head: RecordHead, bytes?: Uint8Array): void {
    const lengthBytes = HEAD_BYTES + (bytes?.length ?? 0)
    // Not the memory of a large value for ever.
    const buffer = lengthBytes <= this.#buffer.length ? this.#buffer : new Uint8Array(lengthBytes)
    packHead(buffer, head)
    if (bytes !== undefined) buffer.set(bytes, HEAD_BYTES)
    this.#records.set(this.#keys.ofKey(key, this.#space), buffer.subarray(0, lengthBytes))
  }

  delete(key: Uint8Array): void {
    this.#records.delete(this.#keys.ofKey(key, this.#space))
  }

  /** A view, valid until the next change. */
  field(key: Uint8Array, field: Uint8Array): Uint8Array | undefined {
    return this.#records.get(this.#keys.ofField(key, field, this.#space))
  }

  setField(key: Uint8Array, field: Uint8Array, value: Uint8Array): void {
    this.#records.set(this.#keys.ofField(key, field, this.#space), value)
  }

  deleteField(key: Uint8Array, field: Uint8Array): boolean {
    return this.#records.delete(this.#keys.ofField(key, field, this.#space))
  }

  deleteFields(key: Uint8Array, { members }: HashValue): void {
    for (const name of members) this.deleteField(key, bytesOf(name))
  }

  /** Copy the fields of a hash, which may be in another space. */
  copyFields(source: SpaceRecords, from: Uint8Array, { to, hash }: { to: Uint8Array; hash: HashValue }): void {
    for (const name of hash.members) {
      const field = bytesOf(name)
      this.setField(to, field, Uint8Array.from(source.field(from, field)!))
    }
  }
}
