/** The owner of a completion: a queue pair, or a stand-in for one of another process. */
export interface CompletionOwner {
  readonly number: number
  /** Completions of an earlier generation are dropped: RESET and destruction clean the completion queues. */
  readonly generation: number
  retireSends(count: number): void
  retireReceive(): void
}

/** What polling a completion frees: that many send slots, or, for this value, one receive slot. */
export const FREES_RECEIVE = 0
/** Slots of a shared receive queue are free once a message has taken them. */
export const FREES_NOTHING = -1
