import { randomInt } from 'node:crypto'
import { ArgumentError, ClosedError, UnsupportedError } from '../native/index.ts'
import {
  type EncodedRequest,
  Errno,
  errnoName,
  type Gid,
  Opcode,
  type ProviderQueuePair,
  type QueuePairAttributes,
  type QueuePairCapacities,
  QueuePairState,
  type QueuePairType,
  stateNames,
  VerbsError,
} from '../providers/index.ts'
import type { CompletionQueue } from './completion-queue.ts'
import {
  type ConnectOptions,
  connectSteps,
  initAttributes,
  type RemoteEndpoint,
  receiveAttributes,
  sendAttributes,
} from './connection.ts'
import { type IndirectKey, type KeyLayout, PreparedKeyLayout } from './indirect-key.ts'
import { Closable } from './lifetime.ts'
import {
  type AtomicRequestFields,
  type MaskedCompareSwapFields,
  type MaskedFetchAddFields,
  PreparedMaskedCompareSwap,
  PreparedMaskedFetchAdd,
} from './masked-atomic.ts'
import type { MemorySlice } from './memory-slice.ts'
import { type BindFields, encodeInvalidate, PreparedBind } from './memory-window.ts'
import type { Operation, OperationResult } from './operation.ts'
import { PhysicalPeer } from './physical-peer.ts'
import {
  PreparedReceive,
  PreparedRequest,
  type ReceiveTarget,
  type Segments,
  type SendRequestFields,
} from './prepared-request.ts'
import type { ProtectionDomain } from './protection-domain.ts'
import { Scratch, type ScratchCell } from './scratch.ts'
import type { SharedReceiveQueue } from './shared-receive-queue.ts'
import { type SwapFields, type SwapResult, swap, swapSync } from './swap.ts'
import { untilAborted } from './until-aborted.ts'
import type { XrcDomain } from './xrc-domain.ts'

export interface QueuePairOptions {
  readonly type: QueuePairType
  /** Where sends complete; types that do not send (`xrc-receive`, `dct`) have none. */
  readonly sendQueue?: CompletionQueue
  /** Where receives complete; types that do not receive (`xrc-send`, `xrc-receive`, `dci`) have none. */
  readonly receiveQueue?: CompletionQueue
  /** Receives are taken from there; then none can be posted here. A `dct` must have one. */
  readonly sharedReceiveQueue?: SharedReceiveQueue
  /** `xrc-receive` only. */
  readonly xrcDomain?: XrcDomain
  /** `dct` only: what senders must name. */
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
  /** Every send request makes a completion, whatever it says; default false. */
  readonly signalAll?: boolean
}

/** A request for `read` and `write`: local bytes, remote target. */
export type OneSidedFields = SendRequestFields & { readonly remote: { readonly address: number; readonly key: number } }
export type SendFields = Omit<SendRequestFields, 'remote' | 'add' | 'compare' | 'swap'> & {
  /** A key of the peer's that the message takes back: of a window of type 2 that the peer bound on this connection. Not with an immediate. */
  readonly invalidate?: number
}
/** Atomics need no local memory in the conveniences: the old value is what they return. */
export interface FetchAddFields {
  readonly remote: { readonly address: number; readonly key: number }
  readonly add: bigint
}
export interface CompareSwapFields {
  readonly remote: { readonly address: number; readonly key: number }
  readonly compare: bigint
  readonly swap: bigint
}
export interface InvalidateFields {
  readonly key: number
  readonly signaled?: boolean
  readonly fence?: boolean
}
export interface OperationOptions {
  /** Stops waiting; the operation itself goes on and holds its buffers until it completes. */
  readonly signal?: AbortSignal
}
export interface SyncOptions {
  /** Default 10,000. */
  readonly timeoutMs?: number
}

const DEFAULT_TIMEOUT_MS = 10_000
const NO_IDENTIFIER = { localIdentifier: undefined } as const

const withoutSendQueue: readonly QueuePairType[] = ['xrc-receive', 'dct']
const withoutReceiveQueue: readonly QueuePairType[] = ['xrc-send', 'xrc-receive', 'dci']

function checkQueues({ type, sendQueue, receiveQueue }: QueuePairOptions): void {
  if (sendQueue === undefined && !withoutSendQueue.includes(type))
    throw new ArgumentError('sendQueue', `a queue pair of type ${type} needs a completion queue for its sends`)
  if (receiveQueue === undefined && !withoutReceiveQueue.includes(type))
    throw new ArgumentError('receiveQueue', `a queue pair of type ${type} needs a completion queue for its receives`)
  sendQueue?.assertOpen()
  receiveQueue?.assertOpen()
}

/** A send queue and a receive queue: ibv_create_qp(3). */
export class QueuePair extends Closable implements ReceiveTarget {
  readonly label: string
  readonly domain: ProtectionDomain
  readonly sharedReceiveQueue: SharedReceiveQueue | undefined
  /** Unique on its device; peers name it. */
  readonly number: number
  readonly type: QueuePairType
  /** What was given, at least what was asked. */
  readonly capacities: QueuePairCapacities
  /** A random first packet sequence number to send with, for {@link endpoint}. */
  readonly psn: number = randomInt(1 << 24)
  /** @internal */
  readonly provider: ProviderQueuePair
  readonly #sendQueue: CompletionQueue | undefined
  readonly #receiveQueue: CompletionQueue | undefined
  #scratch: Scratch | undefined

  private constructor(domain: ProtectionDomain, provider: ProviderQueuePair, options: Partial<QueuePairOptions>) {
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
  }

  /** @internal */
  static create(domain: ProtectionDomain, options: QueuePairOptions): QueuePair {
    checkQueues(options)
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
    return new QueuePair(domain, provider, options)
  }

  /** @internal */
  static open(domain: ProtectionDomain, provider: ProviderQueuePair): QueuePair {
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

  /** @internal */
  get maxReceiveSegments(): number {
    return this.capacities.maxReceiveSegments
  }

  // ---- state -------------------------------------------------------------------------------------------------------------------

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

  /** ibv_modify_qp(3). Throws TransitionError with the missing and the extra attributes; then nothing changed. */
  modify(attributes: QueuePairAttributes): void {
    this.assertOpen()
    this.provider.modify(attributes)
  }

  /** ibv_query_qp(3). */
  query(): QueuePairAttributes {
    this.assertOpen()
    return this.provider.query()
  }

  /** RESET -> INIT with sensible values for what is left out. */
  toInit(attributes: Partial<QueuePairAttributes> = {}): void {
    this.modify({ ...initAttributes(this.type, this.domain.device.port), ...attributes })
  }

  /** INIT -> RTR towards `remote`. */
  toReadyToReceive(attributes: Partial<QueuePairAttributes> & { readonly remote?: RemoteEndpoint } = {}): void {
    const { remote, ...rest } = attributes
    this.modify({ ...receiveAttributes(this.type, remote, this.domain.device.attributes), ...rest })
  }

  /** RTR -> RTS. With `remote`, no more READs and atomics at once than it serves. */
  toReadyToSend(attributes: Partial<QueuePairAttributes> & { readonly remote?: RemoteEndpoint } = {}): void {
    const { remote, ...rest } = attributes
    this.modify({ ...sendAttributes(this.type, this.psn, remote, this.domain.device.attributes), ...rest })
  }

  /** Any state -> ERR: everything outstanding completes as flushed. */
  toError(): void {
    this.modify({ state: QueuePairState.Error })
  }

  /** Any state -> RESET: everything outstanding is forgotten, without completions. */
  toReset(): void {
    this.modify({ state: QueuePairState.Reset })
  }

  /** RESET -> RTS in three steps. Both ends do this, in any order, with the other's endpoint. */
  connect(remote: RemoteEndpoint, options: ConnectOptions = {}): void {
    for (const step of this.#connectSteps(remote, options)) this.modify(step)
  }

  /**
   * {@link connect} beside the event loop: a device may have to ask the network for the way to `remote`, which takes until somebody answers. When it rejects, the
   * queue pair is in the state that the last step has reached, and {@link toReset} begins anew. An abort rejects at once; a step that is under way ends, and a
   * change of state or a `close` waits for that.
   */
  async connectAsync(remote: RemoteEndpoint, options: ConnectOptions & OperationOptions = {}): Promise<void> {
    const { signal, ...rest } = options
    signal?.throwIfAborted()
    for (const step of this.#connectSteps(remote, rest)) {
      this.assertOpen()
      await this.#untilClosed(untilAborted(this.provider.modifyAsync(step), signal))
      signal?.throwIfAborted()
    }
  }

  // ---- multicast ---------------------------------------------------------------------------------------------------------------

  /** Receive datagrams to the multicast `gid` too: ibv_attach_mcast(3). Type `ud` only. The pair cannot be closed while attached. */
  attachMulticast(gid: Gid, localIdentifier = 0): void {
    this.assertOpen()
    this.provider.attachMulticast(gid, localIdentifier)
  }

  /** ibv_detach_mcast(3). */
  detachMulticast(gid: Gid, localIdentifier = 0): void {
    this.assertOpen()
    this.provider.detachMulticast(gid, localIdentifier)
  }

  // ---- prepared requests -------------------------------------------------------------------------------------------------------

  /** SEND, with immediate or with a key to invalidate where one is given. */
  prepareSend(fields: SendFields): PreparedRequest {
    if (fields.invalidate !== undefined) return this.#prepareSendInvalidate(fields, fields.invalidate)
    return this.#prepare(fields.immediate === undefined ? Opcode.Send : Opcode.SendWithImmediate, fields)
  }

  /** RDMA WRITE, with immediate where one is given (then it uses up a receive request of the peer). */
  prepareWrite(fields: OneSidedFields): PreparedRequest {
    return this.#prepare(fields.immediate === undefined ? Opcode.Write : Opcode.WriteWithImmediate, fields)
  }

  /** RDMA READ into `local`, which needs LocalWrite. */
  prepareRead(fields: OneSidedFields): PreparedRequest {
    return this.#prepare(Opcode.Read, fields)
  }

  /** 64-bit fetch-and-add; the old value lands in `local` (8 bytes). The remote address must be a multiple of 8. */
  prepareFetchAdd(fields: OneSidedFields & { readonly add: bigint }): PreparedRequest {
    return this.#prepare(Opcode.FetchAdd, fields)
  }

  /** 64-bit compare-and-swap; the old value lands in `local` (8 bytes). The remote address must be a multiple of 8. */
  prepareCompareSwap(fields: OneSidedFields & { readonly compare: bigint; readonly swap: bigint }): PreparedRequest {
    return this.#prepare(Opcode.CompareSwap, fields)
  }

  /** A compare-and-swap of some bits only: `compareMask` says which are compared, `swapMask` which are replaced. */
  prepareMaskedCompareSwap(fields: AtomicRequestFields & MaskedCompareSwapFields): PreparedMaskedCompareSwap {
    this.assertOpen()
    return new PreparedMaskedCompareSwap(this, fields)
  }

  /** A fetch-and-add on several fields of one word, whose highest bits `boundaries` names. */
  prepareMaskedFetchAdd(fields: AtomicRequestFields & MaskedFetchAddFields): PreparedMaskedFetchAdd {
    this.assertOpen()
    return new PreparedMaskedFetchAdd(this, fields)
  }

  /** Bind a memory window. Later requests on this pair, and messages that carry the key, may rely on it at once. */
  prepareBind(fields: BindFields): PreparedBind {
    this.assertOpen()
    return new PreparedBind(this, fields)
  }

  /** LOCAL_INV: take the key of a window of type 2 or of an indirect key back. */
  prepareLocalInvalidate(fields: InvalidateFields): PreparedRequest {
    const request = this.#prepare(Opcode.LocalInvalidate, { ...fields, local: [] })
    encodeInvalidate(request.encoded, fields.key)
    return request
  }

  /** Say what an indirect key stands for. */
  prepareConfigureKey(key: IndirectKey, layout: KeyLayout): PreparedKeyLayout {
    this.assertOpen()
    return new PreparedKeyLayout(this, key, layout)
  }

  prepareReceive(fields: { readonly local: Segments }): PreparedReceive {
    this.assertOpen()
    return new PreparedReceive(this, fields.local)
  }

  /** Post many in one call, in order. When not all are taken throws, saying how many were: those will complete. */
  postSendList(requests: readonly PreparedRequest[]): void {
    this.assertOpen()
    const taken = this.provider.postSendList(
      requests.map((request) => request.encoded),
      requests.length,
    )
    if (taken < requests.length)
      this.#refuse('ibv_post_send', this.provider.lastErrno, `${taken} of ${requests.length} were taken; `)
  }

  /** As {@link postSendList}, for receives. */
  postReceiveList(requests: readonly PreparedReceive[]): void {
    this.assertOpen()
    const taken = this.provider.postReceiveList(
      requests.map((request) => request.encoded),
      requests.length,
    )
    if (taken < requests.length)
      this.#refuse('ibv_post_recv', this.provider.lastErrno, `${taken} of ${requests.length} were taken; `)
  }

  /** @internal */
  post(encoded: EncodedRequest): void {
    this.assertOpen()
    const errno = this.provider.postSend(encoded)
    if (errno !== 0) this.#refuse('ibv_post_send', errno, '')
  }

  /** @internal A post that another object of the provider carries out. */
  postBy(post: (pair: ProviderQueuePair) => number): void {
    this.assertOpen()
    const errno = post(this.provider)
    if (errno !== 0) this.#refuse('ibv_bind_mw', errno, '')
  }

  /** @internal */
  postReceive(encoded: EncodedRequest): void {
    this.assertOpen()
    const errno = this.provider.postReceive(encoded)
    if (errno !== 0) this.#refuse('ibv_post_recv', errno, '')
  }

  // ---- conveniences ------------------------------------------------------------------------------------------------------------

  /** READ and wait. Rejects with CompletionError when it failed. */
  read(fields: OneSidedFields, options: OperationOptions = {}): Promise<OperationResult> {
    return this.#run('read', this.prepareRead(fields), options)
  }

  readSync(fields: OneSidedFields, options: SyncOptions = {}): OperationResult {
    return this.#runSync('read', this.prepareRead(fields), options)
  }

  write(fields: OneSidedFields, options: OperationOptions = {}): Promise<OperationResult> {
    return this.#run('write', this.prepareWrite(fields), options)
  }

  writeSync(fields: OneSidedFields, options: SyncOptions = {}): OperationResult {
    return this.#runSync('write', this.prepareWrite(fields), options)
  }

  send(fields: SendFields, options: OperationOptions = {}): Promise<OperationResult> {
    return this.#run('send', this.prepareSend(fields), options)
  }

  sendSync(fields: SendFields, options: SyncOptions = {}): OperationResult {
    return this.#runSync('send', this.prepareSend(fields), options)
  }

  /** Post one receive and wait for its message. */
  receive(fields: { readonly local: Segments }, options: OperationOptions = {}): Promise<OperationResult> {
    if (options.signal?.aborted === true) return Promise.reject(options.signal.reason)
    const operation = this.#beginReceive(fields.local)
    return this.receiveQueue.operations.wait(operation, options.signal)
  }

  receiveSync(fields: { readonly local: Segments }, options: SyncOptions = {}): OperationResult {
    const operation = this.#beginReceive(fields.local)
    return this.receiveQueue.operations.waitSync(operation, options.timeoutMs ?? DEFAULT_TIMEOUT_MS)
  }

  /** Resolves to the old value. */
  fetchAdd(fields: FetchAddFields, options: OperationOptions = {}): Promise<bigint> {
    return this.#atomic('fetchAdd', (local) => this.prepareFetchAdd({ ...fields, local }), options)
  }

  fetchAddSync(fields: FetchAddFields, options: SyncOptions = {}): bigint {
    return this.#atomicSync('fetchAdd', (local) => this.prepareFetchAdd({ ...fields, local }), options)
  }

  /** Resolves to the old value: it was swapped where that equals `compare`. */
  compareSwap(fields: CompareSwapFields, options: OperationOptions = {}): Promise<bigint> {
    return this.#atomic('compareSwap', (local) => this.prepareCompareSwap({ ...fields, local }), options)
  }

  compareSwapSync(fields: CompareSwapFields, options: SyncOptions = {}): bigint {
    return this.#atomicSync('compareSwap', (local) => this.prepareCompareSwap({ ...fields, local }), options)
  }

  /** Resolves to the old value. Rejects with UnsupportedError where the device has no masked atomics. */
  maskedCompareSwap(fields: MaskedCompareSwapFields, options: OperationOptions = {}): Promise<bigint> {
    return this.#atomic('maskedCompareSwap', (local) => this.prepareMaskedCompareSwap({ ...fields, local }), options)
  }

  maskedCompareSwapSync(fields: MaskedCompareSwapFields, options: SyncOptions = {}): bigint {
    return this.#atomicSync(
      'maskedCompareSwap',
      (local) => this.prepareMaskedCompareSwap({ ...fields, local }),
      options,
    )
  }

  maskedFetchAdd(fields: MaskedFetchAddFields, options: OperationOptions = {}): Promise<bigint> {
    return this.#atomic('maskedFetchAdd', (local) => this.prepareMaskedFetchAdd({ ...fields, local }), options)
  }

  maskedFetchAddSync(fields: MaskedFetchAddFields, options: SyncOptions = {}): bigint {
    return this.#atomicSync('maskedFetchAdd', (local) => this.prepareMaskedFetchAdd({ ...fields, local }), options)
  }

  /** Put a 64-bit value there and get the old one, by the device's own operation where it has one, else by a loop; the result says which. */
  swap(fields: SwapFields, options: OperationOptions = {}): Promise<SwapResult> {
    return swap(this, fields, options)
  }

  swapSync(fields: SwapFields, options: SyncOptions = {}): SwapResult {
    return swapSync(this, fields, options)
  }

  /** Bind a memory window and wait. */
  bind(fields: BindFields, options: OperationOptions = {}): Promise<OperationResult> {
    return this.#run('bind', this.prepareBind(fields), options)
  }

  bindSync(fields: BindFields, options: SyncOptions = {}): OperationResult {
    return this.#runSync('bind', this.prepareBind(fields), options)
  }

  /** LOCAL_INV and wait: after it nobody reaches anything by that key. */
  localInvalidate(key: number, options: OperationOptions = {}): Promise<OperationResult> {
    return this.#run('localInvalidate', this.prepareLocalInvalidate({ key }), options)
  }

  localInvalidateSync(key: number, options: SyncOptions = {}): OperationResult {
    return this.#runSync('localInvalidate', this.prepareLocalInvalidate({ key }), options)
  }

  /** Give an indirect key its layout and wait. */
  configureKey(key: IndirectKey, layout: KeyLayout, options: OperationOptions = {}): Promise<OperationResult> {
    return this.#run('configureKey', this.prepareConfigureKey(key, layout), options)
  }

  configureKeySync(key: IndirectKey, layout: KeyLayout, options: SyncOptions = {}): OperationResult {
    return this.#runSync('configureKey', this.prepareConfigureKey(key, layout), options)
  }

  /** The peer's physical memory, under the key that the peer registered for it. */
  physicalPeer(key: number): PhysicalPeer {
    this.assertOpen()
    return new PhysicalPeer(this, key)
  }

  protected release(): void {
    this.provider.destroy()
    this.#scratch?.close()
    this.domain.queuePairs.remove(this)
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
      throw new ArgumentError('invalidate', 'a message carries an immediate or a key to invalidate, not both')
    const request = this.#prepare(Opcode.SendWithInvalidate, fields)
    encodeInvalidate(request.encoded, key)
    return request
  }

  async #atomic(
    name: string,
    prepare: (local: MemorySlice) => PreparedRequest,
    options: OperationOptions,
  ): Promise<bigint> {
    options.signal?.throwIfAborted()
    const cell = this.#cells().take()
    const operation = this.#beginAtomic(name, prepare, cell)
    await this.sendQueue.operations.wait(operation, options.signal)
    return cell.value()
  }

  #atomicSync(name: string, prepare: (local: MemorySlice) => PreparedRequest, options: SyncOptions): bigint {
    const cell = this.#cells().take()
    const operation = this.#beginAtomic(name, prepare, cell)
    this.sendQueue.operations.waitSync(operation, options.timeoutMs ?? DEFAULT_TIMEOUT_MS)
    return cell.value()
  }

  #beginAtomic(name: string, prepare: (local: MemorySlice) => PreparedRequest, cell: ScratchCell): Operation {
    return this.#begin(name, prepare(cell.slice), cell.giveBack)
  }

  #cells(): Scratch {
    this.assertOpen()
    this.#scratch ??= new Scratch(this.domain, this.capacities.maxSendRequests)
    return this.#scratch
  }

  #run(name: string, request: PreparedRequest, options: OperationOptions): Promise<OperationResult> {
    if (options.signal?.aborted === true) return Promise.reject(options.signal.reason)
    const operation = this.#begin(name, request, undefined)
    return this.sendQueue.operations.wait(operation, options.signal)
  }

  #runSync(name: string, request: PreparedRequest, options: SyncOptions): OperationResult {
    const operation = this.#begin(name, request, undefined)
    return this.sendQueue.operations.waitSync(operation, options.timeoutMs ?? DEFAULT_TIMEOUT_MS)
  }

  #begin(name: string, request: PreparedRequest, onDone: (() => void) | undefined): Operation {
    if (!request.signaled)
      throw new ArgumentError('signaled', `${name} waits for its completion and so cannot be unsignaled`)
    const operation = this.sendQueue.operations.begin(name, request, onDone)
    this.#postOperation(this.sendQueue, operation, request.encoded, () => request.submit())
    return operation
  }

  #beginReceive(local: Segments): Operation {
    const request = this.prepareReceive({ local })
    const operation = this.receiveQueue.operations.begin('receive', request, undefined)
    this.#postOperation(this.receiveQueue, operation, request.encoded, (encoded) => this.postReceive(encoded))
    return operation
  }

  #postOperation(
    queue: CompletionQueue,
    operation: Operation,
    encoded: EncodedRequest,
    post: (encoded: EncodedRequest) => void,
  ): void {
    encoded.words[0] = operation.id
    try {
      post(encoded)
    } catch (error) {
      queue.operations.cancel(operation)
      throw error
    }
  }

  #refuse(verb: string, errno: number, prefix: string): never {
    const name = errnoName(errno)
    if (errno === Errno.EOPNOTSUPP)
      throw new UnsupportedError(`${verb}: ${this.label}: ${prefix}this device does not do that operation`)
    const why =
      name === 'ENOMEM'
        ? 'the queue is full; poll the completion queue (slots of unsignaled requests are freed by a later signaled one)'
        : `refused in state ${stateNames[this.provider.state]}: look at the state, the number of segments, the inline size and the opcode`
    throw new VerbsError(verb, errno, `${this.label}: ${prefix}${why}`)
  }
}
