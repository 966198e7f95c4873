import { Errno, VerbsError } from '../errors.ts'
import type { ProviderDeviceMemory } from '../memory-contract.ts'
import { checkDeviceAllocation, checkDeviceCopy, checkDevicePart } from '../soft/device-memory-rules.ts'
import { MemoryBlock } from './memory-block.ts'
import type { Backing, SimMemoryRegion } from './memory-region.ts'

/** A device with its pieces of memory. */
interface DeviceMemories {
  readonly deviceMemories: Set<SimDeviceMemory>
}

/** Memory on the device: it has no address in the process, and no program touches it. */
export class SimDeviceMemory implements ProviderDeviceMemory {
  readonly length: number
  readonly regions: Set<SimMemoryRegion> = new Set<SimMemoryRegion>()
  readonly #device: DeviceMemories
  readonly #block: MemoryBlock

  constructor(device: DeviceMemories, lengthBytes: number, alignmentExponent: number) {
    let taken = 0
    for (const memory of device.deviceMemories) taken += memory.length
    checkDeviceAllocation(lengthBytes, alignmentExponent, taken)
    this.#device = device
    this.length = lengthBytes
    this.#block = new MemoryBlock(new Uint8Array(lengthBytes), 0)
    device.deviceMemories.add(this)
  }

  copyTo(offset: number, bytes: Uint8Array): void {
    checkDeviceCopy('ibv_memcpy_to_dm', offset, bytes.length, this.length)
    this.#block.bytes.set(bytes, offset)
  }

  copyFrom(offset: number, bytes: Uint8Array): void {
    checkDeviceCopy('ibv_memcpy_from_dm', offset, bytes.length, this.length)
    bytes.set(this.#block.bytes.subarray(offset, offset + bytes.length))
  }

  /** The backing of a region over a part of it. */
  part(offset: number, length: number): Backing {
    checkDevicePart(offset, length, this.length)
    return { block: this.#block, offset, length, zeroBased: true, owned: false }
  }

  destroy(): void {
    const used = [...this.regions].filter((region) => region.domain.memories.has(region)).length
    if (used > 0) throw new VerbsError('ibv_free_dm', Errno.EBUSY, `still registered by ${used} memory regions`)
    this.#device.deviceMemories.delete(this)
  }
}
