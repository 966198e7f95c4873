import { type BlockName, blockOf, bytesOfClass, decodeBlock, encodeBlock } from '../heap/block-word.ts'

/**
 * A segment of a queue: a block with places for 64 values, each of which is used once.
 *
 * ```
 *   0  tag
 *   8  position of the first place
 *  16  word of an open place
 *  24  next segment: open, or its name
 *  64  places
 * ```
 *
 * A place is *open*, then it names the block of a value, then it is *taken*; it never goes back. The words of open and
 * taken places have the tag of the segment and 33 bits that are drawn for it, and a class that no block has. So a
 * compare-and-swap by a rank that slept since the segment got another use finds nothing that it expects there, whatever
 * lies in the block by then.
 */
const Offset = { Tag: 0, First: 8, Open: 16, Next: 24, Places: 64 } as const

/** Bytes of a segment, unless a test wants smaller ones: 504 places. An index takes 9 bits. */
export const SEGMENT_BYTES = 4096
/** What is read of a segment to know it. */
export const SEGMENT_HEAD_BYTES = 32

const NO_CLASS = 31
const TAKEN = 1n

/** One life of a segment, which its name tells. Nothing of this ever changes. */
export interface Segment {
  /** As a place names a block. */
  readonly name: bigint
  readonly offset: number
  readonly places: number
  /** The position of its first place, counted from the first value of the queue. */
  readonly first: number
  readonly open: bigint
  readonly taken: bigint
}

/** A place in a segment; `index` is that of no place where it is the number of places. */
export interface Cursor {
  readonly segment: Segment
  readonly index: number
}

/** What an open place of a new segment says. `random` is between 0 and 1. */
function openWord(tag: number, random: () => number): bigint {
  const fingerprint = Math.floor(random() * 2 ** 8)
  const salt = Math.floor(random() * 2 ** 25)
  const high = ((fingerprint << 24) | tag) >>> 0
  const low = ((NO_CLASS << 26) | (salt << 1)) >>> 0
  return (BigInt(high) << 32n) | BigInt(low)
}

/** Whether a word of a place, or of a next segment, names a block. */
export function namesBlock(word: bigint): boolean {
  return word !== 0n && blockOf(0, Number(word & 0xffffffffn)).sizeClass !== NO_CLASS
}

export function segmentName(block: Pick<BlockName, 'tag' | 'sizeClass' | 'offset'>): bigint {
  return encodeBlock({ ...block, fingerprint: 0, tentative: false })
}

export function writeSegment(segment: Segment): Uint8Array {
  const bytes = new Uint8Array(Offset.Places + segment.places * 8)
  const view = new DataView(bytes.buffer)
  view.setUint32(Offset.Tag, decodeBlock(segment.name)!.tag, true)
  view.setFloat64(Offset.First, segment.first, true)
  view.setBigUint64(Offset.Open, segment.open, true)
  view.setBigUint64(Offset.Next, segment.open, true)
  for (let index = 0; index < segment.places; index += 1)
    view.setBigUint64(Offset.Places + index * 8, segment.open, true)
  return bytes
}

/** One that begins at position `first`. */
export function newSegment(
  block: Pick<BlockName, 'tag' | 'sizeClass' | 'offset'>,
  first: number,
  random: () => number,
): Segment {
  return segmentOf(segmentName(block), first, openWord(block.tag, random))
}

/** Undefined where the bytes are those of another life. */
export function readSegment(name: bigint, bytes: Uint8Array): Segment | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const { tag } = decodeBlock(name)!
  const open = view.getBigUint64(Offset.Open, true)
  const ofOpen = blockOf(Number(open >> 32n), Number(open & 0xffffffffn))
  if (view.getUint32(Offset.Tag, true) !== tag || ofOpen.tag !== tag || ofOpen.sizeClass !== NO_CLASS) return undefined
  return segmentOf(name, view.getFloat64(Offset.First, true), open)
}

export function placeOf({ segment, index }: Cursor): number {
  return segment.offset + Offset.Places + index * 8
}

export function nextOf({ offset }: Segment): number {
  return offset + Offset.Next
}

export function positionOf({ segment, index }: Cursor): number {
  return segment.first + index
}

/** A cursor in one word: the name of its segment, with the index where a place has a fingerprint and its mark. */
export function cursorWord({ segment, index }: Cursor): bigint {
  const block = decodeBlock(segment.name)!
  return encodeBlock({ ...block, fingerprint: index >>> 1, tentative: index % 2 === 1 })
}

export function segmentNameIn(word: bigint): bigint {
  return segmentName(decodeBlock(word)!)
}

export function indexIn(word: bigint): number {
  const { fingerprint, tentative } = decodeBlock(word)!
  return fingerprint * 2 + Number(tentative)
}

function segmentOf(name: bigint, first: number, open: bigint): Segment {
  const { offset, sizeClass } = decodeBlock(name)!
  const places = bytesOfClass(sizeClass) / 8 - Offset.Places / 8
  return { name, offset, places, first, open, taken: open | TAKEN }
}
