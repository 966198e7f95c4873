import { AsyncEventType } from '../async-event.ts'
import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { Gid } from '../gid.ts'
import { CompletionOpcode, completionOpcodeOf, Opcode, RequestFlag } from '../opcode.ts'
import { capabilitiesOfType, type PairCapabilities } from '../pair-capabilities.ts'
import type {
  ProviderQueuePair,
  ProviderQueuePairOptions,
  QueuePairAttributes,
  QueuePairCapacities,
} from '../queue-pair-contract.ts'
import { QueuePairState, type QueuePairType } from '../queue-pair-state.ts'
import { type CompletionOwner, FREES_NOTHING, FREES_RECEIVE } from '../soft/completion-owner.ts'
import { MAX_READ_ATOMIC } from '../soft/limits.ts'
import { Memberships } from '../soft/memberships.ts'
import { type MemoryDevice, MemoryOperations } from '../soft/memory-operations.ts'
import type { SoftProtectionDomain } from '../soft/protection-domain.ts'
import { checkModify } from '../soft/queue-pair-attributes.ts'
import { capacitiesOf, checkQueuePairOptions, receivesItself } from '../soft/queue-pair-options.ts'
import { isFailed, isUnanswered, refusal } from '../soft/service.ts'
import { CompletionStatus } from '../status.ts'
import type { AddressDevice } from './address-handle.ts'
import { simCapabilities } from './capabilities.ts'
import { CompletionOrder } from './completion-order.ts'
import type { CompletionSource, SimCompletionQueue } from './completion-queue.ts'
import { ConnectedDestination, type Destination, NamedDestination } from './destination.ts'
import { Inbound } from './inbound.ts'
import { type Message, type Packet, PacketKind } from './packet.ts'
import { ReceiveQueue } from './receive-queue.ts'
import { type RequesterOwner, SimRequester } from './requester.ts'
import type { Receipt, ResponderOwner, Service } from './responder.ts'
import { SendEntry } from './send-entry.ts'
import type { SimSharedReceiveQueue } from './shared-receive-queue.ts'
import type { SimXrcDomain } from './xrc-domain.ts'

const NO_ENTRIES: readonly SendEntry[] = []
/** What a completion says that no message has caused. */
const NO_MESSAGE = { flags: 0, immediate: 0, sourceNumber: 0, solicited: false } as const

/** A device with its queue pairs. */
export interface PairDevice extends AddressDevice, Pick<MemoryDevice, 'regions' | 'windows' | 'indirectKeys'> {
  /** Returns the number of the queue pair. */
  addPair(pair: SimQueuePair): number
  removePair(pair: SimQueuePair): void
}

/**
 * A queue pair: its state, its slots, its completions. The {@link SimRequester} handles what is sent, the
 * {@link Inbound} what comes in.
 */
export class SimQueuePair
  implements ProviderQueuePair, CompletionOwner, CompletionSource, RequesterOwner, ResponderOwner
{
  readonly number: number
  readonly type: QueuePairType
  readonly device: PairDevice
  readonly domainId: number
  readonly capacities: QueuePairCapacities
  readonly capabilities: PairCapabilities
  readonly reliable: boolean
  readonly datagrams: boolean
  readonly oneAtATime: boolean
  readonly dcAccessKey: bigint | undefined
  state: QueuePairState = QueuePairState.Reset
  lastErrno = 0
  generation = 0
  readonly memoryOperations: MemoryOperations
  readonly #domain: SoftProtectionDomain
  readonly #sendQueue: SimCompletionQueue | undefined
  readonly #receiveQueue: SimCompletionQueue | undefined
  readonly #shared: SimSharedReceiveQueue | undefined
  readonly #xrcDomain: SimXrcDomain | undefined
  readonly #signalAll: boolean
  readonly #receives: ReceiveQueue | undefined
  readonly #memberships: Memberships
  readonly #inbound: Inbound
  #sendOrder: CompletionOrder
  #receiveOrder: CompletionOrder
  #attributes: QueuePairAttributes = {}
  #destination: Destination
  #requester: SimRequester | undefined
  /** The number of connections so far; targets of dynamic connections tell them apart by it. */
  #sessions = 0
  /** Send slots in use: posted, and not yet covered by a polled completion. */
  #sendOutstanding = 0
  /** Requests carried out since the last completion was made. */
  #uncovered = 0
  #established = false
  /** A reset was refused once. */
  #refused = false
  #draining = false
  #notifyDrained = false

  constructor(device: PairDevice, domain: SoftProtectionDomain, options: ProviderQueuePairOptions) {
    const shared = options.sharedReceiveQueue as SimSharedReceiveQueue | undefined
    checkQueuePairOptions(options, shared?.xrcDomain !== undefined)
    const { type, maxReceiveRequests, maxReceiveSegments } = options
    this.#domain = domain
    this.device = device
    this.domainId = domain.id
    this.type = type
    this.reliable = !isUnanswered(type)
    this.datagrams = type === 'ud'
    this.oneAtATime = type === 'dci'
    this.dcAccessKey = options.dcAccessKey
    this.capacities = capacitiesOf(options)
    this.capabilities = capabilitiesOfType(options.type, simCapabilities(this.device.host.adapter))
    this.#signalAll = options.signalAll
    this.#sendQueue = options.sendQueue as SimCompletionQueue | undefined
    this.#receiveQueue = options.receiveQueue as SimCompletionQueue | undefined
    this.#shared = shared
    this.#xrcDomain = options.xrcDomain as SimXrcDomain | undefined
    this.#receives = receivesItself(options)
      ? new ReceiveQueue(maxReceiveRequests, maxReceiveSegments, domain.id)
      : undefined
    this.number = device.addPair(this)
    this.memoryOperations = new MemoryOperations(device, domain.id, this.number)
    this.#memberships = new Memberships(device.cluster, type, { gid: device.gid, number: this.number })
    this.#destination = new NamedDestination(device, domain.id, this.datagrams)
    this.#inbound = new Inbound(this)
    this.#sendOrder = new CompletionOrder(device.host, 'completion.send')
    this.#receiveOrder = new CompletionOrder(device.host, 'completion.receive')
    this.#sendQueue?.sources.add(this)
    this.#receiveQueue?.sources.add(this)
    shared?.users.add(this)
    this.#xrcDomain?.addPair(this)
  }

  get label(): string {
    return `queue pair ${this.number}`
  }

  get access(): number {
    return this.#attributes.access ?? 0
  }

  get readResources(): number {
    return this.#attributes.maxDestinationReadAtomic ?? (this.type === 'dct' ? MAX_READ_ATOMIC : 0)
  }

  get minRnrTimer(): number {
    return this.#attributes.minRnrTimer ?? 0
  }

  get sending(): boolean {
    return this.state === QueuePairState.ReadyToSend
  }

  get attributes(): QueuePairAttributes {
    return this.#attributes
  }

  get rateLimit(): number {
    return this.#requester?.rateLimit ?? 0
  }

  setRateLimit(bytesPerSecond: number): void {
    this.#requester!.rateLimit = bytesPerSecond
  }

  // ---- state
  // -------------------------------------------------------------------------------------------------------------------

  query(): QueuePairAttributes {
    return { ...this.#attributes, state: this.state, currentState: this.state }
  }

  modify(attributes: QueuePairAttributes): void {
    const wanted = checkModify(this.type, this.state, attributes)
    // A right that is taken back holds for what has come and has not landed, too.
    this.#inbound.settle()
    if (wanted === QueuePairState.Reset) this.#reset()
    else if (wanted === QueuePairState.Error) this.fail()
    else this.#advance(wanted, attributes)
  }

  async modifyAsync(attributes: QueuePairAttributes): Promise<void> {
    this.modify(attributes)
  }

  /** Go to the error state: everything outstanding completes as flushed. */
  fail(): void {
    if (this.state === QueuePairState.Error || this.state === QueuePairState.Reset) return
    this.state = QueuePairState.Error
    this.#flushSends()
    this.#flushReceives()
    if (this.#shared !== undefined) this.device.events.raise(AsyncEventType.LastRequestReached, { queuePair: this })
  }

  /** A completion queue that it feeds is overrun. */
  overrun(): void {
    this.device.events.raise(AsyncEventType.QueuePairFatal, { queuePair: this })
    this.fail()
  }

  destroy(): void {
    this.#memberships.refuseDestroy()
    this.#forget()
    this.state = QueuePairState.Reset
    this.#sendQueue?.sources.delete(this)
    this.#receiveQueue?.sources.delete(this)
    this.#shared?.users.delete(this)
    this.#xrcDomain?.removePair(this)
    this.device.events.forget(this)
    this.device.removePair(this)
    this.#domain.queuePairs.delete(this)
  }

  /** Its process is gone: end without telling the peer or any queue. */
  vanish(): void {
    this.#forget()
    this.state = QueuePairState.Reset
  }

  attachMulticast(group: Gid): void {
    this.#memberships.attach(group)
  }

  detachMulticast(group: Gid): void {
    this.#memberships.detach(group)
  }

  // ---- posting
  // -----------------------------------------------------------------------------------------------------------------

  postSend(request: EncodedRequest): number {
    const { state } = this
    const taken = isFailed(state) || state === QueuePairState.ReadyToSend || state === QueuePairState.SendQueueDrained
    if (!taken) return Errno.EINVAL
    const opcode = request.words[RequestSlot.Opcode]!
    const refused = refusal(this.type, this.capacities, request, opcode)
    if (refused !== 0) return refused
    if (!this.#destination.admits(request)) return Errno.EINVAL
    if (this.#sendOutstanding >= this.capacities.maxSendRequests) return Errno.ENOMEM
    this.#sendOutstanding += 1
    if (opcode === Opcode.BindMemoryWindow) this.memoryOperations.posted(request)
    const entry = new SendEntry(request, this.capacities.maxInlineBytes)
    if (isFailed(state)) this.#completeSend(entry, CompletionStatus.WorkRequestFlushed)
    else this.#requester?.post(entry)
    return 0
  }

  postSendList(requests: readonly EncodedRequest[], count: number): number {
    for (let index = 0; index < count; index += 1) {
      this.lastErrno = this.postSend(requests[index]!)
      if (this.lastErrno !== 0) return index
    }
    return count
  }

  postReceive(request: EncodedRequest): number {
    if (this.state === QueuePairState.Reset || this.#receives === undefined) return Errno.EINVAL
    const errno = this.#receives.post(request)
    if (errno === 0 && this.state === QueuePairState.Error) this.#flushReceives()
    return errno
  }

  postReceiveList(requests: readonly EncodedRequest[], count: number): number {
    for (let index = 0; index < count; index += 1) {
      this.lastErrno = this.postReceive(requests[index]!)
      if (this.lastErrno !== 0) return index
    }
    return count
  }

  retireSends(count: number): void {
    this.#sendOutstanding -= count
  }

  retireReceive(): void {
    this.#receives?.retire()
  }

  // ---- what the wire brings
  // ------------------------------------------------------------------------------------------------------

  take(packet: Packet): void {
    if (packet.kind !== PacketKind.Request) {
      this.#requester?.take(packet)
      return
    }
    const { state } = this
    const serves = state >= QueuePairState.ReadyToReceive && state <= QueuePairState.SendQueueError
    if (serves && this.device.host.memoryAnswers) this.#inbound.take(packet)
  }

  serviceOf(message: Message): Service | number {
    if (this.#xrcDomain === undefined) return this.#service(this.#shared ?? this.#receives)
    const queue = this.#xrcDomain.members.queues.get(message.sharedQueue)
    if (queue === undefined) return CompletionStatus.RemoteInvalidRequest
    return { device: queue.device, domainId: queue.domain.id, receives: queue, completionQueue: queue.completionQueue }
  }

  established(): void {
    if (this.#established || this.state !== QueuePairState.ReadyToReceive || this.type === 'dct') return
    this.#established = true
    this.device.events.raise(AsyncEventType.CommunicationEstablished, { queuePair: this })
  }

  received(service: Service, atNs: number, receipt: Receipt): void {
    const { receive, status, opcode, byteLength, flags, immediate, sourceNumber, solicited } = receipt
    if (service.completionQueue === undefined) return
    this.#receiveOrder.push(service.completionQueue, atNs, {
      owner: this,
      frees: service.receives === this.#receives ? FREES_RECEIVE : FREES_NOTHING,
      id: receive.id,
      status,
      opcode,
      byteLength,
      flags,
      immediate,
      sourceNumber,
      solicited,
    })
  }

  /**
   * A reliable responder that refuses a request also goes to the error state; a target that many share keeps working.
   */
  refusing(status: number): void {
    if (this.type === 'dct') return
    const about = { queuePair: this }
    const access = status === CompletionStatus.RemoteAccessError
    const type = access ? AsyncEventType.QueuePairAccessError : AsyncEventType.QueuePairRequestError
    this.device.events.raise(type, about)
    this.fail()
  }

  // ---- what was sent
  // ---------------------------------------------------------------------------------------------------------------

  completed(entry: SendEntry): void {
    this.#completeSend(entry, CompletionStatus.Success)
    this.#checkDrained()
  }

  /** If requests are not answered, the receive queue keeps working (IB specification 10.3.1.6). */
  failed(entry: SendEntry): void {
    this.#completeSend(entry, entry.status)
    if (this.reliable) this.fail()
    else {
      this.state = QueuePairState.SendQueueError
      this.#flushSends()
    }
  }

  // ---- transitions
  // -----------------------------------------------------------------------------------------------------------------

  #advance(wanted: QueuePairState, attributes: QueuePairAttributes): void {
    const from = this.state
    if (wanted === QueuePairState.ReadyToReceive) this.#requireReachable(attributes)
    this.#attributes = { ...this.#attributes, ...attributes }
    this.state = wanted
    if (wanted === QueuePairState.ReadyToReceive) this.#connect()
    if (wanted === QueuePairState.ReadyToSend) this.#start(from)
    if (wanted === QueuePairState.SendQueueDrained && from === QueuePairState.ReadyToSend)
      this.#beginDraining(attributes.sqdNotify === true)
  }

  #requireReachable(attributes: QueuePairAttributes): void {
    const { addressVector } = attributes
    if (addressVector === undefined || this.device.network.devices.has(addressVector.gid)) return
    throw new VerbsError('ibv_modify_qp', Errno.ETIMEDOUT, 'no device in the simulated cluster has that gid')
  }

  #connect(): void {
    const named = this.type === 'ud' || this.type === 'dci'
    if (!named) this.#destination = new ConnectedDestination(this.#attributes)
    this.#inbound.connect(this.#attributes)
  }

  #start(from: QueuePairState): void {
    if (from === QueuePairState.ReadyToReceive || from === QueuePairState.SendQueueError) {
      this.#sessions += 1
      const limit = this.rateLimit
      this.#requester = new SimRequester(this, this.#destination, this.#attributes, this.#sessions)
      this.#requester.rateLimit = limit
    } else this.#requester?.change(this.#attributes)
    this.#requester?.pump()
  }

  /** A request that has begun is finished; no request behind it begins: IB specification 10.3.1.5. */
  #beginDraining(notify: boolean): void {
    this.#draining = true
    this.#notifyDrained = notify
    this.#checkDrained()
  }

  #checkDrained(): void {
    if (!this.#draining || this.state !== QueuePairState.SendQueueDrained || this.#requester?.busy === true) return
    this.#draining = false
    if (this.#notifyDrained) this.device.events.raise(AsyncEventType.SendQueueDrained, { queuePair: this })
    this.#notifyDrained = false
  }

  #reset(): void {
    if (this.#inbound.hasPeerInside && !this.#refused) {
      this.#refused = true
      const what = 'the peer stays in the middle of an access; try again to go ahead anyway'
      throw new VerbsError('ibv_modify_qp', Errno.EBUSY, what)
    }
    this.#refused = false
    this.#forget()
    this.state = QueuePairState.Reset
    this.#attributes = {}
  }

  /** Forget everything silently. */
  #forget(): void {
    this.generation += 1
    this.#requester?.stop()
    this.#requester = undefined
    this.#inbound.disconnect()
    this.#receives?.reset()
    this.#sendOrder = new CompletionOrder(this.device.host, 'completion.send')
    this.#receiveOrder = new CompletionOrder(this.device.host, 'completion.receive')
    this.#established = false
    this.#draining = false
    this.#notifyDrained = false
    this.#sendOutstanding = 0
    this.#uncovered = 0
  }

  // ---- completions
  // -----------------------------------------------------------------------------------------------------------------

  #service(receives: ReceiveQueue | SimSharedReceiveQueue | undefined): Service {
    return { device: this.device, domainId: this.domainId, receives, completionQueue: this.#receiveQueue }
  }

  #completeSend(entry: SendEntry, status: number): void {
    const { opcode, flags, id, lengthBytes } = entry
    this.#uncovered += 1
    const told = status !== CompletionStatus.Success || this.#signalAll || (flags & RequestFlag.Signaled) !== 0
    if (!told || this.#sendQueue === undefined) return
    const frees = this.#uncovered
    this.#uncovered = 0
    this.#sendOrder.push(this.#sendQueue, 0, {
      owner: this,
      frees,
      id,
      status,
      opcode: completionOpcodeOf[opcode]!,
      byteLength: status === CompletionStatus.Success ? lengthBytes : 0,
      ...NO_MESSAGE,
    })
  }

  #flushSends(): void {
    for (const entry of this.#requester?.stop() ?? NO_ENTRIES)
      this.#completeSend(entry, CompletionStatus.WorkRequestFlushed)
  }

  #flushReceives(): void {
    const receives = this.#receives
    if (receives === undefined) return
    const service = this.#service(receives)
    const begun = this.#inbound.abandon()
    for (let receive = begun ?? receives.take(); receive !== undefined; receive = receives.take())
      this.received(service, 0, {
        receive,
        status: CompletionStatus.WorkRequestFlushed,
        opcode: CompletionOpcode.Receive,
        byteLength: 0,
        ...NO_MESSAGE,
      })
  }
}
