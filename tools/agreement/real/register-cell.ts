import { crc32 } from 'node:zlib'
import { isPlain, parseData } from '../model/data-text.ts'
import type { Data } from '../model/process.ts'

/**
 * How a register lies in memory. A reader never takes half of a value for one. A writer that is killed in the middle
 * destroys nothing. There are two copies, which are written in turn, each with a head and a rest:
 *
 *     head 0 | head 1 | rest 0 | rest 1        head: number u32, length u32, crc u32, 0, first bytes of the text
 *
 * The copy with the higher number whose checksum is right is the value. Both heads come with one READ, and a value that
 * fits its head takes one WRITE. A register that is written once has one copy.
 */
export const HEAD_BYTES = 256
const FIELDS_BYTES = 16
/** What fits a head. */
export const SHORT_BYTES: number = HEAD_BYTES - FIELDS_BYTES

/** Where the parts of a register are, in bytes from its beginning. */
export class CellLayout {
  readonly copies: 1 | 2
  readonly textBytesMax: number
  readonly restBytes: number
  readonly bytes: number
  /** Its writer may lie, so that it may never be whole. */
  readonly isDoubtful: boolean

  constructor(textBytesMax: number, copies: 1 | 2, isDoubtful = false) {
    this.isDoubtful = isDoubtful
    this.copies = copies
    this.textBytesMax = Math.ceil(Math.max(textBytesMax, SHORT_BYTES) / 8) * 8
    this.restBytes = this.textBytesMax - SHORT_BYTES
    this.bytes = copies * (HEAD_BYTES + this.restBytes)
  }

  /** The heads of all copies come first. */
  get headsBytes(): number {
    return this.copies * HEAD_BYTES
  }

  headAt(copy: number): number {
    return copy * HEAD_BYTES
  }

  restAt(copy: number): number {
    return this.headsBytes + copy * this.restBytes
  }
}

/** A value as it is written: its copy, and the bytes of head and rest. */
export interface EncodedCell {
  readonly copy: number
  readonly head: Uint8Array
  readonly rest: Uint8Array
}

/**
 * A value as the register's `number`th, counted from 1. Undefined if it is too long or too deep for one: a liar may
 * have others copy what is like that.
 */
export function encodeCell(value: Data, number: number, layout: CellLayout): EncodedCell | undefined {
  if (!isPlain(value)) return undefined
  const text = Buffer.from(JSON.stringify(value))
  if (text.length > layout.textBytesMax) return undefined
  const head = Buffer.alloc(Math.min(HEAD_BYTES, FIELDS_BYTES + text.length))
  head.writeUInt32LE(number, 0)
  head.writeUInt32LE(text.length, 4)
  head.writeUInt32LE(checksum(number, text), 8)
  text.copy(head, FIELDS_BYTES)
  return { copy: number % layout.copies, head, rest: text.subarray(SHORT_BYTES) }
}

/** A copy as its head shows it. */
export interface CellHead {
  readonly copy: number
  readonly number: number
  readonly length: number
  readonly crc: number
  /** The text as far as it is in the head. */
  readonly text: Buffer
}

/** The copies of a register that may hold a value, the newer one first; `heads` are the bytes of all. */
export function decodeHeads(heads: Buffer, layout: CellLayout): CellHead[] {
  return Array.from({ length: layout.copies }, (_, copy) => copy)
    .map((copy): CellHead => {
      const head = heads.subarray(copy * HEAD_BYTES, (copy + 1) * HEAD_BYTES)
      const length = head.readUInt32LE(4)
      const text = head.subarray(FIELDS_BYTES, FIELDS_BYTES + Math.min(length, SHORT_BYTES))
      return { copy, number: head.readUInt32LE(0), length, crc: head.readUInt32LE(8), text }
    })
    .filter(({ number, length }) => number > 0 && length <= layout.textBytesMax)
    .sort((one, other) => other.number - one.number)
}

/** The value of a copy, with the rest of its text; undefined if that is not what was written, or not all of it. */
export function decodeCell({ number, length, crc, text }: CellHead, rest: Uint8Array): Data | undefined {
  const whole = rest.length === 0 ? text : Buffer.concat([text, rest])
  if (whole.length !== length || checksum(number, whole) !== crc) return undefined
  // Its writer may lie, with a right checksum.
  return parseData(whole.toString())
}

const checksum = (number: number, text: Uint8Array): number => crc32(text, number)
