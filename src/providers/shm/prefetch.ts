import { Errno } from '../errors.ts'
import { Advice, type AdvisedRange } from '../memory-contract.ts'
import { checkAdvice, refuseAdvice } from '../soft/advice.ts'
import { PAGE_BYTES } from './layout.ts'
import type { KeyedMemory } from './shared-key-table.ts'

/**
 * Touch the pages of a range of an on-demand region, so that later accesses do not wait for the kernel. Errors are
 * those of ibv_advise_mr(3) and the kernel. Atomics are used, because an engine may leave out a plain load whose value
 * is unused. Or-ing 0 is a write that changes nothing.
 */
export function prefetch(entry: KeyedMemory | undefined, domainId: number, advice: Advice, range: AdvisedRange): void {
  checkAdvice(entry, domainId, advice, range)
  const { address, length } = range
  const offset = address - entry.address
  if (length === 0 || advice === Advice.PrefetchNoFault) return
  const { span } = entry
  for (let at = offset; at < offset + length; at += PAGE_BYTES) {
    if (span.processId !== 0) {
      if (!span.isThere(at, 1)) refuseAdvice(Errno.EFAULT, `this process has no memory at ${address - offset + at}`)
    } else if (advice === Advice.PrefetchWrite) Atomics.or(span.bytes, at, 0)
    else Atomics.load(span.bytes, at)
  }
}
