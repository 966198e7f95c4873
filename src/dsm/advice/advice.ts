import type { ByteRange } from './byte-map.ts'

/**
 * Why a page bounces between ranks:
 * - `false-sharing`: several ranks write it often, each other bytes of it
 * - `true-sharing`: several ranks write the same bytes. In pages of more than 4 KiB, bytes within the same `grainBytes`
 *   count as the same, so it may be false sharing too
 * - `reader-writer`: one rank writes it, others read it
 * - `unclear`: it was not observed which rank writes what
 */
export type SharingKind = 'false-sharing' | 'true-sharing' | 'reader-writer' | 'unclear'

/** What one rank writes in a page that bounces. */
export interface PageWriter {
  readonly rank: number
  /**
   * Bytes of the page that the rank was seen to change, in ascending order. Gaps of less than 16 bytes that no other
   * rank changes are closed.
   */
  readonly ranges: readonly ByteRange[]
  /** How often the page was compared with its copy. */
  readonly samples: number
}

/** What is known about a page that bounces, and what to do about it. */
export interface PageAdvice {
  readonly index: number
  readonly offsetBytes: number
  readonly lengthBytes: number
  readonly kind: SharingKind
  /** How often it was taken away from a rank, wholly or its right to write, since it was found to bounce. */
  readonly moves: number
  /** The ranks that write it, ascending. */
  readonly writers: readonly PageWriter[]
  /** The writers that were seen to change bytes too seldom to have shown all that they write. */
  readonly seldom: readonly number[]
  /** Ranks that only read it. */
  readonly readers: readonly number[]
  /** Ranks that had the right to write it, and were not seen to change a byte. */
  readonly unseen: readonly number[]
  /** Bytes that several ranks write, in whole multiples of `grainBytes`. */
  readonly overlaps: readonly ByteRange[]
  /** Bytes that are not told apart: 1 for pages of 4 KiB, a 4,096th of longer ones. */
  readonly grainBytes: number
  /** Bytes of different ranks lie within one 64-byte line of the processor's cache. */
  readonly sharesLine: boolean
  /** No two ranks write the same 4 KiB: pages of that length would not bounce. */
  readonly smallerPagesHelp: boolean
  /**
   * The finding, as a sentence without its full stop: `ranks 0 and 3 alternate in page 812, bytes 64-127 and 128-191`.
   */
  readonly finding: string
  /** What can be done about it. */
  readonly remedy: string
}

/** The result of {@link Region.advice}. */
export interface Advice {
  /** Name of the region. */
  readonly region: string
  /** Pages that bounce, the worst first. */
  readonly pages: readonly PageAdvice[]
  /** Ranks that have the region open without `advise`, or not at all: nothing is known about them. */
  readonly unwatched: readonly number[]
  /** Ranks that gave no answer in time, or ended meanwhile. */
  readonly silent: readonly number[]
  /** A rank saw more pages bounce than it keeps records of. */
  readonly more: boolean
}
