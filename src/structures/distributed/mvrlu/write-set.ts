import type { BlockName } from '../heap/block-word.ts'
import { headBytes, readBlockHead, readValueBlock, writeValueBlock } from '../heap/value-block.ts'

/**
 * The block of a write set, which is a {@link writeValueBlock}: two words, clock and lock word, and for each object
 * that was locked 24 bytes.
 *
 * ```
 *  0  place of its slot, Float64   8  head before   16  head after
 * ```
 */
const ENTRY_BYTES = 24
const WORDS = 2

/** What is to be read where only the clock is wanted. */
export const WRITE_SET_HEAD_BYTES: number = headBytes(WORDS)

/** An object that a section has locked; where both heads are the same it was only locked. */
export interface WriteSetEntry {
  readonly place: number
  readonly before: bigint
  readonly after: bigint
}

/** What a section commits. */
export interface WriteSet {
  readonly clock: number
  /** In each of its slots, until it is finished. */
  readonly lock: bigint
  readonly entries: readonly WriteSetEntry[]
}

export function writeSetBytes(entries: number): number {
  return WRITE_SET_HEAD_BYTES + entries * ENTRY_BYTES
}

export function writeWriteSet(tag: number, { clock, lock, entries }: WriteSet): Uint8Array {
  const bytes = new Uint8Array(entries.length * ENTRY_BYTES)
  const view = new DataView(bytes.buffer)
  for (const [index, { place, before, after }] of entries.entries()) {
    view.setFloat64(index * ENTRY_BYTES, place, true)
    view.setBigUint64(index * ENTRY_BYTES + 8, before, true)
    view.setBigUint64(index * ENTRY_BYTES + 16, after, true)
  }
  return writeValueBlock(tag, [BigInt(clock), lock], bytes)
}

/** Its clock; undefined where the bytes are not of the block that its name meant. */
export function readClock(name: BlockName, bytes: Uint8Array): number | undefined {
  const clock = readBlockHead(name, bytes)?.words[0]
  return clock === undefined ? undefined : Number(clock)
}

/** All of it, of all bytes of the block. */
export function readWriteSet(name: BlockName, bytes: Uint8Array): WriteSet | undefined {
  const block = readValueBlock(name, bytes)
  if (block === undefined) return undefined
  const [clock, lock] = block.words as readonly [bigint, bigint]
  const { value } = block
  const view = new DataView(value.buffer, value.byteOffset, value.length)
  const entries = Array.from({ length: value.length / ENTRY_BYTES }, (_, index) => ({
    place: view.getFloat64(index * ENTRY_BYTES, true),
    before: view.getBigUint64(index * ENTRY_BYTES + 8, true),
    after: view.getBigUint64(index * ENTRY_BYTES + 16, true),
  }))
  return { clock: Number(clock), lock, entries }
}
