import { UnsupportedError } from '../../native/index.ts'
import { Access } from '../access.ts'
import type { AddressVector, ProviderAddressHandle } from '../address.ts'
import type { ProviderMemoryRegion, ProviderProtectionDomain } from '../contract.ts'
import { Errno, VerbsError } from '../errors.ts'
import type {
  Advice,
  AdvisedRange,
  AllocateOptions,
  BufferOrigin,
  MemoryWindowType,
  ProviderDeviceMemory,
  ProviderIndirectKey,
  ProviderMemoryWindow,
  ProviderThreadDomain,
} from '../memory-contract.ts'
import { makeSoon, type ProviderPending } from '../pending.ts'
import type { ProviderQueuePair, ProviderQueuePairOptions } from '../queue-pair-contract.ts'
import type { ProviderSharedReceiveQueue, ProviderSharedReceiveQueueOptions } from '../shared-receive-queue.ts'
import { checkAccess } from '../soft/memory-access.ts'
import type { OwnThreadDomain } from '../soft/own-thread-domain.ts'
import { checkWindowType } from '../soft/window-rules.ts'
import type { ProviderXrcDomain } from '../xrc-domain.ts'
import { ShmAddressHandle } from './address-handle.ts'
import type { ShmDevice } from './device.ts'
import type { ShmDeviceMemory } from './device-memory.ts'
import { ShmIndirectKey } from './indirect-key.ts'
import {
  allocateBacking,
  type Backing,
  registeredBacking,
  wholeProcessBacking,
  zeroBasedBacking,
} from './memory-backing.ts'
import { ShmMemoryRegion } from './memory-region.ts'
import { ShmMemoryWindow } from './memory-window.ts'
import { OpenedBlock } from './opened-block.ts'
import { prefetch } from './prefetch.ts'
import { ShmQueuePair } from './queue-pair.ts'
import { ShmSharedReceiveQueue } from './shared-receive-queue.ts'
import type { ShmXrcDomain } from './xrc-domain.ts'

/** A protection domain: an id that keys and queue pairs must share. */
export class ShmProtectionDomain implements ProviderProtectionDomain {
  readonly device: ShmDevice
  readonly id: number
  readonly memories: Set<ShmMemoryRegion> = new Set<ShmMemoryRegion>()
  readonly openedPairs: Set<OpenedBlock> = new Set<OpenedBlock>()
  readonly sharedReceiveQueues: Set<ShmSharedReceiveQueue> = new Set<ShmSharedReceiveQueue>()
  readonly addressHandles: Set<ShmAddressHandle> = new Set<ShmAddressHandle>()
  readonly queuePairs: Set<ShmQueuePair> = new Set<ShmQueuePair>()
  readonly windows: Set<ShmMemoryWindow> = new Set<ShmMemoryWindow>()
  readonly indirectKeys: Set<ShmIndirectKey> = new Set<ShmIndirectKey>()

  /** Domains that share this one's id. */
  readonly parents: Set<ShmProtectionDomain> = new Set<ShmProtectionDomain>()
  readonly #base: ShmProtectionDomain | undefined
  readonly #threadDomain: OwnThreadDomain | undefined

  constructor(device: ShmDevice, id: number, base?: ShmProtectionDomain, threadDomain?: OwnThreadDomain) {
    this.device = device
    this.id = id
    this.#base = base
    this.#threadDomain = threadDomain
    threadDomain?.users.add(this)
  }

  allocate(lengthBytes: number, access: number, options: AllocateOptions): ProviderMemoryRegion {
    checkAccess('ibv_reg_mr', access)
    return this.#add(allocateBacking('ibv_reg_mr', lengthBytes, options), access)
  }

  register(buffer: Uint8Array, access: number, origin: BufferOrigin | undefined): ProviderMemoryRegion {
    checkAccess('ibv_reg_mr', access)
    return this.#add(registeredBacking(this.device, buffer, access, origin), access)
  }

  allocateAsync(lengthBytes: number, access: number, options: AllocateOptions): ProviderPending<ProviderMemoryRegion> {
    return makeSoon('ibv_reg_mr', () => this.allocate(lengthBytes, access, options))
  }

  registerAsync(
    buffer: Uint8Array,
    access: number,
    origin: BufferOrigin | undefined,
  ): ProviderPending<ProviderMemoryRegion> {
    return makeSoon('ibv_reg_mr', () => this.register(buffer, access, origin))
  }

  registerDeviceMemory(
    memory: ProviderDeviceMemory,
    offset: number,
    length: number,
    access: number,
  ): ProviderMemoryRegion {
    checkAccess('ibv_reg_dm_mr', access)
    const owner = memory as ShmDeviceMemory
    const region = this.#add(owner.part(offset, length), access)
    owner.regions.add(region)
    return region
  }

  registerImplicit(access: number): ProviderMemoryRegion {
    checkAccess('ibv_reg_mr', access)
    if ((access & Access.RemoteAtomic) !== 0)
      throw new UnsupportedError(
        'ibv_reg_mr: remote atomics need memory that peers can map, and peers cannot map a whole address space',
      )
    this.device.requireProcessCopy('ibv_reg_mr')
    return this.#add(wholeProcessBacking(), access | Access.OnDemand)
  }

  registerPhysical(access: number): ProviderMemoryRegion {
    checkAccess('ibv_exp_reg_mr', access)
    const { bytes, origin } = this.device.physicalMemory()
    return this.#add(zeroBasedBacking(bytes, origin, true), access)
  }

  advise(advice: Advice, _flush: boolean, ranges: readonly AdvisedRange[]): void {
    for (const range of ranges) prefetch(this.device.keys, this.id, advice, range)
  }

  createMemoryWindow(type: MemoryWindowType): ProviderMemoryWindow {
    checkWindowType(type)
    const window = new ShmMemoryWindow(this, type)
    this.windows.add(window)
    return window
  }

  createIndirectKey(maxPieces: number): ProviderIndirectKey {
    const key = new ShmIndirectKey(this, maxPieces)
    this.indirectKeys.add(key)
    return key
  }

  createQueuePair(options: ProviderQueuePairOptions): ProviderQueuePair {
    const pair = new ShmQueuePair(this, options)
    this.queuePairs.add(pair)
    return pair
  }

  /** A parent domain behaves like its base: one thread uses all its objects anyway. */
  createParentDomain(threadDomain: ProviderThreadDomain | undefined): ProviderProtectionDomain {
    const parent = new ShmProtectionDomain(this.device, this.id, this, threadDomain as OwnThreadDomain | undefined)
    this.parents.add(parent)
    return parent
  }

  openQueuePair(domain: ProviderXrcDomain, number: number): ProviderQueuePair {
    return new OpenedBlock(this.device, domain as ShmXrcDomain, number, this.openedPairs)
  }

  createSharedReceiveQueue(options: ProviderSharedReceiveQueueOptions): ProviderSharedReceiveQueue {
    const queue = new ShmSharedReceiveQueue(this, options)
    this.sharedReceiveQueues.add(queue)
    return queue
  }

  createAddressHandle(vector: AddressVector): ProviderAddressHandle {
    const handle = new ShmAddressHandle(this, vector, this.device.nextAddressHandle())
    this.device.addressHandles.set(handle.token, handle)
    this.addressHandles.add(handle)
    return handle
  }

  destroy(): void {
    const { memories, windows, indirectKeys, parents, addressHandles, sharedReceiveQueues, queuePairs } = this
    const users =
      queuePairs.size +
      memories.size +
      windows.size +
      indirectKeys.size +
      parents.size +
      addressHandles.size +
      sharedReceiveQueues.size
    if (users > 0) {
      const numbers = [...queuePairs].map((pair) => pair.number).join(', ')
      const memory = `${memories.size} memory regions, ${windows.size} windows, ${indirectKeys.size} indirect keys`
      const what = `${memory}, ${parents.size} parent domains, ${addressHandles.size} address handles, ${sharedReceiveQueues.size} shared receive queues and queue pairs [${numbers}]`
      throw new VerbsError('ibv_dealloc_pd', Errno.EBUSY, `still in use by ${what}`)
    }
    this.#threadDomain?.users.delete(this)
    const siblings = this.#base === undefined ? this.device.domains : this.#base.parents
    siblings.delete(this)
  }

  #add(backing: Backing, access: number): ShmMemoryRegion {
    const region = new ShmMemoryRegion(this, backing, access)
    this.memories.add(region)
    return region
  }
}
