import type { SendRequestFields } from './prepared-request.ts'

/** A request for `read` and `write`: local bytes, remote target. */
export type OneSidedFields = SendRequestFields & { readonly remote: { readonly address: number; readonly key: number } }
export type SendFields = Omit<SendRequestFields, 'remote' | 'add' | 'compare' | 'swap'> & {
  /**
   * A key of the peer's that the message takes back: of a window of type 2 that the peer bound on this connection. Not
   * with an immediate.
   */
  readonly invalidate?: number
}
/** Atomics need no local memory in the conveniences: the old value is what they return. */
export interface FetchAddFields {
  readonly remote: { readonly address: number; readonly key: number }
  readonly add: bigint
}
export interface CompareSwapFields {
  readonly remote: { readonly address: number; readonly key: number }
  readonly compare: bigint
  readonly swap: bigint
}
export interface InvalidateFields {
  readonly key: number
  readonly signaled?: boolean
  readonly fence?: boolean
}
export interface OperationOptions {
  /** Stops waiting; the operation itself goes on and holds its buffers until it completes. */
  readonly signal?: AbortSignal
}
export interface SyncOptions {
  /** Default 10,000. */
  readonly timeoutMs?: number
}
