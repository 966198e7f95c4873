import type { Metadata } from './extension.ts'

/** What a handler knows of its call. */
export interface CallContext {
  /** `service/method`. */
  readonly method: string
  /** Which connection it came by, counted from 1. */
  readonly session: number
  readonly metadata: Metadata
  /** Aborted when the caller cancels, its time is up, or its connection is lost (not for calls with an idempotency key, whose answer is still wanted then). */
  readonly signal: AbortSignal
  /** What is left of the caller's time; Infinity where it set none. */
  readonly remainingMs: number
  readonly idempotencyKey: string | undefined
  /** Sent with the answer. */
  answerMetadata: Metadata | undefined
}
