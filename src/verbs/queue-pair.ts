import { randomInt } from 'node:crypto'
import {
  ArgumentError,
  ClosedError,
  checkBigint,
  checkBoolean,
  checkOptions,
  checkSignal,
  checkWhole,
  mustBe,
  type OptionNames,
  UnsupportedError,
} from '../native/index.ts'
import { TraceLevel } from '../profiling/index.ts'
import {
  Attribute,
  type EncodedRequest,
  Errno,
  errnoName,
  type Gid,
  Opcode,
  type PairCapabilities,
  type ProviderQueuePair,
  type QueuePairAttributes,
  type QueuePairCapacities,
  QueuePairState,
  QueuePairType,
  stateNames,
  VerbsError,
} from '../providers/index.ts'
import { untilAborted } from '../runtime/index.ts'
import type { AddressDomain } from './address-handle.ts'
import type { ChannelDevice } from './completion-channel.ts'
import type { CompletionQueue } from './completion-queue.ts'
import {
  type ConnectOptions,
  checkConnect,
  checkRemote,
  connectSteps,
  initAttributes,
  type RemoteEndpoint,
  receiveAttributes,
  sendAttributes,
} from './connection.ts'
import type { PairMeter } from './device-meter.ts'
import { checkGid, checkVector } from './field-checks.ts'
import { type IndirectKey, type KeyDomain, type KeyLayout, PreparedKeyLayout } from './indirect-key.ts'
import { type Children, checkNoun } from './lifetime.ts'
import {
  type AtomicRequestFields,
  type MaskedCompareSwapFields,
  type MaskedFetchAddFields,
  PreparedMaskedCompareSwap,
  PreparedMaskedFetchAdd,
} from './masked-atomic.ts'
import { type BindFields, encodeInvalidate, PreparedBind, type WindowDomain } from './memory-window.ts'
import { PairConveniences } from './pair-conveniences.ts'
import { PhysicalPeer } from './physical-peer.ts'
import {
  checkReceive,
  encodedOf,
  noRemote,
  PreparedReceive,
  PreparedRequest,
  type ReceiveTarget,
  requestNames,
  type Segments,
  type SendRequestFields,
  type SendTarget,
} from './prepared-request.ts'
import type { InvalidateFields, OneSidedFields, OperationOptions, SendFields, SyncOptions } from './request-fields.ts'
import type { ReceiveDomain, SharedReceiveQueue } from './shared-receive-queue.ts'
import { type SwapFields, type SwapResult, swap, swapSync } from './swap.ts'
import { rdmaTrace, tracePost } from './verbs-trace.ts'
import type { XrcDomain } from './xrc-domain.ts'

/** A protection domain, as its queue pairs know it. */
export interface PairDomain extends AddressDomain, KeyDomain, ReceiveDomain, WindowDomain {
  readonly device: ChannelDevice
  /** @internal */
  readonly queuePairs: Children<QueuePair>
  createQueuePair(options: QueuePairOptions): QueuePair
}

export interface QueuePairOptions {
  readonly type: QueuePairType
  /** Where sends complete. Leave it out for types that do not send (`xrc-receive`, `dct`). */
  readonly sendQueue?: CompletionQueue
  /** Where receives complete. Leave it out for types that do not receive (`xrc-send`, `xrc-receive`, `dci`). */
  readonly receiveQueue?: CompletionQueue
  /** Receives are taken from this queue; then none can be posted to the queue pair. Required for `dct`. */
  readonly sharedReceiveQueue?: SharedReceiveQueue
  /** `xrc-receive` only. */
  readonly xrcDomain?: XrcDomain
  /** `dct` only: the key that senders must name. */
  readonly dcAccessKey?: bigint
  /** Default 64. */
  readonly maxSendRequests?: number
  /** Default 64. */
  readonly maxReceiveRequests?: number
  /** Default 1. */
  readonly maxSendSegments?: number
  /** Default 1. */
  readonly maxReceiveSegments?: number
  /** Default 0. */
  readonly maxInlineBytes?: number
  /** Every send request makes a completion, regardless of its own flag. Default false. */
  readonly signalAll?: boolean
}

const NO_IDENTIFIER = { localIdentifier: undefined } as const

const withoutSendQueue: readonly QueuePairType[] = ['xrc-receive', 'dct']
const withoutReceiveQueue: readonly QueuePairType[] = ['xrc-send', 'xrc-receive', 'dci']

const names: OptionNames<QueuePairOptions> = {
  type: true,
  sendQueue: true,
  receiveQueue: true,
  sharedReceiveQueue: true,
  xrcDomain: true,
  dcAccessKey: true,
  maxSendRequests: true,
  maxReceiveRequests: true,
  maxSendSegments: true,
  maxReceiveSegments: true,
  maxInlineBytes: true,
  signalAll: true,
}

const attributeNames = Object.fromEntries(
  Object.keys(Attribute).map((name) => [name, true]),
) as OptionNames<QueuePairAttributes>

const towardsNames: OptionNames<QueuePairAttributes & { readonly remote?: RemoteEndpoint }> = {
  ...attributeNames,
  remote: true,
}

const sendNames: OptionNames<SendFields> = {
  local: true,
  to: true,
  immediate: true,
  signaled: true,
  inline: true,
  fence: true,
  solicited: true,
  invalidate: true,
}

const bindNames: OptionNames<BindFields> = {
  window: true,
  memory: true,
  offset: true,
  length: true,
  access: true,
  keyTag: true,
  signaled: true,
  fence: true,
}

const invalidateNames: OptionNames<InvalidateFields> = { key: true, signaled: true, fence: true }
const layoutNames: OptionNames<KeyLayout> = {
  access: true,
  signaled: true,
  fence: true,
  pieces: true,
  interleaved: true,
  repeat: true,
}

const atomicNames = { local: true, signaled: true, fence: true, remote: true } as const
const maskedSwapNames: OptionNames<AtomicRequestFields & MaskedCompareSwapFields> = {
  ...atomicNames,
  compare: true,
  compareMask: true,
  swap: true,
  swapMask: true,
}
const maskedAddNames: OptionNames<AtomicRequestFields & MaskedFetchAddFields> = {
  ...atomicNames,
  add: true,
  boundaries: true,
}

const QUEUE_ORIGIN = 'device.createCompletionQueue() makes'

function checkPair(options: QueuePairOptions): void {
  checkOptions('createQueuePair', options, names)
  const { type, sendQueue, receiveQueue, sharedReceiveQueue, xrcDomain, dcAccessKey, signalAll } = (options ??
    {}) as Partial<QueuePairOptions>
  if (typeof type !== 'string' || !Object.hasOwn(QueuePairType, type))
    throw mustBe('options.type', `one of ${Object.keys(QueuePairType).join(', ')}`, type)
  if (sendQueue !== undefined) checkNoun('options.sendQueue', sendQueue, 'completion queue', QUEUE_ORIGIN)
  if (receiveQueue !== undefined) checkNoun('options.receiveQueue', receiveQueue, 'completion queue', QUEUE_ORIGIN)
  if (sharedReceiveQueue !== undefined)
    checkNoun(
      'options.sharedReceiveQueue',
      sharedReceiveQueue,
      'shared receive queue',
      'domain.createSharedReceiveQueue() makes',
    )
  if (xrcDomain !== undefined) checkNoun('options.xrcDomain', xrcDomain, 'XRC domain', 'device.openXrcDomain() returns')
  if (dcAccessKey !== undefined) checkBigint('options.dcAccessKey', dcAccessKey)
  if (signalAll !== undefined) checkBoolean('options.signalAll', signalAll)
  checkQueues(options)
}

function checkAttributes(call: string, attributes: QueuePairAttributes): void {
  checkOptions(call, attributes, attributeNames, 'attributes')
  const { sqdNotify, addressVector, alternatePath, ...numbers } = attributes ?? {}
  if (sqdNotify !== undefined) checkBoolean('attributes.sqdNotify', sqdNotify)
  if (addressVector !== undefined) checkVector(call, 'attributes.addressVector', addressVector)
  if (alternatePath !== undefined) checkVector(call, 'attributes.alternatePath', alternatePath)
  for (const [name, value] of Object.entries(numbers))
    if (value !== undefined) checkWhole(`attributes.${name}`, value, 0, 0xffffffff)
}

function checkQueues({ type, sendQueue, receiveQueue }: QueuePairOptions): void {
  if (sendQueue === undefined && !withoutSendQueue.includes(type))
    throw new ArgumentError('sendQueue', `a queue pair of type ${type} sends; pass a completion queue as \`sendQueue\``)
  if (receiveQueue === undefined && !withoutReceiveQueue.includes(type))
    throw new ArgumentError(
      'receiveQueue',
      `a queue pair of type ${type} receives; pass a completion queue as \`receiveQueue\``,
    )
  sendQueue?.assertOpen()
  receiveQueue?.assertOpen()
}

function checkOneSided(call: string, fields: OneSidedFields): void {
  checkFields(call, fields, requestNames)
  if (fields.remote === undefined) throw noRemote(undefined)
}

function checkFields<T>(call: string, fields: T, known: OptionNames<T>, argument: string = 'fields'): void {
  if (typeof fields !== 'object' || fields === null) {
    const [first, second] = Object.keys(known)
    throw mustBe(argument, `an object such as { ${first}, ${second} }`, fields)
  }
  checkOptions(call, fields, known, argument)
}

/** A send queue and a receive queue: ibv_create_qp(3). */
export class QueuePair extends PairConveniences implements ReceiveTarget, SendTarget {
  readonly label: string
  readonly domain: PairDomain
  readonly sharedReceiveQueue: SharedReceiveQueue | undefined
  /** The number that peers use; unique on its device. */
  readonly number: number
  readonly type: QueuePairType
  /** The capacities granted: at least what was asked for. */
  readonly capacities: QueuePairCapacities
  /** A random packet sequence number for the first packet, used by {@link endpoint}. */
  readonly psn: number = randomInt(1 << 24)
  /** @internal */
  readonly provider: ProviderQueuePair
  readonly #meter: PairMeter | undefined
  readonly #signalAll: boolean
  readonly #sendQueue: CompletionQueue | undefined
  readonly #receiveQueue: CompletionQueue | undefined

  private constructor(domain: PairDomain, provider: ProviderQueuePair, options: Partial<QueuePairOptions>) {
    super()
    this.domain = domain
    this.provider = provider
    this.#sendQueue = options.sendQueue
    this.#receiveQueue = options.receiveQueue
    this.sharedReceiveQueue = options.sharedReceiveQueue
    this.number = provider.number
    this.type = provider.type
    this.capacities = provider.capacities
    this.label = `queue pair ${provider.number}`
    const { meter } = domain.device
    meter?.change('queuePairs', 1)
    this.#meter = meter?.pair(provider.number, options.sendQueue?.device.meter !== undefined)
    this.#signalAll = options.signalAll === true
  }

  /** @internal */
  static create(domain: PairDomain, options: QueuePairOptions): QueuePair {
    checkPair(options)
    options.sharedReceiveQueue?.assertOpen()
    options.xrcDomain?.assertOpen()
    const provider = domain.provider.createQueuePair({
      type: options.type,
      sendQueue: options.sendQueue?.provider,
      receiveQueue: options.receiveQueue?.provider,
      sharedReceiveQueue: options.sharedReceiveQueue?.provider,
      xrcDomain: options.xrcDomain?.provider,
      dcAccessKey: options.dcAccessKey,
      maxSendRequests: options.maxSendRequests ?? 64,
      maxReceiveRequests: options.maxReceiveRequests ?? 64,
      maxSendSegments: options.maxSendSegments ?? 1,
      maxReceiveSegments: options.maxReceiveSegments ?? 1,
      maxInlineBytes: options.maxInlineBytes ?? 0,
      signalAll: options.signalAll ?? false,
    })
    rdmaTrace.publish(TraceLevel.Debug, 'created', () => ({
      queuePair: provider.number,
      of: provider.type,
      device: domain.device.name,
    }))
    return new QueuePair(domain, provider, options)
  }

  /** @internal */
  static open(domain: PairDomain, provider: ProviderQueuePair): QueuePair {
    return new QueuePair(domain, provider, {})
  }

  /** Where sends complete. Throws ArgumentError for types that do not send. */
  get sendQueue(): CompletionQueue {
    if (this.#sendQueue === undefined) throw new ArgumentError('type', `queue pairs of type ${this.type} do not send`)
    return this.#sendQueue
  }

  /** Where receives complete. Throws ArgumentError for types that do not receive. */
  get receiveQueue(): CompletionQueue {
    if (this.#receiveQueue === undefined)
      throw new ArgumentError('type', `queue pairs of type ${this.type} have no receive queue`)
    return this.#receiveQueue
  }

  /**
   * What it can be relied on for, such as atomics, or that nothing lands after a right was taken back. Final once it is
   * connected: a peer may know less than the device.
   */
  get capabilities(): PairCapabilities {
    return this.provider.capabilities
  }

  /** @internal */
  get maxReceiveSegments(): number {
    return this.capacities.maxReceiveSegments
  }

  // ---- state
  // -------------------------------------------------------------------------------------------------------------------

  get state(): QueuePairState {
    this.assertOpen()
    return this.provider.state
  }

  get gid(): Gid {
    return this.domain.device.gid
  }

  /** What the peer needs to connect to this queue pair. */
  get endpoint(): RemoteEndpoint {
    const { device } = this.domain
    const { attributes } = device
    const { localIdentifier } = attributes.linkLayer === 'infiniband' ? device.queryPort() : NO_IDENTIFIER
    return {
      gid: this.gid,
      queuePairNumber: this.number,
      psn: this.psn,
      ...(localIdentifier === undefined ? {} : { localIdentifier }),
      initiatorDepth: attributes.maxInitiatorReadAtomic,
      responderResources: attributes.maxReadAtomic,
    }
  }

  /**
   * Change attributes or state: ibv_modify_qp(3). Throws TransitionError with the missing and the extra attributes;
   * then nothing has changed.
   */
  modify(attributes: QueuePairAttributes): void {
    this.assertOpen()
    if (typeof attributes !== 'object' || attributes === null)
      throw mustBe('attributes', 'an object such as { state: QueuePairState.Init }', attributes)
    checkAttributes('modify', attributes)
    const before = this.provider.state
    this.provider.modify({ ...attributes })
    this.#meterState(attributes)
    this.#traceState(before)
  }

  /** Return the current attributes: ibv_query_qp(3). */
  query(): QueuePairAttributes {
    this.assertOpen()
    return this.provider.query()
  }

  /** RESET -> INIT, with defaults for attributes left out. */
  toInit(attributes: Partial<QueuePairAttributes> = {}): void {
    checkAttributes('toInit', attributes)
    this.modify({ ...initAttributes(this.type, this.domain.device.port), ...attributes })
  }

  /** INIT -> RTR towards `remote`. */
  toReadyToReceive(attributes: Partial<QueuePairAttributes> & { readonly remote?: RemoteEndpoint } = {}): void {
    checkOptions('toReadyToReceive', attributes, towardsNames, 'attributes')
    const { remote, ...rest } = attributes
    if (remote !== undefined) checkRemote('toReadyToReceive', 'attributes.remote', remote)
    this.modify({ ...receiveAttributes(this.type, remote, this.domain.device.attributes), ...rest })
  }

  /** RTR -> RTS. With `remote`, at most as many READs and atomics are under way as it serves. */
  toReadyToSend(attributes: Partial<QueuePairAttributes> & { readonly remote?: RemoteEndpoint } = {}): void {
    checkOptions('toReadyToSend', attributes, towardsNames, 'attributes')
    const { remote, ...rest } = attributes
    if (remote !== undefined) checkRemote('toReadyToSend', 'attributes.remote', remote)
    this.modify({ ...sendAttributes(this.type, this.psn, remote, this.domain.device.attributes), ...rest })
  }

  /** Any state -> ERR. All outstanding requests complete as flushed. */
  toError(): void {
    this.modify({ state: QueuePairState.Error })
  }

  /** Any state -> RESET. All outstanding requests are dropped without completions. */
  toReset(): void {
    this.modify({ state: QueuePairState.Reset })
  }

  /** Connect in three steps, RESET -> RTS. Each end calls this with the other's endpoint, in any order. */
  connect(remote: RemoteEndpoint, options: ConnectOptions = {}): void {
    this.assertOpen()
    checkConnect('connect', remote, options)
    for (const step of this.#connectSteps(remote, options)) this.modify(step)
  }

  /**
   * Do {@link connect} beside the event loop: a device may have to ask the network for the way to `remote` and wait for
   * an answer. If it rejects, the queue pair is in the state that the last step reached; {@link toReset} starts again.
   * An abort rejects at once; a step under way still ends, and changes of state and `close` wait for that.
   */
  async connectAsync(remote: RemoteEndpoint, options: ConnectOptions & OperationOptions = {}): Promise<void> {
    const { signal, ...rest } = typeof options === 'object' && options !== null ? options : ({} as OperationOptions)
    checkConnect('connectAsync', remote, options)
    checkSignal('options.signal', signal)
    for (const step of this.#connectSteps(remote, rest)) {
      this.assertOpen()
      const before = this.provider.state
      await this.#untilClosed(untilAborted(this.provider.modifyAsync(step), signal))
      this.#meterState(step)
      this.#traceState(before)
      signal?.throwIfAborted()
    }
  }

  // ---- pace
  // -------------------------------------------------------------------------------------------------------------------

  /**
   * Limit what is sent from now on, in bytes per second: ibv_modify_qp_rate_limit(3), in RTS. `Infinity` takes the
   * limit away, and so does RESET. A device averages over some packets, and may round up.
   */
  setRateLimit(bytesPerSecond: number): void {
    this.assertOpen()
    if (bytesPerSecond !== Number.POSITIVE_INFINITY)
      checkWhole('bytesPerSecond', bytesPerSecond, 1, Number.MAX_SAFE_INTEGER)
    const { provider } = this
    if (provider.setRateLimit === undefined)
      throw new UnsupportedError(
        `setRateLimit: ${this.label}: this device paces nothing: a post is carried out at once, or sends nothing; ` +
          'the option sendLimit of a link works over every device',
      )
    if (provider.state !== QueuePairState.ReadyToSend)
      throw new VerbsError('ibv_modify_qp_rate_limit', Errno.EINVAL, `${this.label}: connect it first`)
    provider.setRateLimit(bytesPerSecond === Number.POSITIVE_INFINITY ? 0 : bytesPerSecond)
  }

  /** The limit in force, in bytes per second; `Infinity` without one. */
  get rateLimit(): number {
    this.assertOpen()
    return this.provider.rateLimit || Number.POSITIVE_INFINITY
  }

  // ---- multicast
  // ---------------------------------------------------------------------------------------------------------------

  /**
   * Receive datagrams sent to the multicast `gid` too: ibv_attach_mcast(3). Type `ud` only. Detach before you close the
   * pair.
   */
  attachMulticast(gid: Gid, localIdentifier = 0): void {
    this.assertOpen()
    checkGid('gid', gid)
    checkWhole('localIdentifier', localIdentifier, 0, 0xffff)
    this.provider.attachMulticast(gid, localIdentifier)
  }

  /** Stop receiving datagrams sent to `gid`: ibv_detach_mcast(3). */
  detachMulticast(gid: Gid, localIdentifier = 0): void {
    this.assertOpen()
    checkGid('gid', gid)
    checkWhole('localIdentifier', localIdentifier, 0, 0xffff)
    this.provider.detachMulticast(gid, localIdentifier)
  }

  // ---- prepared requests
  // -------------------------------------------------------------------------------------------------------

  /** Prepare a SEND, with an immediate or a key to invalidate if one is given. */
  prepareSend(fields: SendFields): PreparedRequest {
    checkFields('prepareSend', fields, sendNames)
    if (fields.invalidate !== undefined) return this.#prepareSendInvalidate(fields, fields.invalidate)
    return this.#prepare(fields.immediate === undefined ? Opcode.Send : Opcode.SendWithImmediate, fields)
  }

  /** Prepare an RDMA WRITE. With an immediate, it uses up a receive request of the peer. */
  prepareWrite(fields: OneSidedFields): PreparedRequest {
    checkOneSided('prepareWrite', fields)
    return this.#prepare(fields.immediate === undefined ? Opcode.Write : Opcode.WriteWithImmediate, fields)
  }

  /** Prepare an RDMA READ into `local`, which needs LocalWrite. */
  prepareRead(fields: OneSidedFields): PreparedRequest {
    checkOneSided('prepareRead', fields)
    return this.#prepare(Opcode.Read, fields)
  }

  /**
   * Prepare a 64-bit fetch-and-add. The old value is written to `local` (8 bytes). The remote address must be a
   * multiple of 8.
   */
  prepareFetchAdd(fields: OneSidedFields & { readonly add: bigint }): PreparedRequest {
    checkOneSided('prepareFetchAdd', fields)
    checkBigint('add', fields.add)
    return this.#prepare(Opcode.FetchAdd, fields)
  }

  /**
   * Prepare a 64-bit compare-and-swap. The old value is written to `local` (8 bytes). The remote address must be a
   * multiple of 8.
   */
  prepareCompareSwap(fields: OneSidedFields & { readonly compare: bigint; readonly swap: bigint }): PreparedRequest {
    checkOneSided('prepareCompareSwap', fields)
    checkBigint('compare', fields.compare)
    checkBigint('swap', fields.swap)
    return this.#prepare(Opcode.CompareSwap, fields)
  }

  /**
   * Prepare a compare-and-swap of selected bits: `compareMask` says which are compared, `swapMask` which are replaced.
   */
  prepareMaskedCompareSwap(fields: AtomicRequestFields & MaskedCompareSwapFields): PreparedMaskedCompareSwap {
    this.assertOpen()
    checkFields('prepareMaskedCompareSwap', fields, maskedSwapNames)
    checkBigint('compare', fields.compare)
    checkBigint('swap', fields.swap)
    if (fields.remote === undefined) throw noRemote(undefined)
    return new PreparedMaskedCompareSwap(this, fields)
  }

  /** Prepare a fetch-and-add on several fields of one word; `boundaries` marks the highest bit of each. */
  prepareMaskedFetchAdd(fields: AtomicRequestFields & MaskedFetchAddFields): PreparedMaskedFetchAdd {
    this.assertOpen()
    checkFields('prepareMaskedFetchAdd', fields, maskedAddNames)
    checkBigint('add', fields.add)
    if (fields.remote === undefined) throw noRemote(undefined)
    return new PreparedMaskedFetchAdd(this, fields)
  }

  /**
   * Prepare the bind of a memory window. Later requests on this pair, and messages that carry the key, may rely on it
   * at once.
   */
  prepareBind(fields: BindFields): PreparedBind {
    this.assertOpen()
    checkFields('prepareBind', fields, bindNames)
    return new PreparedBind(this, fields)
  }

  /** Prepare a LOCAL_INV: revoke the key of a window of type 2 or of an indirect key. */
  prepareLocalInvalidate(fields: InvalidateFields): PreparedRequest {
    checkFields('prepareLocalInvalidate', fields, invalidateNames)
    const request = this.#prepare(Opcode.LocalInvalidate, { ...fields, local: [] })
    encodeInvalidate(request.encoded, fields.key)
    return request
  }

  /** Prepare the request that configures an indirect key. */
  prepareConfigureKey(key: IndirectKey, layout: KeyLayout): PreparedKeyLayout {
    this.assertOpen()
    checkNoun('key', key, 'indirect key', 'domain.createIndirectKey() makes')
    checkFields('prepareConfigureKey', layout, layoutNames, 'layout')
    return new PreparedKeyLayout(this, key, layout)
  }

  prepareReceive(fields: { readonly local: Segments }): PreparedReceive {
    this.assertOpen()
    checkReceive(fields)
    return new PreparedReceive(this, fields?.local)
  }

  /**
   * Post many requests in one call, in order. If some are not taken it throws and says how many were; those will
   * complete.
   */
  postSendList(requests: readonly PreparedRequest[]): void {
    this.assertOpen()
    const list = encodedOf(requests)
    const taken =
      this.#meter === undefined
        ? this.provider.postSendList(list, list.length)
        : this.#meter.postList(this.provider, list, this.#signalAll)
    if (rdmaTrace.wants(TraceLevel.Trace)) for (const encoded of list.slice(0, taken)) tracePost(this.number, encoded)
    if (taken < requests.length)
      this.#refuse('ibv_post_send', this.provider.lastErrno, `${taken} of ${requests.length} requests were taken; `)
  }

  /** Post many receives in one call, as {@link postSendList}. */
  postReceiveList(requests: readonly PreparedReceive[]): void {
    this.assertOpen()
    const taken = this.provider.postReceiveList(encodedOf(requests), requests.length)
    this.#meter?.received(taken)
    if (taken < requests.length)
      this.#refuse('ibv_post_recv', this.provider.lastErrno, `${taken} of ${requests.length} requests were taken; `)
  }

  /** @internal */
  post(encoded: EncodedRequest): void {
    this.assertOpen()
    const errno =
      this.#meter === undefined
        ? this.provider.postSend(encoded)
        : this.#meter.post(this.provider, encoded, this.#signalAll)
    if (errno !== 0) this.#refuse('ibv_post_send', errno, '')
    if (rdmaTrace.wants(TraceLevel.Trace)) tracePost(this.number, encoded)
  }

  /** @internal A post that another object of the provider carries out. */
  postBy(encoded: EncodedRequest, post: (pair: ProviderQueuePair) => number): void {
    this.assertOpen()
    const errno = post(this.provider)
    if (errno !== 0) this.#refuse('ibv_bind_mw', errno, '')
    if (rdmaTrace.wants(TraceLevel.Trace)) tracePost(this.number, encoded)
    this.#meter?.posted(encoded)
  }

  /** @internal */
  postReceive(encoded: EncodedRequest): void {
    this.assertOpen()
    const errno = this.provider.postReceive(encoded)
    if (errno !== 0) this.#refuse('ibv_post_recv', errno, '')
    if (this.#meter !== undefined) this.#meter.received(1)
  }

  /**
   * Write a 64-bit value and get the old one, by the device's own operation or, if it has none, by a loop. The result
   * says which.
   */
  swap(fields: SwapFields, options: OperationOptions = {}): Promise<SwapResult> {
    return swap(this, fields, options)
  }

  swapSync(fields: SwapFields, options: SyncOptions = {}): SwapResult {
    return swapSync(this, fields, options)
  }

  /** Access to the peer's physical memory, under the key that the peer registered for it. */
  physicalPeer(key: number): PhysicalPeer {
    this.assertOpen()
    checkWhole('key', key, 0, 0xffffffff)
    return new PhysicalPeer(this, key)
  }

  protected release(): void {
    rdmaTrace.publish(TraceLevel.Debug, 'destroyed', () => ({ queuePair: this.number }))
    this.provider.destroy()
    this.#meter?.close()
    this.domain.device.meter?.change('queuePairs', -1)
    this.closeScratch()
    this.domain.queuePairs.remove(this)
  }

  #meterState({ state, addressVector, destinationQueuePair }: QueuePairAttributes): void {
    const meter = this.#meter
    if (meter === undefined) return
    if (state === QueuePairState.Reset) meter.reset()
    const remote =
      addressVector === undefined || destinationQueuePair === undefined
        ? undefined
        : { gid: addressVector.gid, number: destinationQueuePair }
    if (remote !== undefined || state === QueuePairState.Reset) meter.connected(this, remote)
  }

  #connectSteps(remote: RemoteEndpoint, options: ConnectOptions): readonly QueuePairAttributes[] {
    return connectSteps(this.type, this.psn, remote, this.domain.device, options)
  }

  /** What fails because the queue pair was closed meanwhile says so. */
  async #untilClosed(change: Promise<void>): Promise<void> {
    try {
      await change
    } catch (error) {
      throw this.closed ? new ClosedError(this.label) : error
    }
  }

  #prepare(opcode: Opcode, fields: SendRequestFields): PreparedRequest {
    this.assertOpen()
    return new PreparedRequest(this, opcode, fields)
  }

  #prepareSendInvalidate(fields: SendFields, key: number): PreparedRequest {
    if (fields.immediate !== undefined)
      throw new ArgumentError(
        'invalidate',
        'a message carries an immediate or a key to invalidate; pass only one of them',
      )
    const request = this.#prepare(Opcode.SendWithInvalidate, fields)
    encodeInvalidate(request.encoded, key)
    return request
  }

  #traceState(before: QueuePairState): void {
    if (!rdmaTrace.wants(TraceLevel.Debug)) return
    const { state } = this.provider
    const level = state === QueuePairState.Error ? TraceLevel.Info : TraceLevel.Debug
    if (state !== before)
      rdmaTrace.publish(level, 'state', () => ({
        queuePair: this.number,
        was: stateNames[before],
        is: stateNames[state],
      }))
  }

  #refuse(verb: string, errno: number, prefix: string): never {
    const name = errnoName(errno)
    rdmaTrace.publish(TraceLevel.Warn, 'refused', () => ({ queuePair: this.number, verb, errno: name }))
    if (errno === Errno.EOPNOTSUPP)
      throw new UnsupportedError(`${verb}: ${this.label}: ${prefix}this device does not support that operation`)
    const why =
      name === 'ENOMEM'
        ? 'the queue is full; poll the completion queue (a signaled request frees the slots of earlier unsignaled ones)'
        : `the request was refused in state ${stateNames[this.provider.state]}; check the state, the number of segments, the inline size and the opcode`
    throw new VerbsError(verb, errno, `${this.label}: ${prefix}${why}`)
  }
}
