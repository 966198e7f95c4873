/**
 * What the demo and its counting processes say to each other over `child_process` messages: tasks, and the visits where
 * messages themselves are measured. Everything else about the counts is in shared memory.
 * @module
 */

/** A way of counting a visit and getting the new count of its page. */
export type CountingWay = 'array' | 'map' | 'messages' | 'redis'

/** From the demo to a process. */
export type CounterTask =
  /** Open what the ways need, as process `index`. `redis` is the directory of the server's socket, if there is one. */
  | { readonly kind: 'open'; readonly space: string; readonly index: number; readonly redis: string | undefined }
  /** Count `visits` visits; as many as `batch` of them under way at once. */
  | { readonly kind: 'count'; readonly way: CountingWay; readonly visits: number; readonly batch: number }
  /** Count in the shared array until `visits` are noted in a place of its own. */
  | { readonly kind: 'countAndNote'; readonly visits: number }
  | { readonly kind: 'answer'; readonly counts: readonly number[] }

/** From a process to the demo. */
export type CounterReply =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string }
  /** Visits to count, for an answer with the new counts of their pages. */
  | { readonly kind: 'visits'; readonly pages: readonly number[] }

export const pageCount = 1000
/** Name of the region with the counts, of the shared map, and of the hash in Redis. */
export const countsName = 'visits'

/** The region, as Int32: the counts, then a note for each process, each on a cache line of its own. */
const wordsPerCacheLine = 16
const notesAt = 1024
export const countsRegionBytes = 8192

/** Where process `index` notes how many visits it counted. */
export function noteIndex(index: number): number {
  return notesAt + index * wordsPerCacheLine
}
