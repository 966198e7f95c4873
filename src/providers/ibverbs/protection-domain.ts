import type { VerbsToken } from '../../native/index.ts'
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
import type { ProviderPending } from '../pending.ts'
import type { ProviderQueuePair, ProviderQueuePairOptions } from '../queue-pair-contract.ts'
import type { ProviderSharedReceiveQueue, ProviderSharedReceiveQueueOptions } from '../shared-receive-queue.ts'
import type { ProviderXrcDomain } from '../xrc-domain.ts'
import { IbverbsAddressHandle } from './address-handle.ts'
import type { IbverbsDeviceMemory } from './device-memory.ts'
import { IbverbsIndirectKey } from './indirect-key.ts'
import { IbverbsMemoryRegion } from './memory-region.ts'
import { IbverbsMemoryWindow, type WindowDevice } from './memory-window.ts'
import { allocateAsync, registerAsync } from './pending-memory.ts'
import { IbverbsQueuePair, type PairDevice } from './queue-pair.ts'
import { IbverbsSharedReceiveQueue, type SharedReceiveDevice } from './shared-receive-queue.ts'
import type { IbverbsThreadDomain } from './thread-domain.ts'
import { attempt, check, isUnsupported } from './verb.ts'
import type { IbverbsXrcDomain } from './xrc-domain.ts'

const PHYSICAL_ELSEWHERE =
  'physical addresses can be registered only with the experimental verbs of MLNX_OFED 3 and 4; upstream the way to register everything is on-demand paging: registerImplicit'

/** A device with its protection domains. */
interface DomainDevice extends PairDevice, SharedReceiveDevice, WindowDevice {
  readonly windows: WindowDevice['windows']
  readonly domains: Set<IbverbsProtectionDomain>
}

/** ibv_alloc_pd(3), or a parent domain: ibv_alloc_parent_domain(3). */
export class IbverbsProtectionDomain implements ProviderProtectionDomain {
  readonly device: DomainDevice
  readonly handle: VerbsToken
  readonly memories: Set<IbverbsMemoryRegion> = new Set<IbverbsMemoryRegion>()
  readonly queuePairs: Set<IbverbsQueuePair> = new Set<IbverbsQueuePair>()
  readonly windows: Set<IbverbsMemoryWindow> = new Set<IbverbsMemoryWindow>()
  readonly addressHandles: Set<IbverbsAddressHandle> = new Set<IbverbsAddressHandle>()
  readonly sharedReceives: Set<IbverbsSharedReceiveQueue> = new Set<IbverbsSharedReceiveQueue>()
  readonly indirectKeys: Set<IbverbsIndirectKey> = new Set<IbverbsIndirectKey>()
  readonly #parents = new Set<IbverbsProtectionDomain>()
  readonly #base: IbverbsProtectionDomain | undefined

  constructor(device: DomainDevice, handle: VerbsToken, base: IbverbsProtectionDomain | undefined) {
    this.device = device
    this.handle = handle
    this.#base = base
    device.domains.add(this)
  }

  // ---- memory
  // ------------------------------------------------------------------------------------------------------------------

  keep(region: IbverbsMemoryRegion): IbverbsMemoryRegion {
    this.memories.add(region)
    return region
  }

  allocate(lengthBytes: number, access: number, options: AllocateOptions): ProviderMemoryRegion {
    return this.keep(IbverbsMemoryRegion.allocate(this, lengthBytes, access, options))
  }

  /** `origin` is not needed: the pages are pinned, whatever their origin. */
  register(buffer: Uint8Array, access: number, _origin: BufferOrigin | undefined): ProviderMemoryRegion {
    return this.keep(IbverbsMemoryRegion.register(this, buffer, access, undefined))
  }

  allocateAsync(lengthBytes: number, access: number, options: AllocateOptions): ProviderPending<ProviderMemoryRegion> {
    return allocateAsync(this, lengthBytes, access, options)
  }

  registerAsync(
    buffer: Uint8Array,
    access: number,
    _origin: BufferOrigin | undefined,
  ): ProviderPending<ProviderMemoryRegion> {
    return registerAsync(this, buffer, access)
  }

  registerDeviceMemory(
    memory: ProviderDeviceMemory,
    offset: number,
    length: number,
    access: number,
  ): ProviderMemoryRegion {
    const { handle } = memory as IbverbsDeviceMemory
    if (!(offset >= 0 && length > 0 && offset + length <= memory.length)) {
      throw new VerbsError(
        'ibv_reg_dm_mr',
        Errno.EINVAL,
        `${length} bytes from ${offset} on are not within ${memory.length}`,
      )
    }
    const facts = attempt(() => this.device.verbs.registerDeviceMemory(this.handle, handle, offset, length, access))
    return this.keep(IbverbsMemoryRegion.beyondReach(this, facts, length, access | Access.ZeroBased))
  }

  registerImplicit(access: number): ProviderMemoryRegion {
    const facts = attempt(() => this.device.verbs.registerImplicit(this.handle, access))
    return this.keep(IbverbsMemoryRegion.beyondReach(this, facts, Number.MAX_SAFE_INTEGER, access | Access.OnDemand))
  }

  /** The remote key gives access to all of the machine's memory, so the kernel asks for a privilege. */
  registerPhysical(access: number): ProviderMemoryRegion {
    const facts = attempt(
      () => this.device.verbs.registerPhysical(this.handle, access),
      (errno) => (isUnsupported(errno) ? PHYSICAL_ELSEWHERE : undefined),
    )
    return this.keep(IbverbsMemoryRegion.beyondReach(this, facts, Number.MAX_SAFE_INTEGER, access))
  }

  advise(advice: Advice, flush: boolean, ranges: readonly AdvisedRange[]): void {
    const words = Float64Array.from(ranges.flatMap(({ address, length, key }) => [address, length, key]))
    const errno = this.device.verbs.advise(this.handle, advice, flush, words)
    check('ibv_advise_mr', errno, () => 'the ranges are not of on-demand regions of this domain')
  }

  createMemoryWindow(type: MemoryWindowType): ProviderMemoryWindow {
    if (type !== 1 && type !== 2)
      throw new VerbsError('ibv_alloc_mw', Errno.EINVAL, `a memory window is of type 1 or 2, not ${String(type)}`)
    const window = new IbverbsMemoryWindow(this, type)
    this.windows.add(window)
    this.device.windows.set(window.token, window)
    return window
  }

  createIndirectKey(maxPieces: number): ProviderIndirectKey {
    const key = new IbverbsIndirectKey(this, maxPieces)
    this.indirectKeys.add(key)
    return key
  }

  // ---- queues
  // ------------------------------------------------------------------------------------------------------------------

  createParentDomain(threadDomain: ProviderThreadDomain | undefined): ProviderProtectionDomain {
    const thread = (threadDomain as IbverbsThreadDomain | undefined)?.handle ?? 0
    const handle = attempt(() => this.device.verbs.allocateParentDomain(this.handle, thread))
    const parent = new IbverbsProtectionDomain(this.device, handle, this)
    this.#parents.add(parent)
    return parent
  }

  createQueuePair(options: ProviderQueuePairOptions): ProviderQueuePair {
    const pair = IbverbsQueuePair.create(this, options)
    this.queuePairs.add(pair)
    return pair
  }

  openQueuePair(domain: ProviderXrcDomain, number: number): ProviderQueuePair {
    const pair = IbverbsQueuePair.open(this, domain as IbverbsXrcDomain, number)
    this.queuePairs.add(pair)
    return pair
  }

  createSharedReceiveQueue(options: ProviderSharedReceiveQueueOptions): ProviderSharedReceiveQueue {
    const shared = new IbverbsSharedReceiveQueue(this, options)
    this.sharedReceives.add(shared)
    this.device.sharedReceives.set(shared.handle, shared)
    return shared
  }

  createAddressHandle(vector: AddressVector): ProviderAddressHandle {
    const handle = new IbverbsAddressHandle(this, vector)
    this.addressHandles.add(handle)
    return handle
  }

  destroy(): void {
    const others =
      this.windows.size +
      this.addressHandles.size +
      this.sharedReceives.size +
      this.indirectKeys.size +
      this.#parents.size
    if (this.queuePairs.size + this.memories.size + others > 0) {
      const numbers = [...this.queuePairs].map((pair) => pair.number).join(', ')
      throw new VerbsError(
        'ibv_dealloc_pd',
        Errno.EBUSY,
        `still in use by ${this.memories.size} memory regions, queue pairs [${numbers}] and ${others} other objects`,
      )
    }
    check('ibv_dealloc_pd', this.device.verbs.destroy(this.handle), () => 'the domain is in use')
    if (this.#base !== undefined) this.#base.#parents.delete(this)
    this.device.domains.delete(this)
  }
}
