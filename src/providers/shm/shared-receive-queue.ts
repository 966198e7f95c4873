import { AsyncEventType } from '../async-event.ts'
import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { Errno, VerbsError } from '../errors.ts'
import { QueuePairState } from '../queue-pair-state.ts'
import type {
  ProviderSharedReceiveQueue,
  ProviderSharedReceiveQueueOptions,
  SharedReceiveQueueAttributes,
} from '../shared-receive-queue.ts'
import { type CompletionOwner, FREES_NOTHING } from '../soft/completion-owner.ts'
import type { SoftProtectionDomain } from '../soft/protection-domain.ts'
import { checkHolds, checkLimit, checkSizes, refuseWhileUsed } from '../soft/shared-receive-rules.ts'
import { ClaimedRing } from './claimed-ring.ts'
import { completeReceive } from './complete-receive.ts'
import type { ShmCompletionQueue } from './completion-queue.ts'
import { BlockKind, BlockWord, RESULT_WORDS, ResultWord, stateWord } from './layout.ts'
import { OwnBlock } from './own-block.ts'
import type { OwnDevice } from './own-device.ts'
import { INSIDE_TIMEOUT_MS } from './visitors.ts'
import type { ShmXrcDomain } from './xrc-domain.ts'

/** A receive queue pair of XRC may belong to another process: only its number is known here. */
interface XrcOwner extends CompletionOwner {
  number: number
}

/** A queue pair that takes its receives from a shared queue. */
interface SharingPair extends CompletionOwner {
  readonly sharedQueue: ShmSharedReceiveQueue | undefined
  readonly receiveCompletions: ShmCompletionQueue | undefined
}

interface SharingDevice extends OwnDevice {
  addSharedQueue(queue: ShmSharedReceiveQueue, own: OwnBlock, prepare: (number: number) => void): number
  removeSharedQueue(queue: ShmSharedReceiveQueue): void
  moveEntry(number: number, own: OwnBlock): void
  findPair(number: number): SharingPair | undefined
}

/** A ring of receive requests in a block of its own; senders of several queue pairs claim its slots one by one. */
export class ShmSharedReceiveQueue implements ProviderSharedReceiveQueue {
  readonly domain: SoftProtectionDomain
  readonly users: Set<SharingPair> = new Set<SharingPair>()
  readonly ring: undefined = undefined
  /** Its entry in the directory, by which senders find it. */
  readonly blockNumber: number
  readonly xrcDomain: ShmXrcDomain | undefined
  lastErrno = 0
  readonly #device: SharingDevice
  readonly #completionQueue: ShmCompletionQueue | undefined
  readonly #xrcOwner: XrcOwner = { number: 0, generation: 0, retireSends: nothing, retireReceive: nothing }
  #own: OwnBlock
  #ring: ClaimedRing
  #maxRequests: number
  #maxSegments: number
  #limit = 0
  #epoch = 0

  constructor(device: SharingDevice, domain: SoftProtectionDomain, options: ProviderSharedReceiveQueueOptions) {
    checkSizes(options.maxRequests, options.maxSegments)
    this.domain = domain
    this.#device = device
    this.#maxRequests = options.maxRequests
    this.#maxSegments = options.maxSegments
    this.xrcDomain = options.xrcDomain as ShmXrcDomain | undefined
    this.#completionQueue = options.completionQueue as ShmCompletionQueue | undefined
    this.#own = new OwnBlock(device.segment, options.maxRequests, options.maxSegments)
    this.#ring = new ClaimedRing(this.#own.block, device.visitors)
    this.blockNumber = device.addSharedQueue(this, this.#own, (number) => this.#describe(number))
    this.xrcDomain?.note(this, 'queue', this.blockNumber)
    this.#completionQueue?.addReceiver(this)
    this.#open()
    this.#setLimit(options.limit)
  }

  get number(): number {
    return this.xrcDomain === undefined ? 0 : this.blockNumber
  }

  get label(): string {
    return `shared receive queue ${this.blockNumber}`
  }

  query(): SharedReceiveQueueAttributes {
    return { maxRequests: this.#maxRequests, maxSegments: this.#maxSegments, limit: this.#limit }
  }

  modify(attributes: { readonly limit?: number; readonly maxRequests?: number }): void {
    const { limit, maxRequests } = attributes
    if (limit !== undefined) checkLimit(limit, maxRequests ?? this.#maxRequests)
    if (maxRequests !== undefined) this.#resize(maxRequests)
    if (limit !== undefined) this.#setLimit(limit)
  }

  postReceive(request: EncodedRequest): number {
    if (request.words[RequestSlot.SegmentCount]! > this.#maxSegments) return Errno.EINVAL
    if (this.#ring.outstanding >= this.#maxRequests && !this.#makeRoom()) return Errno.ENOMEM
    return this.#ring.post(request)
  }

  postReceiveList(requests: readonly EncodedRequest[], count: number): number {
    for (let index = 0; index < count; index += 1) {
      this.lastErrno = this.postReceive(requests[index]!)
      if (this.lastErrno !== 0) return index
    }
    return count
  }

  /** As a receiver of its completion queue (XRC). */
  collectReceives(): boolean {
    return this.collect(this.#completionQueue)
  }

  collectArrived(): void {
    this.collectReceives()
  }

  /**
   * The completion queue of XRC is overrun: completions are lost. The queue pairs belong to others and keep working.
   */
  overrun(): void {
    this.#device.events.raise(AsyncEventType.SharedReceiveQueueError, { sharedReceiveQueue: this })
  }

  /**
   * Add completions of what senders consumed. They wait for room in a completion queue that is full. But if another one
   * is being `polled`, the full one is overrun: one that is never polled would stop all the others.
   */
  collect(polled: ShmCompletionQueue | undefined): boolean {
    const done = this.#ring.collect((slot, id) => this.#take(slot, id, polled))
    if (!done) this.#device.addPending(this)
    this.#checkLimit()
    return done
  }

  /** Continue what a sender has not finished. */
  progress(): boolean {
    return this.#ring.collect((slot, id) => this.#take(slot, id, undefined))
  }

  /** A sender rang. */
  lookAround(): void {
    this.#checkLimit()
  }

  /** Take back what a dead visitor had claimed. Returns true if nothing of it is left. */
  reap(visitor: number): boolean {
    this.collect(undefined)
    return !this.#ring.isClaimedBy(visitor)
  }

  destroy(): void {
    refuseWhileUsed(this.users)
    this.#shut('ibv_destroy_srq')
    this.#completionQueue?.removeReceiver(this)
    this.xrcDomain?.forget(this, 'queue', this.blockNumber)
    this.#device.removePending(this)
    this.#device.events.forget(this)
    this.#device.removeSharedQueue(this)
    this.domain.sharedReceiveQueues.delete(this)
    this.#own.release()
  }

  /** Pass on the completion of the receive in `slot`. Returns true if the slot is done. */
  #take(slot: number, id: number, polled: ShmCompletionQueue | undefined): boolean {
    const number = this.#own.block.results[slot * RESULT_WORDS + ResultWord.Number]! & 0xffffff
    const pair = this.xrcDomain === undefined ? this.#device.findPair(number) : undefined
    const queue = this.#completionQueue ?? pair?.receiveCompletions
    // Its queue pair is gone, or it was never for one of ours: as for RESET, no completion is made.
    if (queue === undefined || (pair !== undefined && pair.sharedQueue !== this)) return true
    if (!queue.hasRoom(1) && (polled === undefined || queue === polled)) return false
    this.#xrcOwner.number = number
    completeReceive(this.#own.block, slot, id, pair ?? this.#xrcOwner, queue, FREES_NOTHING)
    return true
  }

  /** Collecting frees slots, and no poll may have done that yet. */
  #makeRoom(): boolean {
    this.collect(undefined)
    return this.#ring.outstanding < this.#maxRequests
  }

  #setLimit(limit: number): void {
    this.#limit = limit
    Atomics.store(this.#own.block.words, BlockWord.Limit, limit)
    this.#checkLimit()
  }

  #checkLimit(): void {
    if (this.#limit === 0 || this.#ring.left >= this.#limit) return
    this.#limit = 0
    Atomics.store(this.#own.block.words, BlockWord.Limit, 0)
    this.#device.events.raise(AsyncEventType.SharedReceiveQueueLimitReached, { sharedReceiveQueue: this })
  }

  #resize(maxRequests: number): void {
    checkSizes(maxRequests, this.#maxSegments)
    this.collect(undefined)
    checkHolds(maxRequests, this.#ring.outstanding)
    this.#shut('ibv_modify_srq')
    const old = this.#own
    const ring = this.#ring
    this.#own = new OwnBlock(this.#device.segment, maxRequests, this.#maxSegments)
    this.#ring = new ClaimedRing(this.#own.block, this.#device.visitors)
    ring.drainInto(this.#ring)
    this.#maxRequests = maxRequests
    this.#describe(this.blockNumber)
    this.#device.moveEntry(this.blockNumber, this.#own)
    this.#open()
    old.release()
    this.#setLimit(this.#limit)
  }

  /**
   * After this no sender claims anything. If a sender does not finish what it has begun, EBUSY, and the queue is open
   * again.
   */
  #shut(verb: string): void {
    this.#setState(QueuePairState.Reset)
    const deadline = performance.now() + INSIDE_TIMEOUT_MS
    while (!(this.#device.visitors.awaitOutside(deadline) && this.collect(undefined))) {
      if (performance.now() < deadline) continue
      this.#open()
      throw new VerbsError(verb, Errno.EBUSY, 'a sender stays in the middle of a message; try again')
    }
  }

  #open(): void {
    this.#epoch = (this.#epoch + 1) & 0xffffff
    this.#setState(QueuePairState.ReadyToReceive)
  }

  #setState(state: QueuePairState): void {
    Atomics.store(this.#own.block.words, BlockWord.State, stateWord(this.#epoch, state))
  }

  #describe(number: number): void {
    const { words } = this.#own.block
    words[BlockWord.Number] = number
    words[BlockWord.Kind] = BlockKind.SharedQueue
    words[BlockWord.Domain] = this.domain.id
    words[BlockWord.ReceiveQueue] = this.#completionQueue?.index ?? -1
    this.xrcDomain?.describe(words)
  }
}

function nothing(): void {
  return
}
