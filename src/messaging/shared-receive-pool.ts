import { ClosedError } from '../native/index.ts'
import {
  CompletionBatch,
  type CompletionChannel,
  type CompletionQueue,
  type PreparedReceive,
  type ProtectionDomain,
  type QueuePair,
  type SharedReceiveQueue,
  VerbsError,
} from '../verbs/index.ts'
import type { CompletionMode } from './link-options.ts'
import { RECEIVE_ID, type SharingLink } from './link-receives.ts'
import type { Progressing } from './progress-loop.ts'
import { CONTROL_RECEIVES, ReceiveShares, SHARE_MIN, type SharedReceiveOptions } from './receive-shares.ts'
import { SharedPlace } from './shared-place.ts'

const BATCH = 256
/** How often links are asked for what they hold and do not need. */
const RECALL_MS = 1000
/** How long a queue pair that was led to the error state may go on to complete what had come before. */
const DRAIN_MS = 5

/** What the pool needs from its owner, which schedules it. */
export interface SharedReceivesHost {
  readonly domain: ProtectionDomain
  readonly channel: CompletionChannel
  /** Call `advance` in the next turn. */
  wakeSoon(pool: SharedReceivePool): void
  /** The last link has gone after `close`. */
  release(pool: SharedReceivePool): void
}

/** Settings of each link over the pool. */
export interface SharedReceivesSettings {
  readonly sends: number
  readonly completion: CompletionMode
}

/**
 * One shared receive queue and one completion queue for all links of a listener. Completions find their link by the
 * number of its queue pair. The completion queue holds all that can be outstanding: the receives of the shared queue,
 * and the sends of the maximum number of links.
 */
export class SharedReceivePool implements Progressing {
  readonly queue: CompletionQueue
  readonly completion: CompletionMode
  readonly shares: ReceiveShares
  readonly receives: SharedReceiveQueue
  readonly #host: SharedReceivesHost
  readonly #batch = new CompletionBatch(BATCH)
  readonly #receive: PreparedReceive
  /** By the numbers of their queue pairs. */
  readonly #places = new Map<number, SharedPlace>()
  readonly #due = new Set<SharingLink>()
  readonly #sweep: NodeJS.Timeout
  /** Called when a link has gone. */
  #whenLeft: (() => void)[] = []
  #departing = 0
  #spent = 0
  #isTurning = false
  #isClosing = false
  #isReleased = false

  constructor(host: SharedReceivesHost, settings: SharedReceivesSettings, options: Required<SharedReceiveOptions>) {
    this.#host = host
    this.completion = settings.completion
    this.shares = new ReceiveShares(options)
    const { domain, channel } = host
    this.receives = domain.createSharedReceiveQueue({ maxRequests: options.receives })
    try {
      const { maxRequests } = this.receives.query()
      const depth = maxRequests + options.connectionsMax * settings.sends
      this.queue = domain.device.createCompletionQueue({ depth, channel })
    } catch (error) {
      this.receives.close()
      throw error
    }
    this.#receive = this.receives.prepareReceive({ local: [] })
    this.#receive.id = RECEIVE_ID
    this.#spent = options.receives
    this.repost()
    this.#sweep = setInterval(() => this.recallIdle(), RECALL_MS).unref()
  }

  /** A place for one more link, if necessary once a leaving link has gone. Undefined if the maximum is reached. */
  async join(): Promise<SharedPlace | undefined> {
    for (;;) {
      if (this.#isClosing) throw new ClosedError('the listener')
      const share = this.shares.join()
      if (share !== undefined) return new SharedPlace(this, share)
      if (this.#departing === 0) return undefined
      await new Promise<void>((resolve) => this.#whenLeft.push(resolve))
    }
  }

  /** Take what has completed, and tell the links. Returns how many completions. */
  collect(): number {
    const batch = this.#batch
    let count = 0
    for (let rows = BATCH; rows === BATCH; ) {
      rows = this.queue.poll(batch)
      count += rows
      for (let row = 0; row < rows; row += 1) {
        if (batch.id[row] === RECEIVE_ID) this.#spent += 1
        // Undefined: what a queue pair had left that is gone.
        this.#places.get(batch.queuePairNumber[row]!)?.take(batch, row)
      }
    }
    return count
  }

  /** Give a turn to every link for which something has come, or that asked for it. Returns how many completions. */
  advance(): number {
    if (this.#isReleased) return 0
    this.#isTurning = true
    try {
      const count = this.collect()
      let left = this.#due.size
      for (const link of this.#due) {
        if (left === 0) break
        left -= 1
        this.#due.delete(link)
        link.advance()
      }
      return count
    } finally {
      this.#isTurning = false
      if (this.#due.size > 0) this.#host.wakeSoon(this)
    }
  }

  /** Poll this link in the next turn. */
  wake(link: SharingLink): void {
    this.#due.add(link)
    if (!this.#isTurning) this.#host.wakeSoon(this)
  }

  /** Post again what was used up, before any peer is told of it. */
  repost(): void {
    if (this.#spent === 0) return
    const requests = new Array<PreparedReceive>(this.#spent).fill(this.#receive)
    this.#spent = 0
    untilFull(() => this.receives.postReceiveList(requests))
  }

  /** Ask links to give back what they did not need since the last call. */
  recallIdle(): void {
    if (this.shares.lent === 0) return
    for (const { share, link } of this.#places.values())
      if (link !== undefined && share.recall()) link.recall(SHARE_MIN)
  }

  // ---- what places do
  // ----------------------------------------------------------------------------------------------------------

  /** @internal Its queue pair can receive from now on. */
  enter(place: SharedPlace, pair: QueuePair): void {
    this.#places.set(pair.number, place)
  }

  /** @internal Once the work of the queue pair has completed, `close` it. */
  drain(close: () => void): void {
    this.#departing += 1
    setTimeout(() => {
      this.#departing -= 1
      this.collect()
      close()
    }, DRAIN_MS)
  }

  /**
   * @internal The queue pair is gone, and its share with it. If it could not be drained, it is unknown how many
   * receives it used up. As many as it could have are then posted, as far as there is room.
   */
  leave(place: SharedPlace, pair: QueuePair | undefined, isDrained: boolean): void {
    if (pair !== undefined) this.#places.delete(pair.number)
    if (pair !== undefined && !isDrained) {
      this.repost()
      untilFull(() => {
        for (let left = place.share.unused + CONTROL_RECEIVES; left > 0; left -= 1) this.#receive.post(RECEIVE_ID)
      })
    }
    place.share.leave()
    for (const left of this.#whenLeft.splice(0)) left()
    this.#releaseEmpty()
  }

  /** No link joins any more; closed with the last one. */
  close(): void {
    this.#isClosing = true
    this.#releaseEmpty()
  }

  #releaseEmpty(): void {
    if (!this.#isClosing || this.#isReleased || this.shares.connections > 0) return
    this.#isReleased = true
    clearInterval(this.#sweep)
    this.#host.release(this)
    this.receives.close()
    this.queue.close()
  }
}

/** A shared queue that takes no more has all that it is to have. */
function untilFull(post: () => void): void {
  try {
    post()
  } catch (error) {
    if (!(error instanceof VerbsError && error.errnoName === 'ENOMEM')) throw error
  }
}
