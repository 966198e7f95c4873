import { AsyncEventType } from '../async-event.ts'
import type { EncodedRequest } from '../encoded-request.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { Gid } from '../gid.ts'
import { capabilitiesOfType, type PairCapabilities } from '../pair-capabilities.ts'
import type {
  ProviderQueuePair,
  ProviderQueuePairOptions,
  QueuePairAttributes,
  QueuePairCapacities,
} from '../queue-pair-contract.ts'
import { QueuePairState, type QueuePairType } from '../queue-pair-state.ts'
import { MAX_READ_ATOMIC } from '../soft/limits.ts'
import { Memberships } from '../soft/memberships.ts'
import { type MemoryDevice, MemoryOperations } from '../soft/memory-operations.ts'
import type { SoftProtectionDomain } from '../soft/protection-domain.ts'
import { checkModify } from '../soft/queue-pair-attributes.ts'
import { capacitiesOf, checkQueuePairOptions } from '../soft/queue-pair-options.ts'
import { isFailed, isUnanswered } from '../soft/service.ts'
import type { AddressingDevice } from './address-handle.ts'
import { shmCapabilities } from './capabilities.ts'
import type { ArrivalRing, Receiver, ShmCompletionQueue } from './completion-queue.ts'
import { BlockWord, stateWord } from './layout.ts'
import { joinGroup, leaveGroup } from './multicast.ts'
import { OwnBlock } from './own-block.ts'
import type { PairBlock } from './pair-block.ts'
import { describeBlock, makeReceives, makeTransport, ownRequests } from './pair-parts.ts'
import { ReceiveRing } from './receive-ring.ts'
import type { Receives } from './receives.ts'
import { ShmRequester } from './requester.ts'
import { type Sender, Sending } from './sending.ts'
import type { SharedKeyTable } from './shared-key-table.ts'
import type { ShmSharedReceiveQueue } from './shared-receive-queue.ts'
import type { Transport } from './transport.ts'
import { INSIDE_TIMEOUT_MS } from './visitors.ts'
import type { ShmXrcDomain } from './xrc-domain.ts'

interface PairDevice extends AddressingDevice, MemoryDevice {
  readonly keys: SharedKeyTable
  addPair(pair: ShmQueuePair, own: OwnBlock, prepare: (number: number) => void): number
  removePair(pair: ShmQueuePair): void
}

/**
 * A queue pair of any type. The thread that posts a request carries it out, or its polls do later if the peer is not
 * ready yet.
 */
export class ShmQueuePair implements ProviderQueuePair, Sender, Receiver {
  readonly number: number
  readonly type: QueuePairType
  readonly capacities: QueuePairCapacities
  readonly capabilities: PairCapabilities
  readonly sharedQueue: ShmSharedReceiveQueue | undefined
  state: QueuePairState = QueuePairState.Reset
  lastErrno = 0
  /** Completions of an earlier generation are dropped: RESET and destruction clean the completion queues. */
  generation = 0
  attributes: QueuePairAttributes = {}
  readonly #domain: SoftProtectionDomain
  readonly #device: PairDevice
  /** Where sends and receives complete. Types that do not send have no send queue, and never use it. */
  readonly #sendQueue: ShmCompletionQueue
  readonly #receiveQueue: ShmCompletionQueue | undefined
  readonly #xrcDomain: ShmXrcDomain | undefined
  readonly #memberships: Memberships
  readonly #own: OwnBlock
  readonly #block: PairBlock
  readonly #sending: Sending
  readonly #receives: Receives
  readonly ring: ArrivalRing | undefined
  #epoch = 0
  #refused = false
  readonly #transport: Transport
  #established = false
  /** True if the request at the head began before the send queue was told to drain. */
  #draining = false
  /** The access that the peer was in when it was waited for in vain. */
  #stuckIn = Number.NaN
  /** The same for a short wait. */
  #slowIn = Number.NaN
  #notifyDrained = false
  /** True if the event that the shared receive queue is done with this queue pair was raised since the pair failed. */
  #lastRequestTold = false

  constructor(device: PairDevice, domain: SoftProtectionDomain, options: ProviderQueuePairOptions) {
    const shared = options.sharedReceiveQueue as ShmSharedReceiveQueue | undefined
    checkQueuePairOptions(options, shared?.xrcDomain !== undefined)
    this.#domain = domain
    this.#device = device
    this.type = options.type
    this.capacities = capacitiesOf(options)
    this.capabilities = capabilitiesOfType(options.type, shmCapabilities)
    this.sharedQueue = shared
    this.#sendQueue = options.sendQueue as ShmCompletionQueue
    this.#receiveQueue = options.receiveQueue as ShmCompletionQueue | undefined
    this.#xrcDomain = options.xrcDomain as ShmXrcDomain | undefined
    this.#own = new OwnBlock(device.segment, ownRequests(options), options.maxReceiveSegments)
    this.#block = this.#own.block
    this.#receives = makeReceives(options, this.#block, device)
    this.ring = this.#receives instanceof ReceiveRing ? this.#receives : undefined
    describeBlock(this.#block, domain.id, options)
    this.number = device.addPair(this, this.#own, (number) => {
      this.#block.words[BlockWord.Number] = number
    })
    const { number } = this
    const memoryOperations = new MemoryOperations(device, domain.id, number)
    const requester = new ShmRequester(device.keys, memoryOperations, domain.id, number, !isUnanswered(this.type))
    const parts = { device, requester, block: this.#block, number, domainId: domain.id }
    this.#transport = makeTransport(this.type, parts)
    this.#sending = new Sending(this, options, { requester, transport: this.#transport, memoryOperations })
    this.#memberships = new Memberships({ join: joinGroup, leave: leaveGroup }, this.type, { gid: device.gid, number })
    if (options.sendQueue !== undefined) this.#sendQueue.senders.add(this)
    this.#receiveQueue?.addReceiver(this)
    if (shared !== undefined) this.#receiveQueue?.addShared(shared)
    this.sharedQueue?.users.add(this)
    this.#xrcDomain?.note(this, 'pair', this.number)
  }

  get label(): string {
    return `queue pair ${this.number}`
  }

  get receiveCompletions(): ShmCompletionQueue | undefined {
    return this.#receiveQueue
  }

  // ---- state
  // -------------------------------------------------------------------------------------------------------------------

  query(): QueuePairAttributes {
    return { ...this.attributes, state: this.state, currentState: this.state }
  }

  modify(attributes: QueuePairAttributes): void {
    const wanted = checkModify(this.type, this.state, attributes)
    this.#transit(wanted, attributes)
  }

  async modifyAsync(attributes: QueuePairAttributes): Promise<void> {
    this.modify(attributes)
  }

  /** Go to the error state: because of `modify`, a failed request, the peer, or an overrun completion queue. */
  fail(): void {
    if (this.state === QueuePairState.Error || this.state === QueuePairState.Reset) return
    this.#publishState(QueuePairState.Error)
    this.#sending.giveUp()
    this.#lastRequestTold = false
    if (!this.#flush()) this.pend()
  }

  failed(): void {
    if (isUnanswered(this.type)) this.#failSends()
    else this.fail()
  }

  /** A completion queue that it feeds is overrun. */
  overrun(): void {
    this.#device.events.raise(AsyncEventType.QueuePairFatal, { queuePair: this })
    this.fail()
  }

  destroy(): void {
    this.#memberships.refuseDestroy()
    this.#leaveConnection('ibv_destroy_qp')
    this.#sendQueue?.senders.delete(this)
    this.#receiveQueue?.removeReceiver(this)
    if (this.sharedQueue !== undefined) this.#receiveQueue?.removeShared(this.sharedQueue)
    this.sharedQueue?.users.delete(this)
    this.#xrcDomain?.forget(this, 'pair', this.number)
    this.#device.events.forget(this)
    this.#device.removePair(this)
    this.#domain.queuePairs.delete(this)
    this.#own.release()
  }

  attachMulticast(group: Gid): void {
    this.#memberships.attach(group)
  }

  detachMulticast(group: Gid): void {
    this.#memberships.detach(group)
  }

  /**
   * Wait until the peer is not in the middle of an access to this end. Returns false if it does not finish in time. A
   * dead peer is outside. A peer that was waited for in vain and is still stopped in that access is not waited for
   * again. Otherwise each of a thousand registrations would take the full time.
   */
  awaitOutside(timeoutMs: number = INSIDE_TIMEOUT_MS): boolean {
    if (this.type === 'ud' || this.type === 'dct')
      return this.#device.visitors.awaitOutside(performance.now() + timeoutMs)
    if (!this.#peerInside()) return true
    const { words } = this.#block
    const before = Atomics.load(words, BlockWord.Inside)
    const isShort = timeoutMs < INSIDE_TIMEOUT_MS
    if (before === this.#stuckIn || (isShort && before === this.#slowIn)) return false
    const deadline = performance.now() + timeoutMs
    while (this.#peerInside() && Atomics.load(words, BlockWord.Inside) === before) {
      if (performance.now() <= deadline) continue
      if (isShort) this.#slowIn = before
      else this.#stuckIn = before
      return false
    }
    return true
  }

  // ---- sending
  // -----------------------------------------------------------------------------------------------------------------

  postSend(request: EncodedRequest): number {
    return this.state === QueuePairState.ReadyToSend ? this.#sending.post(request) : this.#postElsewhere(request)
  }

  postSendList(requests: readonly EncodedRequest[], count: number): number {
    for (let index = 0; index < count; index += 1) {
      this.lastErrno = this.postSend(requests[index]!)
      if (this.lastErrno !== 0) return index
    }
    return count
  }

  retireSends(count: number): void {
    this.#sending.retire(count)
  }

  /** Continue what could not be done at once. Returns true if nothing is left to wait for. */
  progress(now: number): boolean {
    if (isFailed(this.state)) return this.#flush()
    if (this.state === QueuePairState.SendQueueDrained) return this.#drain(now)
    if (this.state !== QueuePairState.ReadyToSend) return this.#sending.isIdle
    while (!this.#sending.isIdle && this.#sending.retryHead(now));
    return isFailed(this.state) ? this.#flush() : this.#sending.isIdle
  }

  pend(): void {
    this.#device.addPending(this)
  }

  #postElsewhere(request: EncodedRequest): number {
    if (!isFailed(this.state) && this.state !== QueuePairState.SendQueueDrained) return Errno.EINVAL
    const errno = this.#sending.postWaiting(request)
    if (errno === 0 && isFailed(this.state) && !this.#flush()) this.pend()
    return errno
  }

  // ---- receiving
  // ---------------------------------------------------------------------------------------------------------------

  postReceive(request: EncodedRequest): number {
    if (this.state === QueuePairState.Reset) return Errno.EINVAL
    const errno = this.#receives.post(request)
    if (errno === 0) this.#tellPosted()
    return errno
  }

  postReceiveList(requests: readonly EncodedRequest[], count: number): number {
    let taken = 0
    this.lastErrno = this.state === QueuePairState.Reset ? Errno.EINVAL : 0
    while (taken < count && this.lastErrno === 0) {
      this.lastErrno = this.#receives.post(requests[taken]!)
      if (this.lastErrno === 0) taken += 1
    }
    if (taken > 0) this.#tellPosted()
    return taken
  }

  /** Publish what was posted, and wake a sender that waits for it. */
  #tellPosted(): void {
    this.#receives.publish()
    if (this.state === QueuePairState.Error) {
      if (!this.#flush()) this.pend()
    } else if (Atomics.load(this.#block.words, BlockWord.Waiting) !== 0) this.#wakeSender()
  }

  retireReceive(): void {
    this.#receives.retire()
  }

  /** Add completions of what the peer has consumed. Returns false if the completion queue has no room for all. */
  collectReceives(): boolean {
    const queue = this.#receiveQueue
    if (queue !== undefined && !this.#receives.collect(this, queue)) return false
    this.lookAround()
    return true
  }

  collectArrived(): void {
    if (this.#receiveQueue !== undefined) this.#receives.collect(this, this.#receiveQueue)
  }

  /** Look for what the peer may have left in the block without a completion. */
  lookAround(): void {
    const { words } = this.#block
    if (Atomics.load(words, BlockWord.Fault) !== 0) this.fail()
    if (
      this.state === QueuePairState.ReadyToReceive &&
      !this.#established &&
      Atomics.load(words, BlockWord.Found) !== 0
    ) {
      this.#established = true
      this.#device.events.raise(AsyncEventType.CommunicationEstablished, { queuePair: this })
    }
  }

  /** Take back what a dead visitor had claimed. Returns true if nothing of it is left. */
  reap(visitor: number): boolean {
    this.collectReceives()
    return !this.#receives.isClaimedBy(visitor)
  }

  // ---- transitions
  // -------------------------------------------------------------------------------------------------------------

  #transit(wanted: QueuePairState, attributes: QueuePairAttributes): void {
    if (wanted === QueuePairState.Reset) this.#reset()
    else if (wanted === QueuePairState.Error) this.fail()
    else this.#advance(wanted, attributes)
  }

  #advance(wanted: QueuePairState, attributes: QueuePairAttributes): void {
    if (wanted === QueuePairState.ReadyToReceive) this.#transport.connect(attributes)
    this.attributes = { ...this.attributes, ...attributes }
    this.#publishAttributes()
    const { state } = this
    if (wanted === QueuePairState.ReadyToSend) this.#transport.start(this.attributes)
    this.#publishState(wanted)
    if (wanted === QueuePairState.ReadyToSend && !this.#sending.isIdle) this.pend()
    if (wanted === QueuePairState.SendQueueDrained && state === QueuePairState.ReadyToSend)
      this.#beginDraining(attributes.sqdNotify === true)
  }

  /**
   * A request that has begun (and waits for its peer) is finished; no request behind it begins: IB specification
   * 10.3.1.5.
   */
  #beginDraining(notify: boolean): void {
    this.#draining = !this.#sending.isIdle
    this.#notifyDrained = notify
    if (this.#draining) this.pend()
    else this.#drained()
  }

  #drained(): void {
    this.#draining = false
    if (this.#notifyDrained) this.#device.events.raise(AsyncEventType.SendQueueDrained, { queuePair: this })
    this.#notifyDrained = false
  }

  #drain(now: number): boolean {
    if (this.#draining && this.#sending.retryHead(now)) this.#drained()
    return !this.#draining
  }

  #reset(): void {
    this.#leaveConnection('ibv_modify_qp')
    this.#receives.reset()
    this.attributes = {}
  }

  /** Publish RESET in a new epoch, wait until the peer is outside, and forget all that is outstanding. */
  #leaveConnection(verb: string): void {
    this.#device.removePending(this)
    this.#epoch = (this.#epoch + 1) & 0xffffff
    this.#publishState(QueuePairState.Reset)
    this.#insist(verb)
    this.#transport.close()
    if (this.#receiveQueue !== undefined) this.sharedQueue?.collect(undefined)
    for (const word of peerWords) Atomics.store(this.#block.words, word, 0)
    this.generation = (this.generation + 1) | 0
    this.#established = false
    this.#stuckIn = Number.NaN
    this.#slowIn = Number.NaN
    this.#draining = false
    this.#notifyDrained = false
    this.#sending.clear()
  }

  /**
   * EBUSY the first time that the peer does not get out. A second attempt goes ahead, since the peer may be stopped or
   * broken for ever.
   */
  #insist(verb: string): void {
    if (this.#refused || this.awaitOutside()) {
      this.#refused = false
      return
    }
    this.#refused = true
    const who = this.#transport.peer === undefined ? 'a sender' : `process ${this.#transport.peer.processId}`
    throw new VerbsError(
      verb,
      Errno.EBUSY,
      `${who} stays in the middle of an access to queue pair ${this.number}; try again to go ahead anyway`,
    )
  }

  #publishState(state: QueuePairState): void {
    this.state = state
    Atomics.store(this.#block.words, BlockWord.State, stateWord(this.#epoch, state))
  }

  #publishAttributes(): void {
    const { words } = this.#block
    const { access, destinationQueuePair, receivePsn, minRnrTimer, queueKey } = this.attributes
    const { maxDestinationReadAtomic = this.type === 'dct' ? MAX_READ_ATOMIC : 0 } = this.attributes
    words[BlockWord.Access] = access ?? 0
    words[BlockWord.DestinationNumber] = destinationQueuePair ?? 0
    words[BlockWord.ReceivePsn] = receivePsn ?? 0
    words[BlockWord.MinRnrTimer] = minRnrTimer ?? 0
    words[BlockWord.MaxReadAtomic] = maxDestinationReadAtomic
    words[BlockWord.QueueKey] = queueKey ?? 0
  }

  #wakeSender(): void {
    const { peer } = this.#transport
    if (peer?.isSelf === false) peer.ring()
  }

  // ---- the error state
  // ---------------------------------------------------------------------------------------------------------

  /** Complete everything outstanding as flushed, as far as there is room. Returns true if nothing is left. */
  #flush(): boolean {
    if (!this.#sending.flush()) return false
    return this.state !== QueuePairState.Error || this.#flushReceives()
  }

  /** A send queue that failed by itself leaves the receive queue working (IB specification 10.3.1.6). */
  #failSends(): void {
    this.#publishState(QueuePairState.SendQueueError)
    if (!this.#flush()) this.pend()
  }

  #flushReceives(): boolean {
    const queue = this.#receiveQueue
    if (this.#receives.outstanding > 0 && queue !== undefined) {
      // A peer in the middle of a message still writes into the oldest receive's buffer.
      if (this.#peerInside() || !this.#receives.collect(this, queue) || !this.#receives.flush(this, queue)) return false
    }
    if (this.sharedQueue === undefined || this.#lastRequestTold) return true
    if (this.#peerInside() || !this.sharedQueue.collect(undefined)) return false
    this.#lastRequestTold = true
    this.#device.events.raise(AsyncEventType.LastRequestReached, { queuePair: this })
    return true
  }

  #peerInside(): boolean {
    const { peer } = this.#transport
    return (
      peer !== undefined && !peer.isSelf && (Atomics.load(this.#block.words, BlockWord.Inside) & 1) !== 0 && !peer.dead
    )
  }
}

/** Words that the connected peer writes. */
const peerWords = [BlockWord.Fault, BlockWord.Waiting, BlockWord.Inside, BlockWord.Found] as const
