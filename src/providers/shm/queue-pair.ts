import { UnsupportedError } from '../../native/index.ts'
import type {
  ProviderQueuePair,
  ProviderQueuePairOptions,
  QueuePairAttributes,
  QueuePairCapacities,
} from '../contract.ts'
import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { Errno, TransitionError, VerbsError } from '../errors.ts'
import { completionOpcodeOf, Opcode, RequestFlag } from '../opcode.ts'
import { judgeTransition, QueuePairState, type QueuePairType, stateNames } from '../queue-pair-state.ts'
import { CompletionStatus } from '../status.ts'
import { Block } from './block.ts'
import type { ShmCompletionQueue } from './completion-queue.ts'
import type { ShmDevice } from './device.ts'
import { gidWords } from './gid.ts'
import { Initiator, Outcome } from './initiator.ts'
import {
  BlockWord,
  blockGeometry,
  MAX_INLINE_BYTES,
  MAX_PIECES,
  MAX_REQUESTS,
  MAX_SEGMENTS,
  powerOfTwoAtLeast,
  stateWord,
} from './layout.ts'
import { MemoryOperations } from './memory-operations.ts'
import { Patience } from './patience.ts'
import type { Peer } from './peer.ts'
import type { ShmProtectionDomain } from './protection-domain.ts'
import { attributeMask, checkAttributeValues } from './queue-pair-attributes.ts'
import { ReceiveQueue } from './receive-queue.ts'
import { SendQueue } from './send-queue.ts'
import { Target } from './target.ts'

/** How long RESET, destruction and deregistration wait for a peer that is in the middle of an access. */
const INSIDE_TIMEOUT_MS = 1000

/** A reliable connection. Requests are carried out by the thread that posts them, or later by its polls while the peer is not ready. */
export class ShmQueuePair implements ProviderQueuePair {
  readonly number: number
  readonly type: QueuePairType
  readonly capacities: QueuePairCapacities
  state: QueuePairState = QueuePairState.Reset
  lastErrno = 0
  /** Completions of an earlier generation are dropped: RESET and destruction clean the completion queues. */
  generation = 0
  readonly #domain: ShmProtectionDomain
  readonly #device: ShmDevice
  readonly #sendQueue: ShmCompletionQueue
  readonly #receiveQueue: ShmCompletionQueue
  readonly #signalAll: boolean
  readonly #block: Block
  readonly #firstPage: number
  readonly #pages: number
  readonly #sends: SendQueue
  readonly #receives: ReceiveQueue
  readonly #memoryOperations: MemoryOperations
  readonly #initiator: Initiator
  readonly #patience = new Patience()
  #attributes: QueuePairAttributes = {}
  #epoch = 0
  #refused = false
  #peer: Peer | undefined
  #target: Target | undefined
  /** Send slots in use: posted, and no polled completion covers them yet. */
  #sendOutstanding = 0
  /** Carried out since the last completion was made. */
  #uncovered = 0

  constructor(domain: ShmProtectionDomain, options: ProviderQueuePairOptions) {
    checkOptions(options)
    const { device } = domain
    const geometry = blockGeometry(
      powerOfTwoAtLeast(options.maxReceiveRequests),
      Math.max(1, options.maxReceiveSegments),
    )
    this.#domain = domain
    this.#device = device
    this.type = options.type
    this.capacities = capacitiesOf(options)
    this.#signalAll = options.signalAll
    this.#sendQueue = options.sendQueue as ShmCompletionQueue | undefined as ShmCompletionQueue
    this.#receiveQueue = options.receiveQueue as ShmCompletionQueue | undefined as ShmCompletionQueue
    this.#pages = geometry.pages
    this.#firstPage = device.segment.allocatePages(geometry.pages)
    this.#block = new Block(device.segment.mapPages(this.#firstPage, geometry.pages), geometry)
    this.#sends = new SendQueue(Math.max(1, options.maxSendRequests), options.maxSendSegments, options.maxInlineBytes)
    this.#receives = new ReceiveQueue(this.#block, options.maxReceiveRequests)
    this.#describe(geometry.ringSize, geometry.segments)
    this.number = device.addPair(this, this.#firstPage, this.#pages, (number) => {
      this.#block.words[BlockWord.Number] = number
    })
    this.#memoryOperations = new MemoryOperations(device, domain.id, this.number)
    this.#initiator = new Initiator(device.keys, this.#memoryOperations, domain.id, this.number)
    this.#sendQueue.senders.add(this)
    this.#receiveQueue.receivers.add(this)
  }

  // ---- state -------------------------------------------------------------------------------------------------------------------

  query(): QueuePairAttributes {
    return { ...this.#attributes, state: this.state, currentState: this.state }
  }

  modify(attributes: QueuePairAttributes): void {
    const mask = attributeMask(attributes)
    const wanted = attributes.state ?? this.state
    const { currentState } = attributes
    if (currentState !== undefined && currentState !== this.state) {
      throw new VerbsError(
        'ibv_modify_qp',
        Errno.EINVAL,
        `the state is ${stateNames[this.state]}, not ${stateNames[currentState]} as currentState says`,
      )
    }
    checkAttributeValues(attributes)
    const { legal, missing, extra } = judgeTransition(this.type, this.state, wanted, mask)
    if (!legal || missing.length + extra.length > 0) {
      throw new TransitionError(stateNames[this.state] as string, stateNames[wanted] as string, missing, extra, legal)
    }
    this.#transit(wanted, attributes)
  }

  /** To the error state: by `modify`, by a failed request, by the peer, or by an overrun completion queue. */
  fail(): void {
    if (this.state === QueuePairState.Error || this.state === QueuePairState.Reset) return
    this.#publishState(QueuePairState.Error)
    this.#patience.forget()
    if (!this.#flush()) this.#device.addPending(this)
  }

  destroy(): void {
    this.#leaveConnection('ibv_destroy_qp')
    this.#sendQueue.senders.delete(this)
    this.#receiveQueue.receivers.delete(this)
    this.#device.removePair(this)
    this.#domain.queuePairs.delete(this)
    this.#device.releaseBlock(this.#block, this.#firstPage, this.#pages)
  }

  attachMulticast(): void {
    throw new VerbsError(
      'ibv_attach_mcast',
      Errno.EINVAL,
      `queue pairs of type ${this.type} take no datagrams; use 'ud'`,
    )
  }

  detachMulticast(): void {
    this.attachMulticast()
  }

  /** Wait until the peer is not in the middle of an access to this end; false when it does not get out in time. A dead peer is out. */
  awaitOutside(timeoutMs: number = INSIDE_TIMEOUT_MS): boolean {
    if (!this.#peerInside()) return true
    const { words } = this.#block
    const before = Atomics.load(words, BlockWord.Inside)
    const deadline = performance.now() + timeoutMs
    while (this.#peerInside() && Atomics.load(words, BlockWord.Inside) === before) {
      if (performance.now() > deadline) return false
    }
    return true
  }

  // ---- sending -----------------------------------------------------------------------------------------------------------------

  postSend(request: EncodedRequest): number {
    if (this.state !== QueuePairState.ReadyToSend) return this.#postSendElsewhere(request)
    const errno = this.#admit(request)
    if (errno !== 0) return errno
    if (this.#sends.count > 0) this.#sends.push(request)
    else this.#carryOut(request)
    return 0
  }

  postSendList(requests: readonly EncodedRequest[], count: number): number {
    for (let index = 0; index < count; index += 1) {
      this.lastErrno = this.postSend(requests[index] as EncodedRequest)
      if (this.lastErrno !== 0) return index
    }
    return count
  }

  retireSends(count: number): void {
    this.#sendOutstanding -= count
  }

  /** Go on with what could not be done at once. True when nothing is left to wait for. */
  progress(now: number): boolean {
    if (this.state === QueuePairState.Error) return this.#flush()
    if (this.state !== QueuePairState.ReadyToSend) return this.#sends.count === 0
    while (this.#sends.count > 0 && this.#retryHead(now));
    return (this.state as QueuePairState) === QueuePairState.Error ? this.#flush() : this.#sends.count === 0
  }

  // ---- receiving ---------------------------------------------------------------------------------------------------------------

  postReceive(request: EncodedRequest): number {
    if (this.state === QueuePairState.Reset) return Errno.EINVAL
    const errno = this.#receives.post(request)
    if (errno !== 0) return errno
    if (this.state === QueuePairState.Error) {
      if (!this.#flush()) this.#device.addPending(this)
    } else if (Atomics.load(this.#block.words, BlockWord.Waiting) !== 0) this.#wakeSender()
    return 0
  }

  postReceiveList(requests: readonly EncodedRequest[], count: number): number {
    for (let index = 0; index < count; index += 1) {
      this.lastErrno = this.postReceive(requests[index] as EncodedRequest)
      if (this.lastErrno !== 0) return index
    }
    return count
  }

  retireReceive(): void {
    this.#receives.retire()
  }

  /** Completions of what the peer has consumed; false when the completion queue has no room for all. */
  collectReceives(): boolean {
    if (!this.#receives.collect(this, this.#receiveQueue)) return false
    if (Atomics.load(this.#block.words, BlockWord.Fault) !== 0) this.fail()
    return true
  }

  // ---- transitions -------------------------------------------------------------------------------------------------------------

  #transit(wanted: QueuePairState, attributes: QueuePairAttributes): void {
    if (wanted === QueuePairState.Reset) this.#reset()
    else if (wanted === QueuePairState.Error) this.#error()
    else this.#advance(wanted, attributes)
  }

  #advance(wanted: QueuePairState, attributes: QueuePairAttributes): void {
    if (wanted === QueuePairState.ReadyToReceive) this.#connect(attributes)
    this.#attributes = { ...this.#attributes, ...attributes }
    this.#publishAttributes()
    if (wanted === QueuePairState.ReadyToSend && this.state === QueuePairState.ReadyToReceive) this.#startSending()
    this.#publishState(wanted)
    if (wanted === QueuePairState.ReadyToSend && this.#sends.count > 0) this.#device.addPending(this)
  }

  #connect(attributes: QueuePairAttributes): void {
    const gid = attributes.addressVector?.gid as bigint
    this.#peer = this.#device.openPeer(gid)
    const destination = attributes.destinationQueuePair as number
    this.#target = new Target(this.#peer, destination, this.number, gidWords(this.#device.gid))
    gidWords(gid).forEach((word, index) => {
      this.#block.words[BlockWord.DestinationGid + index] = word
    })
  }

  #startSending(): void {
    const target = this.#target as Target
    target.sendPsn = this.#attributes.sendPsn as number
    this.#initiator.maxReadAtomic = this.#attributes.maxReadAtomic as number
  }

  #error(): void {
    if (this.state === QueuePairState.Reset) this.#publishState(QueuePairState.Error)
    else this.fail()
  }

  #reset(): void {
    this.#leaveConnection('ibv_modify_qp')
    this.#receives.reset()
    this.#attributes = {}
  }

  /** Publish RESET in a new epoch, wait for the peer to get out, forget all that is outstanding. */
  #leaveConnection(verb: string): void {
    this.#device.removePending(this)
    this.#epoch = (this.#epoch + 1) & 0xffffff
    this.#publishState(QueuePairState.Reset)
    this.#insist(verb)
    this.#target?.close()
    this.#target = undefined
    if (this.#peer !== undefined) this.#device.closePeer(this.#peer)
    this.#peer = undefined
    this.generation = (this.generation + 1) | 0
    this.#sends.clear()
    this.#patience.forget()
    this.#sendOutstanding = 0
    this.#uncovered = 0
  }

  /** EBUSY the first time that the peer does not get out; who tries again goes ahead, since the peer may be stopped, or broken, for ever. */
  #insist(verb: string): void {
    if (this.#refused || this.awaitOutside()) {
      this.#refused = false
      return
    }
    this.#refused = true
    const { processId } = this.#peer as Peer
    throw new VerbsError(
      verb,
      Errno.EBUSY,
      `process ${processId} stays in the middle of an access to queue pair ${this.number}; try again to go ahead all the same`,
    )
  }

  #publishState(state: QueuePairState): void {
    this.state = state
    Atomics.store(this.#block.words, BlockWord.State, stateWord(this.#epoch, state))
  }

  #publishAttributes(): void {
    const { words } = this.#block
    const { access, destinationQueuePair, receivePsn, minRnrTimer, maxDestinationReadAtomic } = this.#attributes
    words[BlockWord.Access] = access ?? 0
    words[BlockWord.DestinationNumber] = destinationQueuePair ?? 0
    words[BlockWord.ReceivePsn] = receivePsn ?? 0
    words[BlockWord.MinRnrTimer] = minRnrTimer ?? 0
    words[BlockWord.MaxReadAtomic] = maxDestinationReadAtomic ?? 0
  }

  #describe(ringSize: number, segments: number): void {
    const { words } = this.#block
    words[BlockWord.Domain] = this.#domain.id
    words[BlockWord.ReceiveQueue] = this.#receiveQueue.index
    words[BlockWord.RingSize] = ringSize
    words[BlockWord.Segments] = segments
  }

  // ---- carrying out ------------------------------------------------------------------------------------------------------------

  /** Check a request and take its slot: 0 or an errno. */
  #admit(request: EncodedRequest): number {
    const { words } = request
    const opcode = words[RequestSlot.Opcode] as number
    if (opcode > Opcode.FetchAdd && !isOffered(opcode)) return Errno.EOPNOTSUPP
    const limit = opcode === Opcode.ConfigureIndirectKey ? MAX_PIECES : this.capacities.maxSendSegments
    if ((words[RequestSlot.SegmentCount] as number) > limit) return Errno.EINVAL
    if (((words[RequestSlot.Flags] as number) & RequestFlag.Inline) !== 0 && !this.#inlineFits(request, opcode))
      return Errno.EINVAL
    if (this.#sendOutstanding >= this.capacities.maxSendRequests) return Errno.ENOMEM
    this.#sendOutstanding += 1
    if (opcode === Opcode.BindMemoryWindow) this.#memoryOperations.posted(request)
    return 0
  }

  #inlineFits(request: EncodedRequest, opcode: number): boolean {
    if (opcode >= Opcode.Read && opcode !== Opcode.SendWithInvalidate) return false
    let total = 0
    for (let index = 0; index < (request.words[RequestSlot.SegmentCount] as number); index += 1)
      total += request.sources[index]?.length ?? 0
    return total <= this.capacities.maxInlineBytes
  }

  #postSendElsewhere(request: EncodedRequest): number {
    if (this.state !== QueuePairState.Error && this.state !== QueuePairState.SendQueueDrained) return Errno.EINVAL
    const errno = this.#admit(request)
    if (errno !== 0) return errno
    this.#sends.push(request)
    if (this.state === QueuePairState.Error && !this.#flush()) this.#device.addPending(this)
    return 0
  }

  #carryOut(request: EncodedRequest): void {
    const status = this.#initiator.execute(request, this.#target as Target)
    if (status === CompletionStatus.Success) this.#complete(request)
    else if (status > 0) this.#failRequest(request, status)
    else this.#wait(request, status)
  }

  #complete(request: EncodedRequest): void {
    const { words } = request
    this.#uncovered += 1
    if (!this.#signalAll && ((words[RequestSlot.Flags] as number) & RequestFlag.Signaled) === 0) return
    const covered = this.#uncovered
    this.#uncovered = 0
    const opcode = completionOpcodeOf[words[RequestSlot.Opcode] as number] as number
    this.#sendQueue.pushLocal(this, covered, words[RequestSlot.Id] as number, 0, opcode, this.#initiator.byteLength)
  }

  /** The completion of the failed request first, then everything behind it as flushed. */
  #failRequest(request: EncodedRequest, status: number): void {
    const covered = this.#uncovered + 1
    this.#uncovered = 0
    const opcode = completionOpcodeOf[request.words[RequestSlot.Opcode] as number] as number
    const row = this.#sendQueue.pushLocal(this, covered, request.words[RequestSlot.Id] as number, status, opcode, 0)
    this.#sendQueue.annotate(row, 0, 0, 0, this.#initiator.vendorError)
    this.#initiator.vendorError = 0
    this.fail()
  }

  #wait(request: EncodedRequest, outcome: number): void {
    this.#sends.push(request)
    this.#device.addPending(this)
    this.#lose(outcome, performance.now())
  }

  /** Try the oldest waiting request once more; true when it is done and the next may follow. */
  #retryHead(now: number): boolean {
    const { head } = this.#sends
    const status = this.#initiator.execute(head, this.#target as Target)
    if (status < 0) {
      this.#lose(status, now)
      return false
    }
    this.#sends.shift()
    if (this.#patience.forget()) this.#markWaiting(false)
    if (status === CompletionStatus.Success) this.#complete(head)
    else this.#failRequest(head, status)
    return status === CompletionStatus.Success
  }

  /** The head could not be carried out: wait, or give up. */
  #lose(outcome: number, now: number): void {
    // Nothing is asked of a peer that might not answer: who is inside gets out, or ends.
    if (outcome === Outcome.PeerInside) return
    const noReceive = outcome === Outcome.NoReceive
    const code = noReceive ? (((this.#target as Target).block as Block).words[BlockWord.MinRnrTimer] ?? 0) : 0
    const { patient, began } = noReceive
      ? this.#patience.receiverNotReady(now, code, this.#attributes)
      : this.#patience.noAnswer(now, this.#attributes)
    if (began && noReceive) this.#markWaiting(true)
    if (patient) return
    const { head } = this.#sends
    this.#sends.shift()
    if (this.#patience.forget()) this.#markWaiting(false)
    this.#failRequest(head, noReceive ? CompletionStatus.ReceiverNotReadyRetryExceeded : CompletionStatus.RetryExceeded)
  }

  #markWaiting(on: boolean): void {
    if (this.#target !== undefined) this.#target.waiting = on
  }

  #wakeSender(): void {
    if (this.#peer?.isSelf === false) this.#peer.ring()
  }

  // ---- the error state ---------------------------------------------------------------------------------------------------------

  /** Complete everything outstanding as flushed, as far as there is room; true when nothing is left. */
  #flush(): boolean {
    while (this.#sends.count > 0) {
      if (!this.#sendQueue.hasRoom(1)) return false
      const { head } = this.#sends
      this.#sends.shift()
      const covered = this.#uncovered + 1
      this.#uncovered = 0
      const opcode = completionOpcodeOf[head.words[RequestSlot.Opcode] as number] as number
      this.#sendQueue.pushLocal(
        this,
        covered,
        head.words[RequestSlot.Id] as number,
        CompletionStatus.WorkRequestFlushed,
        opcode,
        0,
      )
    }
    if (this.#receives.outstanding === 0) return true
    // A peer in the middle of a message still writes into the oldest receive's buffer.
    if (this.#peerInside() || !this.#receives.collect(this, this.#receiveQueue)) return false
    return this.#receives.flush(this, this.#receiveQueue)
  }

  #peerInside(): boolean {
    const peer = this.#peer
    return (
      peer !== undefined && !peer.isSelf && (Atomics.load(this.#block.words, BlockWord.Inside) & 1) !== 0 && !peer.dead
    )
  }
}

function capacitiesOf(options: ProviderQueuePairOptions): QueuePairCapacities {
  const { maxSendRequests, maxReceiveRequests, maxSendSegments, maxReceiveSegments, maxInlineBytes } = options
  return { maxSendRequests, maxReceiveRequests, maxSendSegments, maxReceiveSegments, maxInlineBytes }
}

/** Opcodes above FetchAdd that this device does. */
const offered: ReadonlySet<number> = new Set<number>([
  Opcode.LocalInvalidate,
  Opcode.BindMemoryWindow,
  Opcode.SendWithInvalidate,
  Opcode.ConfigureIndirectKey,
  Opcode.MaskedCompareSwap,
  Opcode.MaskedFetchAdd,
])

function isOffered(opcode: number): boolean {
  return offered.has(opcode)
}

function checkOptions(options: ProviderQueuePairOptions): void {
  if (options.type !== 'rc' || options.sharedReceiveQueue !== undefined)
    throw new UnsupportedError(`ibv_create_qp: the shm device has no queue pairs of type ${options.type} yet; use 'rc'`)
  const limits: readonly [string, number, number][] = [
    ['maxSendRequests', options.maxSendRequests, MAX_REQUESTS],
    ['maxReceiveRequests', options.maxReceiveRequests, MAX_REQUESTS],
    ['maxSendSegments', options.maxSendSegments, MAX_SEGMENTS],
    ['maxReceiveSegments', options.maxReceiveSegments, MAX_SEGMENTS],
    ['maxInlineBytes', options.maxInlineBytes, MAX_INLINE_BYTES],
  ]
  for (const [name, value, limit] of limits) {
    if (Number.isInteger(value) && value >= 0 && value <= limit) continue
    throw new VerbsError('ibv_create_qp', Errno.EINVAL, `${name} must be between 0 and ${limit}, not ${value}`)
  }
}
