/**
 * A rank's part of the memory.
 *
 * ```
 *     0  names: 1024 words of 64 bits, each 0 or the block of a structure      heap/names.ts
 *  8192  read sections of this rank: how many have begun, and how many of the first of them have ended, 64 bits each
 *        (rcu/read-sections.ts)
 *  8208  how often a rank has given back, because another asked, what it did not need here    heap/reclaim.ts
 *  8256  ranks that wait for sections to end: 8 words of 64 bits                rcu/reader-bells.ts
 *  8320  chunks: a word of 64 bits for each                                     heap/chunks.ts
 *        … up to a multiple of 64 KiB
 *        chunks of 64 KiB
 * ```
 */
export const NAMES_OFFSET = 0
export const NAMES_MAX = 1024
/** In a line of its own: it is written to for every section. */
export const SECTIONS_OFFSET: number = NAMES_OFFSET + NAMES_MAX * 8
export const RECLAIMED_OFFSET: number = SECTIONS_OFFSET + 16
/** For 512 ranks, more than a group has. */
export const READERS_OFFSET: number = SECTIONS_OFFSET + 64
const CHUNKS_OFFSET: number = READERS_OFFSET + 64
export const CHUNK_BYTES: number = 64 * 1024

/** Least and most of what a rank gives. A block's place is told in 26 bits of 64 bytes each. */
export const PART_BYTES_MIN: number = 1024 * 1024
export const PART_BYTES_MAX: number = 4 * 1024 ** 3

/** Where the word of a chunk is. */
export function chunkWord(index: number): number {
  return CHUNKS_OFFSET + index * 8
}

/** How many words there are for chunks. */
export function chunksIn(lengthBytes: number): number {
  return Math.floor(lengthBytes / CHUNK_BYTES)
}

/** The first chunk that does not hold these very words. */
export function firstChunk(lengthBytes: number): number {
  return Math.ceil((CHUNKS_OFFSET + chunksIn(lengthBytes) * 8) / CHUNK_BYTES)
}
