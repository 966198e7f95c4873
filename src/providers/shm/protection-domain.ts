import type {
  AllocateOptions,
  BufferOrigin,
  ProviderMemoryRegion,
  ProviderProtectionDomain,
  ProviderQueuePair,
  ProviderQueuePairOptions,
} from '../contract.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { ShmDevice } from './device.ts'
import { allocateBacking, checkAccess, registeredBacking, ShmMemoryRegion } from './memory-region.ts'
import { ShmQueuePair } from './queue-pair.ts'

/** A protection domain: an id that keys and queue pairs must share. */
export class ShmProtectionDomain implements ProviderProtectionDomain {
  readonly device: ShmDevice
  readonly id: number
  readonly memories: Set<ShmMemoryRegion> = new Set<ShmMemoryRegion>()
  readonly queuePairs: Set<ShmQueuePair> = new Set<ShmQueuePair>()

  constructor(device: ShmDevice, id: number) {
    this.device = device
    this.id = id
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

  destroy(): void {
    if (this.queuePairs.size + this.memories.size > 0) {
      const numbers = [...this.queuePairs].map((pair) => pair.number).join(', ')
      throw new VerbsError(
        'ibv_dealloc_pd',
        Errno.EBUSY,
        `still in use by ${this.memories.size} memory regions and queue pairs [${numbers}]`,
      )
    }
    this.device.domains.delete(this)
  }

  #add(region: ShmMemoryRegion): ShmMemoryRegion {
    this.memories.add(region)
    return region
  }
}
