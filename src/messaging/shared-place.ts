import {
  CompletionBatch,
  type CompletionQueue,
  type QueuePair,
  QueuePairState,
  type SharedReceiveQueue,
} from '../verbs/index.ts'
import type { CompletionTaker, LinkReceives, SharingLink } from './link-receives.ts'
import { CONTROL_RECEIVES, type ReceiveShare, type ReceiveShares, SHARE_MIN } from './receive-shares.ts'

/** What places of links have in common. */
interface PlacePool {
  readonly queue: CompletionQueue
  readonly shares: ReceiveShares
  readonly receives: SharedReceiveQueue
  /** Take what has completed, for all places. */
  collect(): number
  /** Poll this link in the next turn. */
  wake(link: SharingLink): void
  repost(): void
  /** The queue pair of the place can receive from now on. */
  enter(place: SharedPlace, pair: QueuePair): void
  /** Once the work of the queue pair has completed, `close` it. */
  drain(close: () => void): void
  /** The queue pair is gone. */
  leave(place: SharedPlace, pair: QueuePair | undefined, isDrained: boolean): void
}

/** The place of one link among those that share receives. */
export class SharedPlace implements LinkReceives {
  readonly share: ReceiveShare
  readonly initial: number = SHARE_MIN
  readonly #pool: PlacePool
  #pair: QueuePair | undefined
  /** Set while there is a link. */
  #taker: CompletionTaker | undefined
  #link: SharingLink | undefined
  /** What came before the link was there: at most what its peer had to begin with. */
  #early: CompletionBatch | undefined = new CompletionBatch(SHARE_MIN + CONTROL_RECEIVES)
  #earlyRows = 0
  #isDrained = false
  #isClosed = false

  constructor(pool: PlacePool, share: ReceiveShare) {
    this.#pool = pool
    this.share = share
  }

  get link(): SharingLink | undefined {
    return this.#link
  }

  get queue(): CompletionQueue {
    return this.#pool.queue
  }

  get budget(): ReceiveShare {
    return this.share
  }

  get most(): number {
    return this.#pool.shares.shareMax
  }

  get pairOptions(): {
    sendQueue: CompletionQueue
    receiveQueue: CompletionQueue
    sharedReceiveQueue: SharedReceiveQueue
    maxReceiveRequests: number
  } {
    const { queue, receives } = this.#pool
    return { sendQueue: queue, receiveQueue: queue, sharedReceiveQueue: receives, maxReceiveRequests: 1 }
  }

  prepare(pair: QueuePair): void {
    this.#pair = pair
    this.#pool.enter(this, pair)
  }

  attach(taker: CompletionTaker, link: SharingLink): void {
    this.#taker = taker
    this.#link = link
    const early = this.#early
    this.#early = undefined
    for (let row = 0; row < this.#earlyRows; row += 1) taker.take(early!, row)
    this.#pool.wake(link)
  }

  /** Take a completion of its queue pair. */
  take(batch: CompletionBatch, row: number): void {
    if (this.#taker !== undefined) {
      this.#taker.take(batch, row)
      this.#pool.wake(this.#link!)
    } else if (this.#early !== undefined && this.#earlyRows < this.#early.capacity) {
      this.#early.copyRow(this.#earlyRows, batch, row)
      this.#earlyRows += 1
    }
  }

  collect(now: boolean): void {
    if (now) this.#pool.collect()
  }

  repost(): void {
    this.#pool.repost()
  }

  wakeSoon(): void {
    if (this.#link !== undefined) this.#pool.wake(this.#link)
  }

  /**
   * The link has ended: let its queue pair take nothing more, and `close` it when what has come is accounted for.
   * `isDrained`: its peer has said that nothing more comes.
   */
  depart(close: () => void, isDrained: boolean): void {
    this.#taker = undefined
    this.#link = undefined
    this.#isDrained = isDrained
    const pair = this.#pair
    if (pair?.closed === false && pair.state !== QueuePairState.Error) pair.toError()
    this.#pool.drain(close)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#pool.leave(this, this.#pair, this.#isDrained)
  }
}
