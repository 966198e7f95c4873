import { UnsupportedError } from '../../native/index.ts'
import type { AddressVector, ProviderAddressHandle } from '../address.ts'
import type { ProviderProtectionDomain, ProviderQueuePair, ProviderQueuePairOptions } from '../contract.ts'
import { Errno, VerbsError } from '../errors.ts'
import type {
  AllocateOptions,
  BufferOrigin,
  ProviderIndirectKey,
  ProviderMemoryRegion,
  ProviderMemoryWindow,
  ProviderThreadDomain,
} from '../memory-contract.ts'
import type { ProviderSharedReceiveQueue } from '../shared-receive-queue.ts'
import { ShmAddressHandle } from './address-handle.ts'
import type { ShmDevice } from './device.ts'
import { allocateBacking, checkAccess, registeredBacking, ShmMemoryRegion } from './memory-region.ts'
import { ShmQueuePair } from './queue-pair.ts'
import type { ShmThreadDomain } from './thread-domain.ts'

/** A protection domain: an id that keys and queue pairs must share. */
export class ShmProtectionDomain implements ProviderProtectionDomain {
  readonly device: ShmDevice
  readonly id: number
  readonly memories: Set<ShmMemoryRegion> = new Set<ShmMemoryRegion>()
  readonly addressHandles: Set<ShmAddressHandle> = new Set<ShmAddressHandle>()
  readonly queuePairs: Set<ShmQueuePair> = new Set<ShmQueuePair>()

  /** Domains that share this one's id. */
  readonly parents: Set<ShmProtectionDomain> = new Set<ShmProtectionDomain>()
  readonly #base: ShmProtectionDomain | undefined
  readonly #threadDomain: ShmThreadDomain | undefined

  constructor(device: ShmDevice, id: number, base?: ShmProtectionDomain, threadDomain?: ShmThreadDomain) {
    this.device = device
    this.id = id
    this.#base = base
    this.#threadDomain = threadDomain
    threadDomain?.users.add(this)
  }

  allocate(lengthBytes: number, access: number, options: AllocateOptions): ProviderMemoryRegion {
    checkAccess(access)
    return this.#add(new ShmMemoryRegion(this, allocateBacking(lengthBytes, options), access))
  }

  register(buffer: Uint8Array, access: number, origin: BufferOrigin | undefined): ProviderMemoryRegion {
    checkAccess(access)
    return this.#add(new ShmMemoryRegion(this, registeredBacking(this.device, buffer, access, origin), access))
  }

  createQueuePair(options: ProviderQueuePairOptions): ProviderQueuePair {
    const pair = new ShmQueuePair(this, options)
    this.queuePairs.add(pair)
    return pair
  }

  registerDeviceMemory(): ProviderMemoryRegion {
    throw new UnsupportedError('ibv_reg_dm_mr: not on the shm device yet')
  }

  registerImplicit(): ProviderMemoryRegion {
    throw new UnsupportedError('ibv_reg_mr: no implicit on-demand paging on the shm device yet')
  }

  registerPhysical(): ProviderMemoryRegion {
    throw new UnsupportedError('ibv_exp_reg_mr: no physical memory on the shm device yet')
  }

  advise(): void {
    throw new UnsupportedError('ibv_advise_mr: not on the shm device yet')
  }

  createMemoryWindow(): ProviderMemoryWindow {
    throw new UnsupportedError('ibv_alloc_mw: not on the shm device yet')
  }

  createIndirectKey(): ProviderIndirectKey {
    throw new UnsupportedError('mlx5dv_create_mkey: not on the shm device yet')
  }

  /** It behaves as its base: one thread uses all that is made here anyway. */
  createParentDomain(threadDomain: ProviderThreadDomain | undefined): ProviderProtectionDomain {
    const parent = new ShmProtectionDomain(this.device, this.id, this, threadDomain as ShmThreadDomain | undefined)
    this.parents.add(parent)
    return parent
  }

  openQueuePair(): ProviderQueuePair {
    throw new UnsupportedError('ibv_open_qp: the shm device has no XRC queue pairs yet')
  }

  createSharedReceiveQueue(): ProviderSharedReceiveQueue {
    throw new UnsupportedError('ibv_create_srq: the shm device has no shared receive queues yet')
  }

  createAddressHandle(vector: AddressVector): ProviderAddressHandle {
    const handle = new ShmAddressHandle(this, vector, this.device.nextAddressHandle())
    this.device.addressHandles.set(handle.token, handle)
    this.addressHandles.add(handle)
    return handle
  }

  destroy(): void {
    if (this.queuePairs.size + this.memories.size + this.addressHandles.size + this.parents.size > 0) {
      const numbers = [...this.queuePairs].map((pair) => pair.number).join(', ')
      throw new VerbsError(
        'ibv_dealloc_pd',
        Errno.EBUSY,
        `still in use by ${this.memories.size} memory regions, ${this.parents.size} parent domains, ${this.addressHandles.size} address handles and queue pairs [${numbers}]`,
      )
    }
    this.#threadDomain?.users.delete(this)
    const siblings = this.#base === undefined ? this.device.domains : this.#base.parents
    siblings.delete(this)
  }

  #add(region: ShmMemoryRegion): ShmMemoryRegion {
    this.memories.add(region)
    return region
  }
}
