import type { RemoteSource, RemoteTarget } from './call-memory.ts'
import type { Metadata } from './extension.ts'
import type { RdmaBuffer } from './rdma-buffer.ts'
import type { BufferUse, MethodKind } from './service.ts'

/** What a handler knows of its call. */
export interface CallContext {
  /** `service/method`. */
  readonly method: string
  readonly kind: MethodKind
  /** Which connection it came by, counted from 1. */
  readonly session: number
  readonly metadata: Metadata
  /**
   * Aborted when the caller cancels, its time is up, its connection is lost (not for calls with an idempotency key,
   * whose answer is still wanted then), or the server closes.
   */
  readonly signal: AbortSignal
  /** What is left of the caller's time; Infinity where it set none. */
  readonly remainingMs: number
  readonly idempotencyKey: string | undefined
  /** Sent with the answer. */
  answerMetadata: Metadata | undefined
}

interface Source {
  /** What the caller lets this call read. */
  readonly source: RemoteSource
}

interface Target {
  /** What the caller lets this call write. */
  readonly target: RemoteTarget
}

/** What a handler knows of a call with buffers, and how it reaches them. */
export type RdmaCallContext<Use extends BufferUse = BufferUse> = CallContext & {
  /**
   * New zeroed memory of this end over the device of the caller's connection, for the bytes of this and further calls.
   * It stays until it is released.
   */
  readonly allocate: (lengthBytes: number) => RdmaBuffer
  /** The same for memory that exists. */
  readonly register: (bytes: Uint8Array) => RdmaBuffer
} & { source: Source; target: Target; both: Source & Target }[Use]
