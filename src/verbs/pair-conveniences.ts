import { ArgumentError, checkAbort, checkOptions, mustBe, type OptionNames } from '../native/index.ts'
import type { EncodedRequest, QueuePairCapacities } from '../providers/index.ts'
import type { CompletionQueue } from './completion-queue.ts'
import { checkTimeout } from './field-checks.ts'
import type { IndirectKey, KeyLayout, PreparedKeyLayout } from './indirect-key.ts'
import { Closable } from './lifetime.ts'
import type {
  AtomicRequestFields,
  MaskedCompareSwapFields,
  MaskedFetchAddFields,
  PreparedMaskedCompareSwap,
  PreparedMaskedFetchAdd,
} from './masked-atomic.ts'
import type { MemoryDomain, MemorySlice } from './memory-region.ts'
import type { BindFields, PreparedBind } from './memory-window.ts'
import type { Operation, OperationResult } from './operation.ts'
import type { PreparedReceive, PreparedRequest, Segments } from './prepared-request.ts'
import type {
  CompareSwapFields,
  FetchAddFields,
  InvalidateFields,
  OneSidedFields,
  OperationOptions,
  SendFields,
  SyncOptions,
} from './request-fields.ts'
import { Scratch, type ScratchCell } from './scratch.ts'

const DEFAULT_TIMEOUT_MS = 10_000

const syncNames: OptionNames<SyncOptions> = { timeoutMs: true }

/** @throws ArgumentError */
function checkSync(call: string, options: SyncOptions | undefined): void {
  if (options === undefined) return
  checkOptions(call, options, syncNames)
  checkTimeout(options.timeoutMs)
}

/**
 * Methods that post one request and wait for its completion, by a promise or by spinning (`…Sync`). Each call allocates
 * an object or two; a prepared request allocates none. All of them use the queue pair's prepared requests.
 */
export abstract class PairConveniences extends Closable {
  abstract readonly domain: MemoryDomain
  abstract readonly capacities: QueuePairCapacities
  #scratch: Scratch | undefined

  abstract get sendQueue(): CompletionQueue
  abstract get receiveQueue(): CompletionQueue
  abstract prepareSend(fields: SendFields): PreparedRequest
  abstract prepareWrite(fields: OneSidedFields): PreparedRequest
  abstract prepareRead(fields: OneSidedFields): PreparedRequest
  abstract prepareFetchAdd(fields: OneSidedFields & { readonly add: bigint }): PreparedRequest
  abstract prepareCompareSwap(
    fields: OneSidedFields & { readonly compare: bigint; readonly swap: bigint },
  ): PreparedRequest
  abstract prepareMaskedCompareSwap(fields: AtomicRequestFields & MaskedCompareSwapFields): PreparedMaskedCompareSwap
  abstract prepareMaskedFetchAdd(fields: AtomicRequestFields & MaskedFetchAddFields): PreparedMaskedFetchAdd
  abstract prepareBind(fields: BindFields): PreparedBind
  abstract prepareLocalInvalidate(fields: InvalidateFields): PreparedRequest
  abstract prepareConfigureKey(key: IndirectKey, layout: KeyLayout): PreparedKeyLayout
  abstract prepareReceive(fields: { readonly local: Segments }): PreparedReceive
  /** @internal */
  abstract postReceive(encoded: EncodedRequest): void

  /** READ and wait. Rejects with CompletionError if it failed. */
  read(fields: OneSidedFields, options?: OperationOptions): Promise<OperationResult> {
    return this.#run('read', this.prepareRead(fields), options)
  }

  readSync(fields: OneSidedFields, options?: SyncOptions): OperationResult {
    return this.#runSync('read', this.prepareRead(fields), options)
  }

  write(fields: OneSidedFields, options?: OperationOptions): Promise<OperationResult> {
    return this.#run('write', this.prepareWrite(fields), options)
  }

  writeSync(fields: OneSidedFields, options?: SyncOptions): OperationResult {
    return this.#runSync('write', this.prepareWrite(fields), options)
  }

  send(fields: SendFields, options?: OperationOptions): Promise<OperationResult> {
    return this.#run('send', this.prepareSend(fields), options)
  }

  sendSync(fields: SendFields, options?: SyncOptions): OperationResult {
    return this.#runSync('send', this.prepareSend(fields), options)
  }

  /** Post one receive and wait for its message. */
  async receive(fields: { readonly local: Segments }, options?: OperationOptions): Promise<OperationResult> {
    checkAbort('receive', options)
    const operation = this.#beginReceive(fields)
    return await this.receiveQueue.operations.wait(operation, options?.signal)
  }

  receiveSync(fields: { readonly local: Segments }, options?: SyncOptions): OperationResult {
    checkSync('receiveSync', options)
    const operation = this.#beginReceive(fields)
    return this.receiveQueue.operations.waitSync(operation, options?.timeoutMs ?? DEFAULT_TIMEOUT_MS)
  }

  /** Add to a 64-bit word and resolve to the old value. */
  fetchAdd(fields: FetchAddFields, options?: OperationOptions): Promise<bigint> {
    return this.#atomic('fetchAdd', (local) => this.prepareFetchAdd({ ...spread(fields), local }), options)
  }

  fetchAddSync(fields: FetchAddFields, options?: SyncOptions): bigint {
    return this.#atomicSync('fetchAdd', (local) => this.prepareFetchAdd({ ...spread(fields), local }), options)
  }

  /** Compare and swap a 64-bit word, and resolve to the old value. The swap took place if that equals `compare`. */
  compareSwap(fields: CompareSwapFields, options?: OperationOptions): Promise<bigint> {
    return this.#atomic('compareSwap', (local) => this.prepareCompareSwap({ ...spread(fields), local }), options)
  }

  compareSwapSync(fields: CompareSwapFields, options?: SyncOptions): bigint {
    return this.#atomicSync('compareSwap', (local) => this.prepareCompareSwap({ ...spread(fields), local }), options)
  }

  /** Resolves to the old value. Rejects with UnsupportedError if the device has no masked atomics. */
  maskedCompareSwap(fields: MaskedCompareSwapFields, options?: OperationOptions): Promise<bigint> {
    return this.#atomic(
      'maskedCompareSwap',
      (local) => this.prepareMaskedCompareSwap({ ...spread(fields), local }),
      options,
    )
  }

  maskedCompareSwapSync(fields: MaskedCompareSwapFields, options?: SyncOptions): bigint {
    return this.#atomicSync(
      'maskedCompareSwap',
      (local) => this.prepareMaskedCompareSwap({ ...spread(fields), local }),
      options,
    )
  }

  maskedFetchAdd(fields: MaskedFetchAddFields, options?: OperationOptions): Promise<bigint> {
    return this.#atomic('maskedFetchAdd', (local) => this.prepareMaskedFetchAdd({ ...spread(fields), local }), options)
  }

  maskedFetchAddSync(fields: MaskedFetchAddFields, options?: SyncOptions): bigint {
    return this.#atomicSync(
      'maskedFetchAdd',
      (local) => this.prepareMaskedFetchAdd({ ...spread(fields), local }),
      options,
    )
  }

  /** Bind a memory window and wait. */
  bind(fields: BindFields, options?: OperationOptions): Promise<OperationResult> {
    return this.#run('bind', this.prepareBind(fields), options)
  }

  bindSync(fields: BindFields, options?: SyncOptions): OperationResult {
    return this.#runSync('bind', this.prepareBind(fields), options)
  }

  /** LOCAL_INV and wait. Afterwards the key reaches nothing. */
  localInvalidate(key: number, options?: OperationOptions): Promise<OperationResult> {
    return this.#run('localInvalidate', this.prepareLocalInvalidate({ key }), options)
  }

  localInvalidateSync(key: number, options?: SyncOptions): OperationResult {
    return this.#runSync('localInvalidate', this.prepareLocalInvalidate({ key }), options)
  }

  /** Give an indirect key its layout and wait. */
  configureKey(key: IndirectKey, layout: KeyLayout, options?: OperationOptions): Promise<OperationResult> {
    return this.#run('configureKey', this.prepareConfigureKey(key, layout), options)
  }

  configureKeySync(key: IndirectKey, layout: KeyLayout, options?: SyncOptions): OperationResult {
    return this.#runSync('configureKey', this.prepareConfigureKey(key, layout), options)
  }

  async #atomic(
    name: string,
    prepare: (local: MemorySlice) => PreparedRequest,
    options: OperationOptions | undefined,
  ): Promise<bigint> {
    checkAbort(name, options)
    const cell = this.#cells().take()
    const operation = this.#beginAtomic(name, prepare, cell)
    await this.sendQueue.operations.wait(operation, options?.signal)
    return cell.value()
  }

  #atomicSync(
    name: string,
    prepare: (local: MemorySlice) => PreparedRequest,
    options: SyncOptions | undefined,
  ): bigint {
    checkSync(name, options)
    const cell = this.#cells().take()
    const operation = this.#beginAtomic(name, prepare, cell)
    this.sendQueue.operations.waitSync(operation, options?.timeoutMs ?? DEFAULT_TIMEOUT_MS)
    return cell.value()
  }

  #beginAtomic(name: string, prepare: (local: MemorySlice) => PreparedRequest, cell: ScratchCell): Operation {
    let request: PreparedRequest
    try {
      request = prepare(cell.slice)
    } catch (error) {
      cell.giveBack()
      throw error
    }
    return this.#begin(name, request, cell.giveBack)
  }

  #cells(): Scratch {
    this.assertOpen()
    this.#scratch ??= new Scratch(this.domain, this.capacities.maxSendRequests)
    return this.#scratch
  }

  async #run(name: string, request: PreparedRequest, options: OperationOptions | undefined): Promise<OperationResult> {
    checkAbort(name, options)
    const operation = this.#begin(name, request, undefined)
    return await this.sendQueue.operations.wait(operation, options?.signal)
  }

  #runSync(name: string, request: PreparedRequest, options: SyncOptions | undefined): OperationResult {
    checkSync(name, options)
    const operation = this.#begin(name, request, undefined)
    return this.sendQueue.operations.waitSync(operation, options?.timeoutMs ?? DEFAULT_TIMEOUT_MS)
  }

  #begin(name: string, request: PreparedRequest, onDone: (() => void) | undefined): Operation {
    if (!request.signaled)
      throw new ArgumentError(
        'signaled',
        `${name} waits for its completion, so it cannot be unsignaled; leave out \`signaled: false\``,
      )
    const operation = this.sendQueue.operations.begin(name, request, onDone)
    this.#postOperation(this.sendQueue, operation, request.encoded, () => request.submit())
    return operation
  }

  #beginReceive(fields: { readonly local: Segments }): Operation {
    const request = this.prepareReceive(fields)
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

  /** Where old values landed; nothing is outstanding any more. */
  protected closeScratch(): void {
    this.#scratch?.close()
  }
}

/** Text would spread to its letters. @throws ArgumentError */
function spread<T>(fields: T): T {
  if (typeof fields === 'object' && fields !== null) return fields
  throw mustBe('fields', 'an object with remote and operands', fields)
}
