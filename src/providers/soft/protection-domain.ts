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
import type { ProviderXrcDomain } from '../xrc-domain.ts'
import type { Backing, Backings } from './backings.ts'
import type { SoftDeviceMemory } from './device-memory.ts'
import { type PieceRoom, SoftIndirectKey } from './indirect-key.ts'
import { checkAccess } from './memory-access.ts'
import type { MemoryDevice } from './memory-operations.ts'
import { SoftMemoryRegion } from './memory-region.ts'
import { SoftMemoryWindow } from './memory-window.ts'
import type { OwnThreadDomain } from './own-thread-domain.ts'
import { checkWindowType } from './window-rules.ts'

/** A device, and what its medium makes in a domain. */
export interface DomainDevice extends MemoryDevice {
  readonly backings: Backings
  readonly domains: Set<SoftProtectionDomain>
  makePieceRoom(maxPieces: number): PieceRoom
  peersOutside(pairNumber?: number): boolean
  awaitPeersOutside(verb: string, pairNumber?: number): void
  makeQueuePair(domain: SoftProtectionDomain, options: ProviderQueuePairOptions): ProviderQueuePair
  openQueuePair(domain: ProviderXrcDomain, number: number): ProviderQueuePair
  makeSharedReceiveQueue(
    domain: SoftProtectionDomain,
    options: ProviderSharedReceiveQueueOptions,
  ): ProviderSharedReceiveQueue
  makeAddressHandle(domain: SoftProtectionDomain, vector: AddressVector): ProviderAddressHandle
}

/** A protection domain: an id that keys and queue pairs must share. */
export class SoftProtectionDomain implements ProviderProtectionDomain {
  readonly device: DomainDevice
  readonly id: number
  readonly memories: Set<SoftMemoryRegion> = new Set<SoftMemoryRegion>()
  readonly sharedReceiveQueues: Set<ProviderSharedReceiveQueue> = new Set<ProviderSharedReceiveQueue>()
  readonly addressHandles: Set<ProviderAddressHandle> = new Set<ProviderAddressHandle>()
  readonly queuePairs: Set<ProviderQueuePair> = new Set<ProviderQueuePair>()
  readonly windows: Set<SoftMemoryWindow> = new Set<SoftMemoryWindow>()
  readonly indirectKeys: Set<SoftIndirectKey> = new Set<SoftIndirectKey>()

  /** Domains that share this one's id. */
  readonly parents: Set<SoftProtectionDomain> = new Set<SoftProtectionDomain>()
  readonly #base: SoftProtectionDomain | undefined
  readonly #threadDomain: OwnThreadDomain | undefined

  constructor(device: DomainDevice, id: number, base?: SoftProtectionDomain, threadDomain?: OwnThreadDomain) {
    this.device = device
    this.id = id
    this.#base = base
    this.#threadDomain = threadDomain
    threadDomain?.users.add(this)
  }

  allocate(lengthBytes: number, access: number, options: AllocateOptions): ProviderMemoryRegion {
    checkAccess('ibv_reg_mr', access)
    return this.#add(this.device.backings.allocate('ibv_reg_mr', lengthBytes, options), access)
  }

  register(buffer: Uint8Array, access: number, origin: BufferOrigin | undefined): ProviderMemoryRegion {
    checkAccess('ibv_reg_mr', access)
    return this.#add(this.device.backings.register(buffer, access, origin), access)
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
    const owner = memory as SoftDeviceMemory
    const region = this.#add(owner.part(offset, length), access)
    owner.regions.add(region)
    return region
  }

  registerImplicit(access: number): ProviderMemoryRegion {
    checkAccess('ibv_reg_mr', access)
    return this.#add(this.device.backings.wholeProcess(access), access | Access.OnDemand)
  }

  registerPhysical(access: number): ProviderMemoryRegion {
    checkAccess('ibv_exp_reg_mr', access)
    return this.#add(this.device.backings.physical(), access)
  }

  advise(advice: Advice, _flush: boolean, ranges: readonly AdvisedRange[]): void {
    for (const range of ranges) this.device.keys.advise(this.id, advice, range)
  }

  createMemoryWindow(type: MemoryWindowType): ProviderMemoryWindow {
    checkWindowType(type)
    const window = new SoftMemoryWindow(this, type)
    this.windows.add(window)
    return window
  }

  createIndirectKey(maxPieces: number): ProviderIndirectKey {
    const key = new SoftIndirectKey(this, maxPieces)
    this.indirectKeys.add(key)
    return key
  }

  createQueuePair(options: ProviderQueuePairOptions): ProviderQueuePair {
    const pair = this.device.makeQueuePair(this, options)
    this.queuePairs.add(pair)
    return pair
  }

  /** A parent domain behaves like its base: one thread uses all its objects anyway. */
  createParentDomain(threadDomain: ProviderThreadDomain | undefined): ProviderProtectionDomain {
    const parent = new SoftProtectionDomain(this.device, this.id, this, threadDomain as OwnThreadDomain | undefined)
    this.parents.add(parent)
    return parent
  }

  openQueuePair(domain: ProviderXrcDomain, number: number): ProviderQueuePair {
    return this.device.openQueuePair(domain, number)
  }

  createSharedReceiveQueue(options: ProviderSharedReceiveQueueOptions): ProviderSharedReceiveQueue {
    const queue = this.device.makeSharedReceiveQueue(this, options)
    this.sharedReceiveQueues.add(queue)
    return queue
  }

  createAddressHandle(vector: AddressVector): ProviderAddressHandle {
    const handle = this.device.makeAddressHandle(this, vector)
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

  #add(backing: Backing, access: number): SoftMemoryRegion {
    const region = new SoftMemoryRegion(this, backing, access)
    this.memories.add(region)
    return region
  }
}
