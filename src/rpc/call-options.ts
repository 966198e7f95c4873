import type { Metadata } from './extension.ts'
import type { RdmaBuffer, RdmaRange } from './rdma-buffer.ts'
import type { BufferUse } from './service.ts'

/** What a call that blocks takes. */
export interface SyncCallOptions {
  /**
   * How long the call may take in all; what is left of it is told to the server. Default: the channel's. `Infinity`:
   * without end.
   */
  readonly timeoutMs?: number
  readonly metadata?: Metadata
  /** Called with what the handler set as `context.answerMetadata`, before the call ends. */
  readonly onMetadata?: (metadata: Metadata) => void
}

/** What a call with streams takes. */
export interface StreamCallOptions extends SyncCallOptions {
  /** Ends the call with the signal's reason; the handler's signal is aborted, too. */
  readonly signal?: AbortSignal
}

/** What a unary call takes. */
export interface CallOptions extends StreamCallOptions {
  /**
   * Makes the call safe to repeat: a server runs a key once, and gives everybody who comes with it the same answer. A
   * channel that can connect anew then repeats the call itself after a lost connection. `true`: a key made for this
   * call; a text: one of your own, which must say what is to be done, not who asks.
   */
  readonly idempotencyKey?: string | true
}

interface SourceOption {
  /** What the handler may read, until the call has ended. */
  readonly source: RdmaBuffer | RdmaRange
}

interface TargetOption {
  /** What the handler may write, until the call has ended. */
  readonly target: RdmaBuffer | RdmaRange
}

/**
 * What a call with buffers takes. It ends, for whatever reason, when the server reaches the buffers no more: after an
 * abort or a deadline that is when the server has said so, or `fenceMs` of the channel later. It cannot be repeated
 * safely, so it has no idempotency key.
 */
export type RdmaCallOptions<Use extends BufferUse = BufferUse> = StreamCallOptions &
  { source: SourceOption; target: TargetOption; both: SourceOption & TargetOption }[Use]
