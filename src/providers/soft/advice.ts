import { Access } from '../access.ts'
import { Errno, VerbsError } from '../errors.ts'
import { Advice, type AdvisedRange } from '../memory-contract.ts'
import type { KeyFields } from './keys.ts'

/**
 * Refuse a range that cannot be prefetched, with the errors of ibv_advise_mr(3) and the kernel. `region` is what the
 * range's key names.
 */
export function checkAdvice<T extends KeyFields>(
  region: T | undefined,
  domainId: number,
  advice: Advice,
  range: AdvisedRange,
): asserts region is T {
  const { address, length, key } = range
  if (region === undefined || (region.access & Access.OnDemand) === 0)
    refuseAdvice(Errno.ENOENT, `key ${key} does not belong to a region registered with OnDemand`)
  if (region.domainId !== domainId) refuseAdvice(Errno.EPERM, `key ${key} belongs to another protection domain`)
  if (advice === Advice.PrefetchWrite && (region.access & Access.LocalWrite) === 0)
    refuseAdvice(Errno.EPERM, `key ${key} has no LocalWrite`)
  const offset = address - region.address
  if (!(offset >= 0 && length >= 0 && offset + length <= region.length))
    refuseAdvice(Errno.EFAULT, `${length} bytes at ${address} are not within the region`)
}

export function refuseAdvice(errno: number, message: string): never {
  throw new VerbsError('ibv_advise_mr', errno, message)
}
