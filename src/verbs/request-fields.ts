import type { SendRequestFields } from './prepared-request.ts'

/** The fields of `read` and `write`: local bytes and a remote target. */
export type OneSidedFields = SendRequestFields & { readonly remote: { readonly address: number; readonly key: number } }
export type SendFields = Omit<SendRequestFields, 'remote' | 'add' | 'compare' | 'swap'> & {
  /**
   * A key that the message revokes at the peer: of a window of type 2 that the peer bound on this connection. Cannot be
   * combined with an immediate.
   */
  readonly invalidate?: number
}
/** The fields of `fetchAdd`. No local memory is needed: the old value is returned. */
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
  /** Stop waiting. The operation itself goes on and holds its buffers until it completes. */
  readonly signal?: AbortSignal
}
export interface SyncOptions {
  /** Default 10,000. */
  readonly timeoutMs?: number
}
