import type { QueuePairAttributes } from '../contract.ts'
import type { EncodedRequest } from '../encoded-request.ts'
import type { PeerDevice } from './peer-device.ts'

/**
 * How requests of one type of queue pair get to where they go. One object per queue pair; types differ here and in
 * their Receives only.
 */
export interface Transport {
  /** Whose accesses the queue pair waits for before it takes anything away; connected types only. */
  readonly peer: PeerDevice | undefined
  /** Whether a request names a destination that can be used; asked of the types whose requests do. */
  admits(request: EncodedRequest): boolean
  /** INIT -> RTR. Throws ETIMEDOUT where the gid does not answer. */
  connect(attributes: QueuePairAttributes): void
  /** RTR -> RTS. */
  start(attributes: QueuePairAttributes): void
  /** A CompletionStatus, or an Outcome. */
  execute(request: EncodedRequest): number
  /** Code of the time that the receiver wants to be left alone when it has no request posted. */
  readonly rnrTimer: number
  /** Ask to be woken, or no longer, when the receiver posts a request. */
  setWaiting(on: boolean): void
  /** -> RESET: let go of everything. */
  close(): void
}
