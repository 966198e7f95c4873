import { Errno, VerbsError } from './errors.ts'

/** Memory that a device made of software gives out as its own. */
export const DEVICE_MEMORY_BYTES: number = 1 << 20
const PAGE_BYTES = 4096

/** ENOMEM where so much is not left, EINVAL where it cannot be aligned so. */
export function checkDeviceAllocation(lengthBytes: number, alignmentExponent: number, takenBytes: number): void {
  if (2 ** alignmentExponent > PAGE_BYTES)
    throw new VerbsError('ibv_alloc_dm', Errno.EINVAL, `the device aligns to ${PAGE_BYTES} bytes at most`)
  if (takenBytes + lengthBytes <= DEVICE_MEMORY_BYTES) return
  const left = DEVICE_MEMORY_BYTES - takenBytes
  throw new VerbsError('ibv_alloc_dm', Errno.ENOMEM, `${left} bytes of the device's memory are left`)
}

/** EINVAL at no multiple of four, EFAULT beyond the end. */
export function checkDeviceCopy(verb: string, offset: number, length: number, available: number): void {
  if (offset % 4 !== 0 || length % 4 !== 0)
    throw new VerbsError(verb, Errno.EINVAL, `offset ${offset} and length ${length} must be multiples of 4`)
  if (!(offset >= 0 && offset + length <= available))
    throw new VerbsError(verb, Errno.EFAULT, `${length} bytes at ${offset} are beyond the ${available} there are`)
}

/** EINVAL where a region over that part is not within the memory. */
export function checkDevicePart(offset: number, length: number, available: number): void {
  if (Number.isSafeInteger(offset) && length >= 1 && offset >= 0 && offset + length <= available) return
  const range = `[${offset}, ${offset + length})`
  throw new VerbsError('ibv_reg_dm_mr', Errno.EINVAL, `${range} is not within the ${available} bytes there are`)
}
