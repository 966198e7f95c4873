import { randomInt } from 'node:crypto'
import { ArgumentError } from '../native/index.ts'
import {
  type EncodedRequest,
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
  initAttributes,
  type RemoteEndpoint,
  receiveAttributes,
  sendAttributes,
} from './connection.ts'
import { Closable } from './lifetime.ts'
import type { Operation, OperationResult } from './operation.ts'
import { PreparedReceive, PreparedRequest, type Segments, type SendRequestFields } from './prepared-request.ts'
import type { ProtectionDomain } from './protection-domain.ts'
import { Scratch } from './scratch.ts'

export interface QueuePairOptions {
  readonly type: QueuePairType
  readonly sendQueue: CompletionQueue
  readonly receiveQueue: CompletionQueue
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
export type SendFields = Omit<SendRequestFields, 'remote' | 'add' | 'compare' | 'swap'>
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
export interface OperationOptions {
  /** Stops waiting; the operation itself goes on and holds its buffers until it completes. */
  readonly signal?: AbortSignal
}
export interface SyncOptions {
  /** Default 10,000. */
  readonly timeoutMs?: number
}

const DEFAULT_TIMEOUT_MS = 10_000

/** A send queue and a receive queue: ibv_create_qp(3). */
export class QueuePair extends Closable {
  readonly label: string
  readonly domain: ProtectionDomain
  readonly sendQueue: CompletionQueue
  readonly receiveQueue: CompletionQueue
  /** Unique on its device; peers name it. */
  readonly number: number
  readonly type: QueuePairType
  /** What was given, at least what was asked. */
  readonly capacities: QueuePairCapacities
  /** A random first packet sequence number to send with, for {@link endpoint}. */
  readonly psn: number = randomInt(1 << 24)
  /** @internal */
  readonly provider: ProviderQueuePair
  #scratch: Scratch | undefined

  private constructor(domain: ProtectionDomain, provider: ProviderQueuePair, options: QueuePairOptions) {
    super()
    this.domain = domain
    this.provider = provider
    this.sendQueue = options.sendQueue
    this.receiveQueue = options.receiveQueue
    this.number = provider.number
    this.type = provider.type
    this.capacities = provider.capacities
    this.label = `queue pair ${provider.number}`
  }

  /** @internal */
  static create(domain: ProtectionDomain, options: QueuePairOptions): QueuePair {
    options.sendQueue.assertOpen()
    options.receiveQueue.assertOpen()
    const provider = domain.provider.createQueuePair({
      type: options.type,
      sendQueue: options.sendQueue.provider,
      receiveQueue: options.receiveQueue.provider,
      maxSendRequests: options.maxSendRequests ?? 64,
      maxReceiveRequests: options.maxReceiveRequests ?? 64,
      maxSendSegments: options.maxSendSegments ?? 1,
      maxReceiveSegments: options.maxReceiveSegments ?? 1,
      maxInlineBytes: options.maxInlineBytes ?? 0,
      signalAll: options.signalAll ?? false,
    })
    return new QueuePair(domain, provider, options)
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
    return { gid: this.gid, queuePairNumber: this.number, psn: this.psn }
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
    this.modify({ ...initAttributes(this.type), ...attributes })
  }

  /** INIT -> RTR towards `remote`. */
  toReadyToReceive(attributes: Partial<QueuePairAttributes> & { readonly remote?: RemoteEndpoint } = {}): void {
    const { remote, ...rest } = attributes
    this.modify({ ...receiveAttributes(this.type, remote, this.domain.device.attributes), ...rest })
  }

  /** RTR -> RTS. */
  toReadyToSend(attributes: Partial<QueuePairAttributes> = {}): void {
    this.modify({ ...sendAttributes(this.type, this.psn, this.domain.device.attributes), ...attributes })
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
    const { access, timeout, retryCount, rnrRetry, minRnrTimer, pathMtu } = options
    this.toInit(access === undefined ? {} : { access })
    this.toReadyToReceive({
      remote,
      ...(minRnrTimer === undefined ? {} : { minRnrTimer }),
      ...(pathMtu === undefined ? {} : { pathMtu }),
    })
    this.toReadyToSend({
      ...(timeout === undefined ? {} : { timeout }),
      ...(retryCount === undefined ? {} : { retryCount }),
      ...(rnrRetry === undefined ? {} : { rnrRetry }),
    })
  }

  // ---- prepared requests -------------------------------------------------------------------------------------------------------

  /** SEND, with immediate where one is given. */
  prepareSend(fields: SendFields): PreparedRequest {
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
  async fetchAdd(fields: FetchAddFields, options: OperationOptions = {}): Promise<bigint> {
    options.signal?.throwIfAborted()
    const cell = this.#cells().take()
    const operation = this.#begin('fetchAdd', this.prepareFetchAdd({ ...fields, local: cell.slice }), cell.giveBack)
    await this.sendQueue.operations.wait(operation, options.signal)
    return cell.value()
  }

  fetchAddSync(fields: FetchAddFields, options: SyncOptions = {}): bigint {
    const cell = this.#cells().take()
    const operation = this.#begin('fetchAdd', this.prepareFetchAdd({ ...fields, local: cell.slice }), cell.giveBack)
    this.sendQueue.operations.waitSync(operation, options.timeoutMs ?? DEFAULT_TIMEOUT_MS)
    return cell.value()
  }

  /** Resolves to the old value: it was swapped where that equals `compare`. */
  async compareSwap(fields: CompareSwapFields, options: OperationOptions = {}): Promise<bigint> {
    options.signal?.throwIfAborted()
    const cell = this.#cells().take()
    const operation = this.#begin(
      'compareSwap',
      this.prepareCompareSwap({ ...fields, local: cell.slice }),
      cell.giveBack,
    )
    await this.sendQueue.operations.wait(operation, options.signal)
    return cell.value()
  }

  compareSwapSync(fields: CompareSwapFields, options: SyncOptions = {}): bigint {
    const cell = this.#cells().take()
    const operation = this.#begin(
      'compareSwap',
      this.prepareCompareSwap({ ...fields, local: cell.slice }),
      cell.giveBack,
    )
    this.sendQueue.operations.waitSync(operation, options.timeoutMs ?? DEFAULT_TIMEOUT_MS)
    return cell.value()
  }

  protected release(): void {
    this.provider.destroy()
    this.#scratch?.close()
    this.domain.queuePairs.remove(this)
  }

  #prepare(opcode: Opcode, fields: SendRequestFields): PreparedRequest {
    this.assertOpen()
    return new PreparedRequest(this, opcode, fields)
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
    this.#postOperation(this.sendQueue, operation, request.encoded, (encoded) => this.post(encoded))
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
    const why =
      name === 'ENOMEM'
        ? 'the queue is full; poll the completion queue (slots of unsignaled requests are freed by a later signaled one)'
        : `refused in state ${stateNames[this.provider.state]}: look at the state, the number of segments, the inline size and the opcode`
    throw new VerbsError(verb, errno, `${this.label}: ${prefix}${why}`)
  }
}
