import type { VerbsToken } from '../../native/index.ts'
import type {
  AllocateOptions,
  BufferOrigin,
  ProviderMemoryRegion,
  ProviderProtectionDomain,
  ProviderQueuePair,
  ProviderQueuePairOptions,
} from '../contract.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { IbverbsDevice } from './device.ts'
import { allocateBytes, checkAccess, IbverbsMemoryRegion } from './memory-region.ts'
import { IbverbsQueuePair } from './queue-pair.ts'
import { check } from './verb.ts'

/** ibv_alloc_pd(3). */
export class IbverbsProtectionDomain implements ProviderProtectionDomain {
  readonly device: IbverbsDevice
  readonly handle: VerbsToken
  readonly memories: Set<IbverbsMemoryRegion> = new Set<IbverbsMemoryRegion>()
  readonly queuePairs: Set<IbverbsQueuePair> = new Set<IbverbsQueuePair>()

  constructor(device: IbverbsDevice, handle: VerbsToken) {
    this.device = device
    this.handle = handle
  }

  allocate(lengthBytes: number, access: number, options: AllocateOptions): ProviderMemoryRegion {
    checkAccess(access)
    const owned = allocateBytes(lengthBytes, options)
    try {
      return this.#add(new IbverbsMemoryRegion(this, owned.bytes, access, owned))
    } catch (error) {
      owned.free()
      throw error
    }
  }

  /** `origin` is not needed: the pages are pinned, whatever they are of. */
  register(buffer: Uint8Array, access: number, _origin: BufferOrigin | undefined): ProviderMemoryRegion {
    checkAccess(access)
    return this.#add(new IbverbsMemoryRegion(this, buffer, access, undefined))
  }

  createQueuePair(options: ProviderQueuePairOptions): ProviderQueuePair {
    const pair = new IbverbsQueuePair(this, options)
    this.queuePairs.add(pair)
    return pair
  }

  destroy(): void {
    if (this.queuePairs.size + this.memories.size > 0) {
      const numbers = [...this.queuePairs].map((pair) => pair.number).join(', ')
      throw new VerbsError(
        'ibv_dealloc_pd',
        Errno.EBUSY,
        `still in use by ${this.memories.size} memory regions and queue pairs [${numbers}]`,
      )
    }
    check('ibv_dealloc_pd', this.device.verbs.destroy(this.handle), () => 'the domain is in use')
    this.device.domains.delete(this)
  }

  #add(region: IbverbsMemoryRegion): IbverbsMemoryRegion {
    this.memories.add(region)
    return region
  }
}
