import { ArgumentError } from '../native/index.ts'
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
import type { Device } from './device.ts'
import type { DeviceMemory } from './device-memory.ts'
import { IndirectKey } from './indirect-key.ts'
import { Children, Closable } from './lifetime.ts'
import { MemoryRegion } from './memory-region.ts'
import { MemoryWindow } from './memory-window.ts'
import { PendingMemory } from './pending-memory.ts'
import { QueuePair, type QueuePairOptions } from './queue-pair.ts'
import { bytesOf, type Registrable } from './registrable.ts'
import type { OperationOptions } from './request-fields.ts'
import { SharedReceiveQueue, type SharedReceiveQueueOptions } from './shared-receive-queue.ts'
import type { ThreadDomain } from './thread-domain.ts'
import type { XrcDomain } from './xrc-domain.ts'

/**
 * Queue pairs and memory that may be used together: ibv_alloc_pd(3). Closing it closes them: windows, then queue pairs,
 * memory last.
 */
export class ProtectionDomain extends Closable {
  readonly label = 'protection domain'
  readonly device: Device
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
  /** The domain whose protection this one shares, where it was made by {@link createParentDomain}. */
  readonly base: ProtectionDomain | undefined

  readonly #pending: PendingMemory = new PendingMemory(this)

  /** @internal Made by {@link Device.createProtectionDomain}. */
  constructor(device: Device, provider: ProviderProtectionDomain, base?: ProtectionDomain) {
    super()
    this.device = device
    this.provider = provider
    this.base = base
  }

  /**
   * New zeroed memory that peers reach directly. `lengthBytes` may be any positive number.
   * Throws VerbsError ENOMEM when the machine does not have it, EINVAL for remote write or atomic rights without
   * LocalWrite.
   */
  allocate(lengthBytes: number, access: number, options: AllocateOptions = {}): MemoryRegion {
    this.assertOpen()
    checkLength(lengthBytes)
    return this.memories.add(new MemoryRegion(this, this.provider.allocate(lengthBytes, access, options)))
  }

  /**
   * Register an existing buffer: ibv_reg_mr(3). With `origin` it is a mapping of that memory object at that offset,
   * which peers map too; without, the shm provider reaches it by cross-process copy and remote atomics on it fail.
   */
  register(buffer: Registrable, access: number, origin?: BufferOrigin): MemoryRegion {
    this.assertOpen()
    return this.memories.add(new MemoryRegion(this, this.provider.register(bytesOf(buffer), access, origin)))
  }

  /**
   * {@link allocate} beside the event loop: a device takes and pins every page, which for a gibibyte is a good part of
   * a second. Rejects as `allocate` throws. When `signal` aborts, or this domain is closed, it rejects at once and the
   * memory is given back as soon as the device lets it; `close` waits for that.
   */
  async allocateAsync(
    lengthBytes: number,
    access: number,
    options: AllocateOptions & OperationOptions = {},
  ): Promise<MemoryRegion> {
    const { signal, ...rest } = options
    this.assertOpen()
    checkLength(lengthBytes)
    signal?.throwIfAborted()
    return await this.#pending.add(this.provider.allocateAsync(lengthBytes, access, rest), signal)
  }

  /**
   * {@link register} beside the event loop, with the rules of {@link allocateAsync}. The buffer must not be transferred
   * meanwhile.
   */
  async registerAsync(
    buffer: Registrable,
    access: number,
    options: { readonly origin?: BufferOrigin } & OperationOptions = {},
  ): Promise<MemoryRegion> {
    const { origin, signal } = options
    this.assertOpen()
    signal?.throwIfAborted()
    return await this.#pending.add(this.provider.registerAsync(bytesOf(buffer), access, origin), signal)
  }

  /**
   * Register a part of a device's own memory: ibv_reg_dm_mr(3). The region is zero-based: requests name its bytes from
   * 0 on. Throws VerbsError EINVAL beyond the end of `memory`.
   */
  registerDeviceMemory(
    memory: DeviceMemory,
    access: number,
    range: { readonly offset?: number; readonly length?: number } = {},
  ): MemoryRegion {
    this.assertOpen()
    memory.assertOpen()
    const { offset = 0, length = memory.length - offset } = range
    const provider = this.provider.registerDeviceMemory(memory.provider, offset, length, access | Access.ZeroBased)
    return this.memories.add(new MemoryRegion(this, provider))
  }

  /**
   * Implicit on-demand paging: one region over the whole address space of this process, whose pages are found when they
   * are used. Requests name addresses of the process. On shm the device must have been opened with `allowProcessCopy`,
   * and remote atomics are not there. Throws UnsupportedError where the device has no on-demand paging.
   */
  registerImplicit(access: number): MemoryRegion {
    this.assertOpen()
    return this.memories.add(new MemoryRegion(this, this.provider.registerImplicit(access)))
  }

  /**
   * A region over physical memory: requests name physical addresses, and whoever holds its remote key reaches all of
   * it. On shm that is what the device was opened with (`physicalBytes`), and `bytes` shows it; on a real device it
   * needs the verbs of MLNX_OFED 4. Elsewhere UnsupportedError: upstream's way is {@link registerImplicit}.
   */
  registerPhysical(access: number): MemoryRegion {
    this.assertOpen()
    return this.memories.add(new MemoryRegion(this, this.provider.registerPhysical(access)))
  }

  /**
   * ibv_advise_mr(3): have pages of on-demand regions ready before they are used; a hint, except that wrong ranges are
   * refused: VerbsError EFAULT for one outside of its region or of the process, EPERM for `write` without LocalWrite.
   * `flush` returns only when it is done.
   */
  advise(
    advice: 'prefetch' | 'prefetch-write' | 'prefetch-no-fault',
    ranges: readonly AdvisedRange[],
    options: { readonly flush?: boolean } = {},
  ): void {
    this.assertOpen()
    const number = {
      prefetch: Advice.Prefetch,
      'prefetch-write': Advice.PrefetchWrite,
      'prefetch-no-fault': Advice.PrefetchNoFault,
    }
    this.provider.advise(number[advice], options.flush === true, ranges)
  }

  /** ibv_alloc_mw(3): type 1, for every queue pair of the domain, or 2, for the one that binds it. */
  createMemoryWindow(type: MemoryWindowType): MemoryWindow {
    this.assertOpen()
    return this.windows.add(new MemoryWindow(this, this.provider.createMemoryWindow(type)))
  }

  /**
   * mlx5dv_create_mkey(3): a key for up to `maxPieces` pieces of other regions. UnsupportedError where the device has
   * none.
   */
  createIndirectKey(options: { readonly maxPieces: number }): IndirectKey {
    this.assertOpen()
    const { maxPieces } = options
    if (!Number.isInteger(maxPieces) || maxPieces < 1)
      throw new ArgumentError('maxPieces', `must be an integer of at least 1, not ${maxPieces}`)
    return this.indirectKeys.add(new IndirectKey(this, this.provider.createIndirectKey(maxPieces)))
  }

  /**
   * ibv_alloc_parent_domain(3): a domain that shares this one's protection, so what is made in either may be used
   * together, for the objects of one thread where a thread domain is given.
   */
  createParentDomain(threadDomain?: ThreadDomain): ProtectionDomain {
    this.assertOpen()
    threadDomain?.assertOpen()
    const provider = this.provider.createParentDomain(threadDomain?.provider)
    return this.parentDomains.add(new ProtectionDomain(this.device, provider, this))
  }

  /** ibv_create_qp(3). */
  createQueuePair(options: QueuePairOptions): QueuePair {
    this.assertOpen()
    return this.queuePairs.add(QueuePair.create(this, options))
  }

  /**
   * A further handle on an `xrc-receive` queue pair, perhaps of another process: ibv_open_qp(3). ENOENT where there is
   * none.
   */
  openQueuePair(xrcDomain: XrcDomain, number: number): QueuePair {
    this.assertOpen()
    xrcDomain.assertOpen()
    return this.queuePairs.add(QueuePair.open(this, this.provider.openQueuePair(xrcDomain.provider, number)))
  }

  /** ibv_create_srq(3); for XRC ibv_create_srq_ex(3). */
  createSharedReceiveQueue(options: SharedReceiveQueueOptions = {}): SharedReceiveQueue {
    this.assertOpen()
    return this.sharedReceiveQueues.add(SharedReceiveQueue.create(this, options))
  }

  /** ibv_create_ah(3). EINVAL where the vector cannot be used on this link layer. */
  createAddressHandle(vector: AddressVector): AddressHandle {
    this.assertOpen()
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

function checkLength(lengthBytes: number): void {
  if (!Number.isSafeInteger(lengthBytes) || lengthBytes < 1)
    throw new ArgumentError('lengthBytes', `memory needs a length of at least one byte, not ${lengthBytes}`)
}
