import type { RemoteSource, RemoteTarget } from './call-memory.ts'
import type { Metadata } from './extension.ts'
import type { MethodKind } from './frame.ts'
import type { RdmaBuffer } from './rdma-buffer.ts'
import type { BufferUse } from './service.ts'

/** What a handler knows of its call. */
export interface CallContext {
  /** `service/method`. */
  readonly method: string
  readonly kind: MethodKind
  /** The number of the connection, counted from 1. */
  readonly session: number
  readonly metadata: Metadata
  /**
   * Aborted when the caller cancels, its time is up, its connection is lost, or the server closes. For calls with an
   * idempotency key a lost connection does not count, since their answer is still wanted.
   */
  readonly signal: AbortSignal
  /** What is left of the caller's time; Infinity if it set none. */
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

/** What a handler knows of a call with buffers, and how it accesses them. */
export type RdmaCallContext<Use extends BufferUse = BufferUse> = CallContext & {
  /**
   * Allocate zeroed memory of this end over the device of the caller's connection, for this and further calls. It stays
   * until it is released.
   */
  readonly allocate: (lengthBytes: number) => RdmaBuffer
  /** Register existing memory for the same use. */
  readonly register: (bytes: Uint8Array) => RdmaBuffer
} & { source: Source; target: Target; both: Source & Target }[Use]
