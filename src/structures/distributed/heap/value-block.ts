import { hashBytes } from '../../../codecs/index.ts'
import { type BlockName, bytesOfClass } from './block-word.ts'

/**
 * The block of a value in a queue or a stack. It does not change while anything names it.
 *
 * ```
 *   0  tag
 *   4  checksum of 8 … value
 *   8  checksum of the value
 *  12  length of the value, and how many words from bit 20 on
 *  16  words of 64 bits, then the value
 * ```
 *
 * Both checksums begin with the tag, which is that of the word that names the block. So a reader with an outdated name,
 * or one that reads while the block is used again, sees that it is another. The structure defines what the words mean.
 */
const Offset = { Tag: 0, Checksum: 4, ValueChecksum: 8, Lengths: 12, Words: 16 } as const
const LENGTH_BITS = 20
const LENGTH_MASK = 0xfffff

/** What a block says of itself. */
export interface BlockHead {
  readonly words: readonly bigint[]
  readonly valueLength: number
}

/** All of it. */
export interface ValueBlock extends BlockHead {
  readonly value: Uint8Array
}

/** Bytes of a block before its value. */
export function headBytes(words: number): number {
  return Offset.Words + words * 8
}

export function writeValueBlock(tag: number, words: readonly bigint[], value: Uint8Array): Uint8Array {
  const head = headBytes(words.length)
  const bytes = new Uint8Array(head + value.length)
  const view = new DataView(bytes.buffer)
  view.setUint32(Offset.Tag, tag, true)
  view.setUint32(Offset.ValueChecksum, hashBytes(value, value.length, tag), true)
  view.setUint32(Offset.Lengths, value.length + words.length * 2 ** LENGTH_BITS, true)
  for (const [at, word] of words.entries()) view.setBigUint64(Offset.Words + at * 8, word, true)
  bytes.set(value, head)
  view.setUint32(Offset.Checksum, headChecksum(tag, bytes, head), true)
  return bytes
}

/**
 * What the first bytes of a block say; undefined where it is not the block that was meant, or where they are too few.
 */
export function readBlockHead({ tag, sizeClass }: BlockName, bytes: Uint8Array): BlockHead | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const lengths = view.getUint32(Offset.Lengths, true)
  const valueLength = lengths & LENGTH_MASK
  const count = lengths >>> LENGTH_BITS
  const head = headBytes(count)
  if (view.getUint32(Offset.Tag, true) !== tag || head > bytes.length) return undefined
  if (head + valueLength > bytesOfClass(sizeClass)) return undefined
  if (view.getUint32(Offset.Checksum, true) !== headChecksum(tag, bytes, head)) return undefined
  const words = Array.from({ length: count }, (_, at) => view.getBigUint64(Offset.Words + at * 8, true))
  return { words, valueLength }
}

/** The same of all of its bytes, with the value. */
export function readValueBlock(name: BlockName, bytes: Uint8Array): ValueBlock | undefined {
  const head = readBlockHead(name, bytes)
  if (head === undefined) return undefined
  const from = headBytes(head.words.length)
  const value = bytes.subarray(from, from + head.valueLength)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (view.getUint32(Offset.ValueChecksum, true) !== hashBytes(value, value.length, name.tag)) return undefined
  return { ...head, value }
}

function headChecksum(tag: number, bytes: Uint8Array, head: number): number {
  const covered = bytes.subarray(Offset.ValueChecksum, head)
  return hashBytes(covered, covered.length, tag)
}
