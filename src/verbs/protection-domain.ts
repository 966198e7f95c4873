import {
  checkBoolean,
  checkIterable,
  checkOptions,
  checkSignal,
  checkWhole,
  mustBe,
  type OptionNames,
} from '../native/index.ts'
import {
  Access,
  type AddressVector,
  Advice,
  type AdvisedRange,
  type AllocateOptions,
  type BufferOrigin,
  type MemoryWindowType,
  type ProviderProtectionDomain,
} from '../providers/index.ts'
import { AddressHandle } from './address-handle.ts'
import type { ChannelDevice } from './completion-channel.ts'
import type { DeviceMemory, MemoryDevice } from './device-memory.ts'
import { checkOrigin, checkRights, checkVector } from './field-checks.ts'
import { IndirectKey } from './indirect-key.ts'
import { Children, Closable, checkNoun } from './lifetime.ts'
import { MemoryRegion } from './memory-region.ts'
import { MemoryWindow } from './memory-window.ts'
import { PendingMemory } from './pending-memory.ts'
import { type PairDomain, QueuePair, type QueuePairOptions } from './queue-pair.ts'
import { bytesOf, type Registrable } from './registrable.ts'
import type { OperationOptions } from './request-fields.ts'
import { SharedReceiveQueue, type SharedReceiveQueueOptions } from './shared-receive-queue.ts'
import type { ThreadDevice, ThreadDomain } from './thread-domain.ts'
import type { XrcDevice, XrcDomain } from './xrc-domain.ts'

/** A device, as its protection domains know it. */
export interface DomainDevice extends ChannelDevice, MemoryDevice, ThreadDevice, XrcDevice {
  /** @internal */
  readonly domains: Children<ProtectionDomain>
  createProtectionDomain(): ProtectionDomain
}

const adviceNumbers = {
  prefetch: Advice.Prefetch,
  'prefetch-write': Advice.PrefetchWrite,
  'prefetch-no-fault': Advice.PrefetchNoFault,
} as const

type RegisterOptions = { readonly origin?: BufferOrigin } & OperationOptions

interface DeviceMemoryRange {
  readonly offset?: number
  readonly length?: number
}

interface AdviseOptions {
  readonly flush?: boolean
}

interface IndirectKeyOptions {
  readonly maxPieces: number
}

const allocateNames: OptionNames<AllocateOptions> = { pageBytes: true, lock: true }
const allocateAsyncNames: OptionNames<AllocateOptions & OperationOptions> = { ...allocateNames, signal: true }
const registerNames: OptionNames<RegisterOptions> = { origin: true, signal: true }
const rangeNames: OptionNames<DeviceMemoryRange> = { offset: true, length: true }
const adviseNames: OptionNames<AdviseOptions> = { flush: true }
const indirectNames: OptionNames<IndirectKeyOptions> = { maxPieces: true }
const PIECES_MAX = 2 ** 20
const MEMORY_BYTES_MAX = 2 ** 47

/**
 * Queue pairs and memory that may be used together: ibv_alloc_pd(3). Closing the domain closes them: windows first,
 * then queue pairs, then memory.
 */
export class ProtectionDomain extends Closable implements PairDomain {
  readonly label = 'protection domain'
  readonly device: DomainDevice
  /** @internal */
  readonly provider: ProviderProtectionDomain
  /** @internal */
  readonly memories: Children<MemoryRegion> = new Children<MemoryRegion>()
  /** @internal */
  readonly queuePairs: Children<QueuePair> = new Children<QueuePair>()
  /** @internal */
  readonly sharedReceiveQueues: Children<SharedReceiveQueue> = new Children<SharedReceiveQueue>()
  /** @internal */
  readonly addressHandles: Children<AddressHandle> = new Children<AddressHandle>()
  /** @internal */
  readonly windows: Children<MemoryWindow> = new Children<MemoryWindow>()
  /** @internal */
  readonly indirectKeys: Children<IndirectKey> = new Children<IndirectKey>()
  /** @internal */
  readonly parentDomains: Children<ProtectionDomain> = new Children<ProtectionDomain>()
  /** The domain whose protection this one shares, if it was made by {@link createParentDomain}. */
  readonly base: ProtectionDomain | undefined

  readonly #pending: PendingMemory = new PendingMemory(this)

  /** @internal Made by {@link Device.createProtectionDomain}. */
  constructor(device: DomainDevice, provider: ProviderProtectionDomain, base?: ProtectionDomain) {
    super()
    this.device = device
    this.provider = provider
    this.base = base
  }

  /**
   * Allocate zeroed memory that peers can reach directly. `lengthBytes` may be any positive number. Throws VerbsError
   * ENOMEM if the machine has not enough memory, EINVAL for remote write or atomic rights without LocalWrite.
   */
  allocate(lengthBytes: number, access: number, options: AllocateOptions = {}): MemoryRegion {
    this.assertOpen()
    checkOptions('allocate', options, allocateNames)
    checkAllocation(lengthBytes, access, options)
    return this.memories.add(new MemoryRegion(this, this.provider.allocate(lengthBytes, access, options)))
  }

  /**
   * Register an existing buffer: ibv_reg_mr(3). With `origin`, it is a mapping of that memory object at that offset,
   * which peers map too. Without it, the shm provider uses cross-process copies, and remote atomics on the memory fail.
   */
  register(buffer: Registrable, access: number, origin?: BufferOrigin): MemoryRegion {
    this.assertOpen()
    checkRights('access', rights(access))
    checkOrigin('register', 'origin', origin)
    return this.memories.add(new MemoryRegion(this, this.provider.register(bytesOf(buffer), access, origin)))
  }

  /**
   * Do {@link allocate} beside the event loop: a device pins every page, which takes a good part of a second for a
   * gibibyte. Rejects as `allocate` throws. If `signal` aborts or this domain is closed, it rejects at once. The memory
   * is freed as soon as the device allows; `close` waits for that.
   */
  async allocateAsync(
    lengthBytes: number,
    access: number,
    options: AllocateOptions & OperationOptions = {},
  ): Promise<MemoryRegion> {
    checkOptions('allocateAsync', options, allocateAsyncNames)
    const { signal, ...rest } = options
    this.assertOpen()
    checkAllocation(lengthBytes, access, rest)
    checkSignal('options.signal', signal)
    return await this.#pending.add(this.provider.allocateAsync(lengthBytes, access, rest), signal)
  }

  /**
   * Do {@link register} beside the event loop, with the rules of {@link allocateAsync}. Do not transfer the buffer in
   * the meantime.
   */
  async registerAsync(buffer: Registrable, access: number, options: RegisterOptions = {}): Promise<MemoryRegion> {
    checkOptions('registerAsync', options, registerNames)
    const { origin, signal } = options
    this.assertOpen()
    checkRights('access', rights(access))
    checkOrigin('registerAsync', 'options.origin', origin)
    checkSignal('options.signal', signal)
    return await this.#pending.add(this.provider.registerAsync(bytesOf(buffer), access, origin), signal)
  }

  /**
   * Register a part of a device's own memory: ibv_reg_dm_mr(3). The region is zero-based: requests address its bytes
   * from 0. Throws VerbsError EINVAL beyond the end of `memory`.
   */
  registerDeviceMemory(memory: DeviceMemory, access: number, range: DeviceMemoryRange = {}): MemoryRegion {
    this.assertOpen()
    checkNoun('memory', memory, 'device memory', 'device.allocateDeviceMemory() returns')
    memory.assertOpen()
    checkRights('access', rights(access))
    checkOptions('registerDeviceMemory', range, rangeNames, 'range')
    const { offset = 0 } = range
    checkWhole('range.offset', offset, 0, memory.length)
    const { length = memory.length - offset } = range
    checkWhole('range.length', length, 0, memory.length)
    const provider = this.provider.registerDeviceMemory(memory.provider, offset, length, access | Access.ZeroBased)
    return this.memories.add(new MemoryRegion(this, provider))
  }

  /**
   * Register the whole address space of this process, with pages found on use: implicit on-demand paging. Requests use
   * addresses of the process. On shm the device must have been opened with `allowProcessCopy`, and there are no remote
   * atomics. Throws UnsupportedError if the device has no on-demand paging.
   */
  registerImplicit(access: number): MemoryRegion {
    this.assertOpen()
    checkRights('access', rights(access))
    return this.memories.add(new MemoryRegion(this, this.provider.registerImplicit(access)))
  }

  /**
   * Register physical memory: requests use physical addresses, and any holder of the remote key reaches all of it. On
   * shm it is the memory that the device was opened with (`physicalBytes`), visible in `bytes`. A real device needs the
   * verbs of MLNX_OFED 4. Throws UnsupportedError elsewhere; the upstream alternative is {@link registerImplicit}.
   */
  registerPhysical(access: number): MemoryRegion {
    this.assertOpen()
    checkRights('access', rights(access))
    return this.memories.add(new MemoryRegion(this, this.provider.registerPhysical(access)))
  }

  /**
   * Make pages of on-demand regions ready before use: ibv_advise_mr(3). It is a hint, but wrong ranges are refused.
   * Throws VerbsError EFAULT for a range outside its region or the process, EPERM for `write` without LocalWrite.
   * `flush` returns only when done.
   */
  advise(
    advice: 'prefetch' | 'prefetch-write' | 'prefetch-no-fault',
    ranges: readonly AdvisedRange[],
    options: AdviseOptions = {},
  ): void {
    this.assertOpen()
    if (typeof advice !== 'string' || !Object.hasOwn(adviceNumbers, advice))
      throw mustBe('advice', `one of ${Object.keys(adviceNumbers).join(', ')}`, advice)
    checkRanges(ranges)
    checkOptions('advise', options, adviseNames)
    checkBoolean('options.flush', options.flush ?? false)
    this.provider.advise(adviceNumbers[advice], options.flush === true, ranges)
  }

  /**
   * Create a memory window: ibv_alloc_mw(3). Type 1 serves every queue pair of the domain, type 2 the one that binds
   * it.
   */
  createMemoryWindow(type: MemoryWindowType): MemoryWindow {
    this.assertOpen()
    if (typeof type !== 'number') throw mustBe('type', '1 or 2', type)
    return this.windows.add(new MemoryWindow(this, this.provider.createMemoryWindow(type)))
  }

  /**
   * Create a key for up to `maxPieces` pieces of other regions: mlx5dv_create_mkey(3). Throws UnsupportedError if the
   * device cannot.
   */
  createIndirectKey(options: IndirectKeyOptions): IndirectKey {
    this.assertOpen()
    checkOptions('createIndirectKey', options, indirectNames)
    const { maxPieces } = (options ?? {}) as IndirectKeyOptions
    checkWhole('options.maxPieces', maxPieces, 1, PIECES_MAX)
    return this.indirectKeys.add(new IndirectKey(this, this.provider.createIndirectKey(maxPieces)))
  }

  /**
   * Create a domain that shares this one's protection: ibv_alloc_parent_domain(3). Objects of either may be used
   * together. With a thread domain, its objects are for use by one thread.
   */
  createParentDomain(threadDomain?: ThreadDomain): ProtectionDomain {
    this.assertOpen()
    if (threadDomain !== undefined)
      checkNoun('threadDomain', threadDomain, 'thread domain', 'device.createThreadDomain() makes')
    threadDomain?.assertOpen()
    const provider = this.provider.createParentDomain(threadDomain?.provider)
    return this.parentDomains.add(new ProtectionDomain(this.device, provider, this))
  }

  /** Create a queue pair: ibv_create_qp(3). */
  createQueuePair(options: QueuePairOptions): QueuePair {
    this.assertOpen()
    return this.queuePairs.add(QueuePair.create(this, options))
  }

  /**
   * Open another handle on an `xrc-receive` queue pair, perhaps of another process: ibv_open_qp(3). Throws EINVAL if it
   * does not exist.
   */
  openQueuePair(xrcDomain: XrcDomain, number: number): QueuePair {
    this.assertOpen()
    checkNoun('xrcDomain', xrcDomain, 'XRC domain', 'device.openXrcDomain() returns')
    checkWhole('number', number, 0, 0xffffffff)
    xrcDomain.assertOpen()
    return this.queuePairs.add(QueuePair.open(this, this.provider.openQueuePair(xrcDomain.provider, number)))
  }

  /** Create a shared receive queue: ibv_create_srq(3); for XRC, ibv_create_srq_ex(3). */
  createSharedReceiveQueue(options: SharedReceiveQueueOptions = {}): SharedReceiveQueue {
    this.assertOpen()
    return this.sharedReceiveQueues.add(SharedReceiveQueue.create(this, options))
  }

  /** Create an address handle: ibv_create_ah(3). Throws EINVAL if the vector cannot be used on this link layer. */
  createAddressHandle(vector: AddressVector): AddressHandle {
    this.assertOpen()
    checkVector('createAddressHandle', 'vector', vector)
    return this.addressHandles.add(new AddressHandle(this, vector, this.provider.createAddressHandle(vector)))
  }

  protected release(): void {
    // Windows first: a kernel may wait for those that are bound through a queue pair when that is destroyed (rxe does,
    // for 50 s).
    this.windows.closeAll()
    this.parentDomains.closeAll()
    this.queuePairs.closeAll()
    this.indirectKeys.closeAll()
    this.sharedReceiveQueues.closeAll()
    this.addressHandles.closeAll()
    this.#pending.cancelAll()
    this.memories.closeAll()
    this.provider.destroy()
    const siblings = this.base === undefined ? this.device.domains : this.base.parentDomains
    siblings.remove(this)
  }
}

function checkAllocation(lengthBytes: number, access: number, { pageBytes, lock = false }: AllocateOptions): void {
  checkWhole('lengthBytes', lengthBytes, 1, MEMORY_BYTES_MAX)
  checkRights('access', rights(access))
  if (pageBytes !== undefined) checkWhole('options.pageBytes', pageBytes, 1, 2 ** 30)
  checkBoolean('options.lock', lock)
}

/** Rights have no default. */
const rights = (access: number): number => access ?? Number.NaN

function checkRanges(ranges: readonly AdvisedRange[]): void {
  checkIterable('ranges', ranges, '{ address, length, key }')
  for (const range of ranges) {
    const { address, length, key } = (range ?? {}) as AdvisedRange
    checkWhole('ranges[].address', address, 0, Number.MAX_SAFE_INTEGER)
    checkWhole('ranges[].length', length, 0, Number.MAX_SAFE_INTEGER)
    checkWhole('ranges[].key', key, 0, 0xffffffff)
  }
}
