import type { QueuePairAttributes } from '../queue-pair-contract.ts'
import { Outcome } from '../soft/outcome.ts'
import type { Transport } from './transport.ts'

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
