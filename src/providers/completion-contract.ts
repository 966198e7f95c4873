/** What `verbs/` needs of a provider's completions. Part of the seam; the rules of `contract.ts` apply. */
import type { CompletionBatch } from './completion-batch.ts'

export interface ProviderCompletionChannel {
  /** Readable while an event is waiting. */
  readonly descriptor: number
  /** Take all waiting events, and call `fired` once per queue that had one. Returns their number. Never blocks. */
  drain(fired: (queue: ProviderCompletionQueue) => void): number
  /**
   * Call `ready` once on the event loop when the descriptor is readable. Returns a function that cancels it. Until then
   * `keepAlive` keeps the event loop alive.
   */
  whenReadable(ready: () => void, keepAlive: boolean): () => void
  destroy(): void
}

export interface ProviderCompletionQueue {
  /** At least what was requested. */
  readonly depth: number
  /** True after an overrun: completions were lost, and the queue pairs that feed the queue are in the error state. */
  readonly overrun: boolean
  /** Fill `batch` from row 0. Returns the number of rows. A failed request is a row too. */
  poll(batch: CompletionBatch): number
  /**
   * Raise one event for the next completion that arrives from now on. With `solicitedOnly`, only for one that the
   * sender marked as solicited, or that failed. One-shot.
   */
  arm(solicitedOnly: boolean): void
  /**
   * Resize to at least `depth`; waiting completions stay. EINVAL if more than that are waiting, or if the device cannot
   * hold `depth`.
   */
  resize(depth: number): void
  destroy(): void
}
