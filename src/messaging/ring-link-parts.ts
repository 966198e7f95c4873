import type { Departures } from './departures.ts'
import type { ReceiveBudget } from './receive-budget.ts'
import type { SendLimiter } from './send-limit.ts'

/** The memory of a link, and how many WRITEs each end can be told of at a time. */
export interface RingLinkParts {
  /** A mirror of the peer's ring, of the same length. */
  readonly outgoing: Uint8Array
  /** This end's ring, which the peer writes. */
  readonly incoming: Uint8Array
  /** WRITEs with an immediate that the peer has receives for. */
  readonly peerReceives: number
  /** The most that this number can become. Default: the same. */
  readonly peerReceivesMax?: number
  /** The receives of this end: a number for this link alone, or a share of a pool. */
  readonly receives: number | ReceiveBudget
  /** @internal How fast messages may leave. Default: as fast as they are taken. */
  readonly limiter?: SendLimiter | undefined
  /** @internal The order among links over one device, and the place of this link. Default: none. */
  readonly departures?: Departures | undefined
  readonly weight?: number
  readonly priority?: number
}
