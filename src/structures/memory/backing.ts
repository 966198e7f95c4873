/**
 * What gives a heap the memory behind its addresses. A heap touches no page before it has taken it, not even to read
 * it: to touch one that cannot be had ends the process.
 */
export interface Backing {
  /** All of it is taken, and stays. */
  readonly isWhole: boolean
  /** Take the memory of a part, whole pages; what is there already stays as it is. @throws MemoryExhaustedError */
  take(offsetBytes: number, lengthBytes: number): void
  /** Give back the memory of a part, whole pages, which no one touches any more. @throws SystemError */
  giveBack(offsetBytes: number, lengthBytes: number): void
}

/** Memory that is all there. */
export const wholeBacking: Backing = { isWhole: true, take: () => {}, giveBack: () => {} }
