import { DefectError } from '../../native/index.ts'
import { ConsensusError } from '../errors.ts'
import { u48At } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'

/**
 * What the payload of an entry holds: records, one behind the other. Numbers are little-endian, sessions have 48 bits.
 *
 * ```
 *  every record    0 length of what follows   4 kind
 *  Begin           5 term   9 leader (48 bits)                                             the first of a new leader
 *  Command         5 session  11 sequence  15 acknowledged  19 parts  23 bytes
 *  Fragment        5 session  11 sequence  15 part  19 bytes
 *  Configuration   5 bytes                                                                 JSON
 *  Format          5 format                                                                see `formats.ts`
 * ```
 *
 * A command that is too long for one entry is sent as fragments 0, 1, … and then a Command, whose bytes are the rest.
 * `parts` says how many fragments belong before it. Without that number the rest would be taken for a whole command
 * if a fragment was lost with its leader.
 */
export const RecordKind = { Begin: 1, Command: 2, Fragment: 3, Configuration: 4, Format: 5 } as const

/** By kind: the bytes before a record's own, its length and kind included. */
const HEAD_BYTES: readonly (number | undefined)[] = [undefined, 15, 23, 19, 5, 9]
/** What a Command and a Fragment take besides their own bytes. */
export const COMMAND_HEAD_BYTES: number = HEAD_BYTES[RecordKind.Command]!
export const FRAGMENT_HEAD_BYTES: number = HEAD_BYTES[RecordKind.Fragment]!

/** Names a command: sequences of a session count from 1. */
export interface CommandName {
  readonly session: number
  readonly sequence: number
}

/** Appends records to one buffer, which is used again. */
export class RecordWriter {
  readonly #writer = new ByteWriter()

  get lengthBytes(): number {
    return this.#writer.lengthBytes
  }

  /** What was written. Valid until something else is. */
  bytes(): Uint8Array {
    return this.#writer.bytes()
  }

  reset(): void {
    this.#writer.reset()
  }

  begin({ term, leader }: { readonly term: number; readonly leader: number }): void {
    this.#head(RecordKind.Begin, 0)
    this.#writer.u32(term)
    this.#writer.u48(leader)
  }

  /**
   * `acknowledged`: the answers of all sequences up to this one were received. `parts`: fragments of this command that
   * were sent before.
   */
  command(name: CommandName & { readonly acknowledged: number; readonly parts?: number }, bytes: Uint8Array): void {
    if (name.acknowledged >= name.sequence)
      throw new DefectError(`sequence ${name.sequence} acknowledges its own answer`)
    this.#head(RecordKind.Command, bytes.length)
    this.#name(name)
    this.#writer.u32(name.acknowledged)
    this.#writer.u32(name.parts ?? 0)
    this.#writer.append(bytes)
  }

  fragment(name: CommandName & { readonly part: number }, bytes: Uint8Array): void {
    this.#head(RecordKind.Fragment, bytes.length)
    this.#name(name)
    this.#writer.u32(name.part)
    this.#writer.append(bytes)
  }

  configuration(bytes: Uint8Array): void {
    this.#head(RecordKind.Configuration, bytes.length)
    this.#writer.append(bytes)
  }

  format(format: number): void {
    this.#head(RecordKind.Format, 0)
    this.#writer.u32(format)
  }

  #head(kind: number, lengthBytes: number): void {
    this.#writer.u32(HEAD_BYTES[kind]! - 4 + lengthBytes)
    this.#writer.u8(kind)
  }

  #name({ session, sequence }: CommandName): void {
    this.#writer.u48(session)
    this.#writer.u32(sequence)
  }
}

/**
 * Reads the records of a payload where they lie, after it has checked all of them. It stands at one record at a time;
 * fields are those of its kind.
 *
 * ```ts
 * for (const record = new RecordReader(payload); record.next(); ) if (record.kind === RecordKind.Command) …
 * ```
 */
export class RecordReader {
  readonly #payload: Uint8Array
  readonly #view: DataView
  #at = 0
  #next = 0

  /** @throws ConsensusError if any record is malformed: `offset` says which. */
  constructor(payload: Uint8Array) {
    this.#payload = payload
    this.#view = new DataView(payload.buffer, payload.byteOffset, payload.length)
    for (; this.#at < payload.length; this.#at = this.#end) this.#check()
  }

  /** Go to the first record, then to the next; false after the last one. */
  next(): boolean {
    if (this.#next === this.#payload.length) return false
    this.#at = this.#next
    this.#next = this.#end
    return true
  }

  get kind(): number {
    return this.#view.getUint8(this.#at + 4)
  }

  get term(): number {
    return this.#view.getUint32(this.#at + 5, true)
  }

  get format(): number {
    return this.#view.getUint32(this.#at + 5, true)
  }

  get leader(): number {
    return u48At(this.#view, this.#at + 9)
  }

  get session(): number {
    return u48At(this.#view, this.#at + 5)
  }

  get sequence(): number {
    return this.#view.getUint32(this.#at + 11, true)
  }

  get acknowledged(): number {
    return this.#view.getUint32(this.#at + 15, true)
  }

  get parts(): number {
    return this.#view.getUint32(this.#at + 19, true)
  }

  get part(): number {
    return this.#view.getUint32(this.#at + 15, true)
  }

  /** A view of the payload. */
  get bytes(): Uint8Array {
    return this.#payload.subarray(this.#at + HEAD_BYTES[this.kind]!, this.#next)
  }

  get #end(): number {
    return this.#at + 4 + this.#view.getUint32(this.#at, true)
  }

  #check(): void {
    const left = this.#payload.length - this.#at
    if (left < 5) throw this.#damaged('it is cut off')
    const head = HEAD_BYTES[this.kind]
    if (head === undefined) throw this.#damaged(`its kind ${this.kind} is unknown`)
    const lengthBytes = this.#end - this.#at
    if (lengthBytes > left) throw this.#damaged('it is cut off')
    const isFixed = this.kind === RecordKind.Begin || this.kind === RecordKind.Format
    if (lengthBytes < head || (isFixed && lengthBytes > head)) throw this.#damaged(`its length ${lengthBytes} is wrong`)
    if (this.kind !== RecordKind.Command && this.kind !== RecordKind.Fragment) return
    if (this.sequence === 0) throw this.#damaged('its sequence is 0')
    if (this.kind === RecordKind.Command && this.acknowledged >= this.sequence)
      throw this.#damaged('it acknowledges its own answer')
  }

  #damaged(how: string): ConsensusError {
    const what = `the record at byte ${this.#at} of an entry cannot be read: ${how}`
    const message = `${what}; run the same version of Aether on every replica`
    return new ConsensusError('RECORD', message, { offset: this.#at })
  }
}
