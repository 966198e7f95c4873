import { Access } from '../access.ts'
import type { AddressVector, ProviderAddressHandle } from '../address.ts'
import type { ProviderMemoryRegion, ProviderProtectionDomain } from '../contract.ts'
import { Errno, VerbsError } from '../errors.ts'
import {
  Advice,
  type AdvisedRange,
  type AllocateOptions,
  type MemoryWindowType,
  type ProviderDeviceMemory,
  type ProviderIndirectKey,
  type ProviderMemoryWindow,
  type ProviderThreadDomain,
} from '../memory-contract.ts'
import { makeSoon, type ProviderPending } from '../pending.ts'
import type { ProviderQueuePair, ProviderQueuePairOptions } from '../queue-pair-contract.ts'
import type { ProviderSharedReceiveQueue, ProviderSharedReceiveQueueOptions } from '../shared-receive-queue.ts'
import { checkAdvice, refuseAdvice } from '../soft/advice.ts'
import { checkAccess } from '../soft/memory-access.ts'
import type { OwnThreadDomain } from '../soft/own-thread-domain.ts'
import { checkWindowType } from '../soft/window-rules.ts'
import type { ProviderXrcDomain } from '../xrc-domain.ts'
import { SimAddressHandle } from './address-handle.ts'
import type { AddressSpace } from './address-space.ts'
import type { SimDeviceMemory } from './device-memory.ts'
import { SimIndirectKey } from './indirect-key.ts'
import type { MemoryBlock } from './memory-block.ts'
import { type Backing, type RegionDevice, SimMemoryRegion } from './memory-region.ts'
import { SimMemoryWindow } from './memory-window.ts'
import { OpenedPair } from './opened-pair.ts'
import { type PairDevice, SimQueuePair } from './queue-pair.ts'
import { SimSharedReceiveQueue } from './shared-receive-queue.ts'
import type { SimXrcDomain } from './xrc-domain.ts'

/** More than any process has. */
const WHOLE_PROCESS_BYTES: number = 2 ** 47

/** A device with its protection domains. */
interface DomainDevice extends PairDevice, RegionDevice {
  readonly space: AddressSpace
  readonly domains: Set<SimProtectionDomain>
  /** The memory whose offsets are this device's physical addresses. EPERM if the program did not ask for any. */
  physicalMemory(): MemoryBlock
}

/** A protection domain: an id that keys and queue pairs must share. */
export class SimProtectionDomain implements ProviderProtectionDomain {
  readonly device: DomainDevice
  readonly id: number
  readonly memories: Set<SimMemoryRegion> = new Set<SimMemoryRegion>()
  readonly windows: Set<SimMemoryWindow> = new Set<SimMemoryWindow>()
  readonly indirectKeys: Set<SimIndirectKey> = new Set<SimIndirectKey>()
  readonly queuePairs: Set<SimQueuePair> = new Set<SimQueuePair>()
  readonly sharedReceiveQueues: Set<SimSharedReceiveQueue> = new Set<SimSharedReceiveQueue>()
  readonly addressHandles: Set<SimAddressHandle> = new Set<SimAddressHandle>()
  /** Domains that share this one's id. */
  readonly parents: Set<SimProtectionDomain> = new Set<SimProtectionDomain>()
  readonly #base: SimProtectionDomain | undefined
  readonly #threadDomain: OwnThreadDomain | undefined

  constructor(device: DomainDevice, id: number, base?: SimProtectionDomain, threadDomain?: OwnThreadDomain) {
    this.device = device
    this.id = id
    this.#base = base
    this.#threadDomain = threadDomain
    threadDomain?.users.add(this)
  }

  /** The size of pages makes no difference here. */
  allocate(lengthBytes: number, access: number, _options: AllocateOptions): ProviderMemoryRegion {
    checkAccess('ibv_reg_mr', access)
    const block = this.device.space.allocate(lengthBytes)
    return this.#add({ block, offset: 0, length: lengthBytes, zeroBased: false, owned: true }, access)
  }

  register(buffer: Uint8Array, access: number): ProviderMemoryRegion {
    checkAccess('ibv_reg_mr', access)
    return this.#add(this.device.backingOf(buffer), access)
  }

  allocateAsync(lengthBytes: number, access: number, options: AllocateOptions): ProviderPending<ProviderMemoryRegion> {
    return makeSoon('ibv_reg_mr', () => this.allocate(lengthBytes, access, options))
  }

  registerAsync(buffer: Uint8Array, access: number): ProviderPending<ProviderMemoryRegion> {
    return makeSoon('ibv_reg_mr', () => this.register(buffer, access))
  }

  registerDeviceMemory(
    memory: ProviderDeviceMemory,
    offset: number,
    length: number,
    access: number,
  ): ProviderMemoryRegion {
    checkAccess('ibv_reg_dm_mr', access)
    const owner = memory as SimDeviceMemory
    const region = this.#add(owner.part(offset, length), access)
    owner.regions.add(region)
    return region
  }

  registerImplicit(access: number): ProviderMemoryRegion {
    checkAccess('ibv_reg_mr', access)
    const backing = { block: undefined, offset: 0, length: WHOLE_PROCESS_BYTES, zeroBased: false, owned: false }
    return this.#add(backing, access | Access.OnDemand)
  }

  registerPhysical(access: number): ProviderMemoryRegion {
    checkAccess('ibv_exp_reg_mr', access)
    const block = this.device.physicalMemory()
    return this.#add({ block, offset: 0, length: block.bytes.length, zeroBased: true, owned: false }, access)
  }

  advise(advice: Advice, _flush: boolean, ranges: readonly AdvisedRange[]): void {
    for (const range of ranges) this.#advise(advice, range)
  }

  createMemoryWindow(type: MemoryWindowType): ProviderMemoryWindow {
    checkWindowType(type)
    const window = new SimMemoryWindow(this, type)
    this.windows.add(window)
    return window
  }

  createIndirectKey(maxPieces: number): ProviderIndirectKey {
    const key = new SimIndirectKey(this, maxPieces)
    this.indirectKeys.add(key)
    return key
  }

  createParentDomain(threadDomain: ProviderThreadDomain | undefined): ProviderProtectionDomain {
    const parent = new SimProtectionDomain(this.device, this.id, this, threadDomain as OwnThreadDomain | undefined)
    this.parents.add(parent)
    return parent
  }

  createQueuePair(options: ProviderQueuePairOptions): ProviderQueuePair {
    const pair = new SimQueuePair(this, options)
    this.queuePairs.add(pair)
    return pair
  }

  openQueuePair(domain: ProviderXrcDomain, number: number): ProviderQueuePair {
    return new OpenedPair(domain as SimXrcDomain, number)
  }

  createSharedReceiveQueue(options: ProviderSharedReceiveQueueOptions): ProviderSharedReceiveQueue {
    const queue = new SimSharedReceiveQueue(this, options)
    this.sharedReceiveQueues.add(queue)
    return queue
  }

  createAddressHandle(vector: AddressVector): ProviderAddressHandle {
    const handle = new SimAddressHandle(this, vector)
    this.addressHandles.add(handle)
    return handle
  }

  destroy(): void {
    const { memories, windows, indirectKeys, parents, addressHandles, sharedReceiveQueues, queuePairs } = this
    const counts: readonly [string, number][] = [
      ['memory regions', memories.size],
      ['memory windows', windows.size],
      ['indirect keys', indirectKeys.size],
      ['parent domains', parents.size],
      ['address handles', addressHandles.size],
      ['shared receive queues', sharedReceiveQueues.size],
      ['queue pairs', queuePairs.size],
    ]
    const used = counts.filter(([, count]) => count > 0).map(([what, count]) => `${count} ${what}`)
    if (used.length > 0) throw new VerbsError('ibv_dealloc_pd', Errno.EBUSY, `still in use by ${used.join(', ')}`)
    this.#threadDomain?.users.delete(this)
    const siblings = this.#base === undefined ? this.device.domains : this.#base.parents
    siblings.delete(this)
  }

  #advise(advice: Advice, range: AdvisedRange): void {
    const entry = this.device.keys.find(range.key)
    const region = entry?.kind === 'region' ? entry : undefined
    checkAdvice(region, this.id, advice, range)
    if (range.length === 0 || advice === Advice.PrefetchNoFault || region.block !== undefined) return
    if (this.device.space.find(range.address, range.length) === undefined)
      refuseAdvice(Errno.EFAULT, `this process has no memory at ${range.address}`)
  }

  #add(backing: Backing, access: number): SimMemoryRegion {
    const region = new SimMemoryRegion(this, backing, access)
    this.memories.add(region)
    return region
  }
}
