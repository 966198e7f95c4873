import { bytesOf, latin1Of } from '../values/latin1.ts'
import type { Records } from './records.ts'

/** Records of this process alone, each of which is asked for when it is first looked at. */
export class LoadingRecords implements Records {
  nowMs = 0
  readonly #records = new Map<string, Uint8Array>()
  readonly #load: (key: Uint8Array) => void
  #usedBytes = 0

  /** `load` may set the record, and others. */
  constructor(load: (key: Uint8Array) => void) {
    this.#load = load
  }

  get size(): number {
    return this.#records.size
  }

  get usedBytes(): number {
    return this.#usedBytes
  }

  get(key: Uint8Array): Uint8Array | undefined {
    // The key's memory may be used for others meanwhile.
    const name = latin1Of(key)
    this.#load(key)
    return this.#records.get(name)
  }

  set(key: Uint8Array, value: Uint8Array): void {
    const name = latin1Of(key)
    const old = this.#records.get(name)
    this.#usedBytes += value.length + (old === undefined ? key.length : -old.length)
    this.#records.set(name, Uint8Array.from(value))
  }

  delete(key: Uint8Array): boolean {
    const name = latin1Of(key)
    const old = this.#records.get(name)
    if (old === undefined) return false
    this.#usedBytes -= key.length + old.length
    return this.#records.delete(name)
  }

  idleMs(): undefined {
    return undefined
  }

  frequency(): undefined {
    return undefined
  }

  clear(): void {
    this.#records.clear()
    this.#usedBytes = 0
  }

  swapSpaces(): void {
    // No one reads it from outside.
  }

  scan(cursor: number, count: number): { readonly cursor: number; readonly keys: readonly Uint8Array[] } {
    const names = [...this.#records.keys()]
    const end = cursor + count
    return { cursor: end < names.length ? end : 0, keys: names.slice(cursor, end).map(bytesOf) }
  }
}
