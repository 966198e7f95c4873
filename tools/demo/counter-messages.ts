/**
 * What the demo and its counting processes say to one another over `child_process` messages. Only the tasks go this
 * way; what the first part is about, the counter, is in shared memory, except where messages themselves are measured.
 * @module
 */

/** From the demo to a process. */
export type CounterTask =
  /** Open the space and the region, and take place `index`. */
  | { readonly kind: 'open'; readonly space: string; readonly index: number }
  /** Add 1 to the shared counter so many times. */
  | { readonly kind: 'add'; readonly times: number }
  /** The same, and after each addition note in a place of its own how many it made. */
  | { readonly kind: 'addAndNote'; readonly times: number }
  /** Have the demo add 1 by sending it so many messages. */
  | { readonly kind: 'send'; readonly times: number }
  /** The same, waiting for the answer to each. */
  | { readonly kind: 'ask'; readonly times: number }
  | { readonly kind: 'answer'; readonly value: number }

/** From a process to the demo. */
export type CounterReply =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'increment' }
  | { readonly kind: 'ask' }

/** The name of the region that holds the counter. */
export const counterRegion = 'counter'
export const counterRegionBytes = 4096

/** Where in the region, as Int32: the counter, then one note a process, each on a cache line of its own. */
export const counterIndex = 0

const wordsPerCacheLine = 16

/** Where process `index` notes how many times it added. */
export function noteIndex(index: number): number {
  return (index + 1) * wordsPerCacheLine
}
