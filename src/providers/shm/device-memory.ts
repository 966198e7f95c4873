import { Errno, VerbsError } from '../errors.ts'
import type { ProviderDeviceMemory } from '../memory-contract.ts'
import type { ShmDevice } from './device.ts'
import { DEVICE_MEMORY_BYTES, PAGE_BYTES } from './layout.ts'
import { allocateBacking, type Backing, releaseBacking, zeroBasedBacking } from './memory-backing.ts'
import type { ShmMemoryRegion } from './memory-region.ts'

/** Memory "of the device": a memory object whose bytes the program is not shown. */
export class ShmDeviceMemory implements ProviderDeviceMemory {
  readonly length: number
  readonly regions: Set<ShmMemoryRegion> = new Set<ShmMemoryRegion>()
  readonly #device: ShmDevice
  readonly #backing: Backing

  constructor(device: ShmDevice, lengthBytes: number, alignmentExponent: number) {
    if (2 ** alignmentExponent > PAGE_BYTES)
      throw new VerbsError('ibv_alloc_dm', Errno.EINVAL, `the device aligns to ${PAGE_BYTES} bytes at most`)
    let taken = 0
    for (const memory of device.deviceMemories) taken += memory.length
    if (taken + lengthBytes > DEVICE_MEMORY_BYTES) {
      const left = DEVICE_MEMORY_BYTES - taken
      throw new VerbsError('ibv_alloc_dm', Errno.ENOMEM, `${left} bytes of the device's memory are left`)
    }
    this.#device = device
    this.length = lengthBytes
    this.#backing = allocateBacking('ibv_alloc_dm', lengthBytes, {})
    device.deviceMemories.add(this)
  }

  copyTo(offset: number, bytes: Uint8Array): void {
    this.#check('ibv_memcpy_to_dm', offset, bytes.length)
    this.#backing.bytes.set(bytes, offset)
  }

  copyFrom(offset: number, bytes: Uint8Array): void {
    this.#check('ibv_memcpy_from_dm', offset, bytes.length)
    bytes.set(this.#backing.bytes.subarray(offset, offset + bytes.length))
  }

  /** What a region over a part of it rests on. */
  part(offset: number, length: number): Backing {
    if (!(Number.isSafeInteger(offset) && length >= 1 && offset >= 0 && offset + length <= this.length)) {
      const range = `[${offset}, ${offset + length})`
      throw new VerbsError('ibv_reg_dm_mr', Errno.EINVAL, `${range} is not within the ${this.length} bytes there are`)
    }
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

  #check(verb: string, offset: number, length: number): void {
    if (offset % 4 !== 0 || length % 4 !== 0)
      throw new VerbsError(verb, Errno.EINVAL, `offset ${offset} and length ${length} must be multiples of 4`)
    if (!(offset >= 0 && offset + length <= this.length))
      throw new VerbsError(verb, Errno.EFAULT, `${length} bytes at ${offset} are beyond the ${this.length} there are`)
  }
}
