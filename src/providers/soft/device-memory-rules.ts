import { Errno, VerbsError } from '../errors.ts'

/** Memory that a software device provides as its own. */
export const DEVICE_MEMORY_BYTES: number = 1 << 20
const PAGE_BYTES = 4096

/** ENOMEM if too little memory is left, EINVAL if the device cannot align to that. */
export function checkDeviceAllocation(lengthBytes: number, alignmentExponent: number, takenBytes: number): void {
  if (2 ** alignmentExponent > PAGE_BYTES)
    throw new VerbsError('ibv_alloc_dm', Errno.EINVAL, `the device aligns to ${PAGE_BYTES} bytes at most`)
  if (takenBytes + lengthBytes <= DEVICE_MEMORY_BYTES) return
  const left = DEVICE_MEMORY_BYTES - takenBytes
  throw new VerbsError('ibv_alloc_dm', Errno.ENOMEM, `only ${left} bytes of the device's memory are left`)
}

/** EINVAL if an offset or length is not a multiple of four, EFAULT beyond the end. */
export function checkDeviceCopy(verb: string, offset: number, length: number, available: number): void {
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
export function checkDevicePart(offset: number, length: number, available: number): void {
  if (Number.isSafeInteger(offset) && length >= 1 && offset >= 0 && offset + length <= available) return
  const range = `[${offset}, ${offset + length})`
  throw new VerbsError('ibv_reg_dm_mr', Errno.EINVAL, `${range} is not within the ${available} bytes of device memory`)
}
