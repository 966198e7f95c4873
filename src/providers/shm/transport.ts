import type { EncodedRequest } from '../encoded-request.ts'
import type { QueuePairAttributes } from '../queue-pair-contract.ts'
import { Outcome } from '../soft/outcome.ts'
import type { PeerDevice } from './peer-device.ts'

/**
 * How requests of one type of queue pair reach their destination. One object per queue pair; types differ only here and
 * in their Receives.
 */
export interface Transport {
  /** The peer whose accesses the queue pair waits for before it takes anything away; connected types only. */
  readonly peer: PeerDevice | undefined
  /** True if the destination that a request names can be used; asked for types whose requests name one. */
  admits(request: EncodedRequest): boolean
  /** INIT -> RTR. Throws ETIMEDOUT if the gid does not answer. */
  connect(attributes: QueuePairAttributes): void
  /** RTR -> RTS. */
  start(attributes: QueuePairAttributes): void
  /** Returns a CompletionStatus, or an Outcome. */
  execute(request: EncodedRequest): number
  /** The code of the time that the receiver asks the sender to wait if it has no request posted. */
  readonly rnrTimer: number
  /** Ask to be woken, or no longer, when the receiver posts a request. */
  setWaiting(on: boolean): void
  /** -> RESET: release everything. */
  close(): void
}

/** `dct`: it is a target, and does not send. (`xrc-receive` is connected, since it has one peer.) */
export class SilentTransport implements Transport {
  readonly peer = undefined
  readonly rnrTimer = 0

  admits(): boolean {
    return false
  }

  connect(_attributes: QueuePairAttributes): void {
    return
  }

  start(_attributes: QueuePairAttributes): void {
    return
  }

  execute(): number {
    return Outcome.NotReady
  }

  setWaiting(): void {
    return
  }

  close(): void {
    return
  }
}
