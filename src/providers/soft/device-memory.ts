import { Errno, VerbsError } from '../errors.ts'
import type { ProviderDeviceMemory } from '../memory-contract.ts'
import type { Backing, Backings } from './backings.ts'
import { DEVICE_MEMORY_BYTES } from './limits.ts'
import type { SoftMemoryRegion } from './memory-region.ts'

const PAGE_BYTES = 4096

/** A device with its pieces of memory. */
interface DeviceMemories {
  readonly backings: Backings
  readonly deviceMemories: Set<SoftDeviceMemory>
}

/** Memory "of the device". */
export class SoftDeviceMemory implements ProviderDeviceMemory {
  readonly length: number
  readonly regions: Set<SoftMemoryRegion> = new Set<SoftMemoryRegion>()
  readonly #device: DeviceMemories
  readonly #backing: Backing

  constructor(device: DeviceMemories, lengthBytes: number, alignmentExponent: number) {
    let taken = 0
    for (const memory of device.deviceMemories) taken += memory.length
    checkDeviceAllocation(lengthBytes, alignmentExponent, taken)
    this.#device = device
    this.length = lengthBytes
    this.#backing = device.backings.allocateOnDevice(lengthBytes)
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
    return this.#device.backings.part(this.#backing, offset, length)
  }

  destroy(): void {
    const used = [...this.regions].filter((region) => region.domain.memories.has(region)).length
    if (used > 0) throw new VerbsError('ibv_free_dm', Errno.EBUSY, `still registered by ${used} memory regions`)
    this.#device.backings.release(this.#backing)
    this.#device.deviceMemories.delete(this)
  }
}

/** ENOMEM if too little memory is left, EINVAL if the device cannot align to that. */
function checkDeviceAllocation(lengthBytes: number, alignmentExponent: number, takenBytes: number): void {
  if (2 ** alignmentExponent > PAGE_BYTES)
    throw new VerbsError('ibv_alloc_dm', Errno.EINVAL, `the device aligns to ${PAGE_BYTES} bytes at most`)
  if (takenBytes + lengthBytes <= DEVICE_MEMORY_BYTES) return
  const left = DEVICE_MEMORY_BYTES - takenBytes
  throw new VerbsError('ibv_alloc_dm', Errno.ENOMEM, `only ${left} bytes of the device's memory are left`)
}

/** EINVAL if an offset or length is not a multiple of four, EFAULT beyond the end. */
function checkDeviceCopy(verb: string, offset: number, length: number, available: number): void {
  if (offset % 4 !== 0 || length % 4 !== 0)
    throw new VerbsError(verb, Errno.EINVAL, `offset ${offset} and length ${length} must be multiples of 4`)
  if (!(offset >= 0 && offset + length <= available))
    throw new VerbsError(
      verb,
      Errno.EFAULT,
      `${length} bytes at ${offset} are beyond the end of the ${available} bytes of device memory`,
    )
}

/** EINVAL if that part is not within the memory. */
function checkDevicePart(offset: number, length: number, available: number): void {
  if (Number.isSafeInteger(offset) && length >= 1 && offset >= 0 && offset + length <= available) return
  const range = `[${offset}, ${offset + length})`
  throw new VerbsError('ibv_reg_dm_mr', Errno.EINVAL, `${range} is not within the ${available} bytes of device memory`)
}
