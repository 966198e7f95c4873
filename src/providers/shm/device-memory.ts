import { Errno, VerbsError } from '../errors.ts'
import type { ProviderDeviceMemory } from '../memory-contract.ts'
import { checkDeviceAllocation, checkDeviceCopy, checkDevicePart } from '../soft/device-memory-rules.ts'
import type { ShmDevice } from './device.ts'
import { allocateBacking, type Backing, releaseBacking, zeroBasedBacking } from './memory-backing.ts'
import type { ShmMemoryRegion } from './memory-region.ts'

/** Memory "of the device": a memory object whose bytes the program cannot see. */
export class ShmDeviceMemory implements ProviderDeviceMemory {
  readonly length: number
  readonly regions: Set<ShmMemoryRegion> = new Set<ShmMemoryRegion>()
  readonly #device: ShmDevice
  readonly #backing: Backing

  constructor(device: ShmDevice, lengthBytes: number, alignmentExponent: number) {
    let taken = 0
    for (const memory of device.deviceMemories) taken += memory.length
    checkDeviceAllocation(lengthBytes, alignmentExponent, taken)
    this.#device = device
    this.length = lengthBytes
    this.#backing = allocateBacking('ibv_alloc_dm', lengthBytes, {})
    device.deviceMemories.add(this)
  }

  copyTo(offset: number, bytes: Uint8Array): void {
    checkDeviceCopy('ibv_memcpy_to_dm', offset, bytes.length, this.length)
    this.#backing.bytes.set(bytes, offset)
  }

  copyFrom(offset: number, bytes: Uint8Array): void {
    checkDeviceCopy('ibv_memcpy_from_dm', offset, bytes.length, this.length)
    bytes.set(this.#backing.bytes.subarray(offset, offset + bytes.length))
  }

  /** The backing of a region over a part of it. */
  part(offset: number, length: number): Backing {
    checkDevicePart(offset, length, this.length)
    const { bytes, origin } = this.#backing
    const { descriptor } = origin as { readonly descriptor: number }
    return zeroBasedBacking(bytes.subarray(offset, offset + length), { descriptor, offsetBytes: offset }, false)
  }

  destroy(): void {
    const used = [...this.regions].filter((region) => region.domain.memories.has(region)).length
    if (used > 0) throw new VerbsError('ibv_free_dm', Errno.EBUSY, `still registered by ${used} memory regions`)
    releaseBacking(this.#backing)
    this.#device.deviceMemories.delete(this)
  }
}
