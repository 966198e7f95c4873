import { Access } from '../access.ts'
import { Errno, VerbsError } from '../errors.ts'
import { Advice, type AdvisedRange } from '../memory-contract.ts'
import type { KeyTable } from './key-table.ts'
import { PAGE_BYTES } from './layout.ts'

/**
 * Touch the pages of a range of an on-demand region, so that whoever uses them does not wait for the kernel.
 * Errors as ibv_advise_mr(3) and the kernel have them. Atomics, because an engine may leave out a plain load that nobody looks at; or-ing 0 is a
 * write that changes nothing.
 */
export function prefetch(keys: KeyTable, domainId: number, advice: Advice, range: AdvisedRange): void {
  const { address, length, key } = range
  const entry = keys.find(key)
  if (entry === undefined || (entry.access & Access.OnDemand) === 0)
    refuse(Errno.ENOENT, `key ${key} is none of a region that was registered with OnDemand`)
  if (entry.domainId !== domainId) refuse(Errno.EPERM, `key ${key} belongs to another protection domain`)
  if (advice === Advice.PrefetchWrite && (entry.access & Access.LocalWrite) === 0)
    refuse(Errno.EPERM, `key ${key} has no LocalWrite`)
  const offset = address - entry.address
  if (!(offset >= 0 && length >= 0 && offset + length <= entry.length))
    refuse(Errno.EFAULT, `${length} bytes at ${address} are not within the region`)
  if (length === 0 || advice === Advice.PrefetchNoFault) return
  const { span } = entry
  for (let at = offset; at < offset + length; at += PAGE_BYTES) {
    if (span.processId !== 0) {
      if (!span.isThere(at, 1)) refuse(Errno.EFAULT, `this process has nothing at ${address - offset + at}`)
    } else if (advice === Advice.PrefetchWrite) Atomics.or(span.bytes, at, 0)
    else Atomics.load(span.bytes, at)
  }
}

function refuse(errno: number, message: string): never {
  throw new VerbsError('ibv_advise_mr', errno, message)
}
