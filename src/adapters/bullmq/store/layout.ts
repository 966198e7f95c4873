import { BELL_BYTES } from '../../../structures/index.ts'

/** How many bells queues share, by the hash of their names: half for jobs, half for events. */
export const BELLS = 64
/** A bell, then the count of what it has announced. */
export const BELL_STRIDE_BYTES: number = BELL_BYTES * 2

/** Size classes of free blocks: 8 for each of 32 powers of two. */
export const CLASSES_PER_DOUBLING = 8

/** Words of the region's header, as byte offsets. Saves know those between them: `structures/store-head.ts`. */
export const HeaderOffset = {
  /** Bytes of blocks in use, a Float64. */
  UsedBytes: 8,
  /** Table of queues: see table.ts. */
  Queues: 32,
  /** A bit for each doubling that has free blocks. */
  Doublings: 128,
  /** For each doubling, a bit for each class that has free blocks. */
  Classes: 132,
  /** For each class, its first free block. */
  FreeBlocks: 512,
  Bells: 1536,
} as const

export const STORE_BYTES_MIN: number = 2 ** 20
export const STORE_BYTES_MAX: number = 2 ** 31 - 2 ** 16

/** Where the parts of a store begin. */
export interface Header {
  readonly logBegin: number
  readonly blocksBegin: number
  readonly blocksEnd: number
}

/** A sixteenth is for the undo log. */
export function layoutOf(lengthBytes: number): Header {
  const logBegin = (HeaderOffset.Bells + BELLS * BELL_STRIDE_BYTES + 4095) & ~4095
  const blocksBegin = logBegin + ((lengthBytes >>> 4) & ~4095)
  return { logBegin, blocksBegin, blocksEnd: lengthBytes & ~15 }
}
