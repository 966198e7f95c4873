import { checkFunction, checkMilliseconds, checkOptions, checkSignal, type OptionNames } from '../native/index.ts'
import type { Metadata } from './extension.ts'
import type { RdmaBuffer, RdmaRange } from './rdma-buffer.ts'
import type { BufferUse } from './service.ts'

/** Options of a call that blocks. */
export interface SyncCallOptions {
  /**
   * How long the call may take in all; the server is told what is left of it. Default: the channel's. `Infinity`: no
   * limit.
   */
  readonly timeoutMs?: number
  readonly metadata?: Metadata
  /** Called with the handler's `context.answerMetadata`, before the call ends. */
  readonly onMetadata?: (metadata: Metadata) => void
}

/** Options of a call with streams. */
export interface StreamCallOptions extends SyncCallOptions {
  /** Ends the call with the signal's reason; the handler's signal is aborted, too. */
  readonly signal?: AbortSignal
}

/** Options of a unary call. */
export interface CallOptions extends StreamCallOptions {
  /**
   * Makes the call safe to repeat: a server runs a key once, and gives the same answer to every caller that comes with
   * it. A channel that can reconnect then repeats the call itself after a lost connection. `true`: a key made for this
   * call. A string: your own key, which must say what is to be done, not who asks.
   */
  readonly idempotencyKey?: string | true
}

/** Of calls that say nothing else. */
export const NO_OPTIONS: CallOptions = {}

export const streamNames: OptionNames<StreamCallOptions> = {
  timeoutMs: true,
  metadata: true,
  onMetadata: true,
  signal: true,
}
export const unaryNames: OptionNames<CallOptions> = { ...streamNames, idempotencyKey: true }

interface SourceOption {
  /** What the handler may read, until the call has ended. */
  readonly source: RdmaBuffer | RdmaRange
}

interface TargetOption {
  /** What the handler may write, until the call has ended. */
  readonly target: RdmaBuffer | RdmaRange
}

/**
 * Options of a call with buffers. However it ends, it ends only when the server no longer reaches the buffers. After an
 * abort or a deadline that is when the server has said so, or `fenceMs` of the channel later. It cannot be repeated
 * safely, so it has no idempotency key.
 */
export type RdmaCallOptions<Use extends BufferUse = BufferUse> = StreamCallOptions &
  { source: SourceOption; target: TargetOption; both: SourceOption & TargetOption }[Use]

export const rdmaNames: OptionNames<RdmaCallOptions> = { ...streamNames, source: true, target: true }

/**
 * Check the options of a call. The encoder checks metadata and keys, and the loans check buffers.
 * @throws ArgumentError; the reason of the signal if it is aborted.
 */
export function checkCallOptions<O extends SyncCallOptions>(call: string, options: O, names: OptionNames<O>): void {
  if (options === NO_OPTIONS) return
  checkOptions(call, options, names)
  const { timeoutMs, onMetadata, signal } = options as CallOptions
  if (timeoutMs !== undefined) checkMilliseconds('options.timeoutMs', timeoutMs)
  if (onMetadata !== undefined) checkFunction('options.onMetadata', onMetadata, 'which takes the metadata')
  // null is none, as it is to `fetch`.
  if (signal !== undefined && signal !== null) checkSignal('options.signal', signal)
}
