import { checkBigint, checkOptions, type OptionNames, UnsupportedError } from '../native/index.ts'
import type { PairConveniences } from './pair-conveniences.ts'
import type { RemoteTarget } from './prepared-request.ts'
import type { OperationOptions, SyncOptions } from './request-fields.ts'

export interface SwapFields {
  readonly remote: RemoteTarget
  readonly value: bigint
}

export interface SwapResult {
  readonly old: bigint
  /**
   * `device`: one operation of the device (a compare-and-swap that compares no bit). `compare-swap`: a loop, if the
   * device has no such operation.
   */
  readonly method: 'device' | 'compare-swap'
  /** How many operations it took; 1 with `device`. */
  readonly attempts: number
}

const names: OptionNames<SwapFields> = { remote: true, value: true }

function checkSwap(fields: SwapFields): void {
  checkOptions('swap', fields, names, 'fields')
  checkBigint('value', fields?.value)
}

/** Pairs of devices that were found to have no masked compare-and-swap. */
const withoutMasked = new WeakSet<PairConveniences>()

/** Swap by the device, or by a loop that ends once the word did not change in between. */
export async function swap(pair: PairConveniences, fields: SwapFields, options: OperationOptions): Promise<SwapResult> {
  checkSwap(fields)
  const { remote, value } = fields
  if (!withoutMasked.has(pair)) {
    try {
      const old = await pair.maskedCompareSwap({ remote, compare: 0n, compareMask: 0n, swap: value }, options)
      return { old, method: 'device', attempts: 1 }
    } catch (error) {
      if (!(error instanceof UnsupportedError)) throw error
      withoutMasked.add(pair)
    }
  }
  let expected = 0n
  for (let attempts = 1; ; attempts += 1) {
    const old = await pair.compareSwap({ remote, compare: expected, swap: value }, options)
    if (old === expected) return { old, method: 'compare-swap', attempts }
    expected = old
  }
}

/** Do {@link swap} and block until it is done. `timeoutMs` applies to each operation. */
export function swapSync(pair: PairConveniences, fields: SwapFields, options: SyncOptions): SwapResult {
  checkSwap(fields)
  const { remote, value } = fields
  if (!withoutMasked.has(pair)) {
    try {
      const old = pair.maskedCompareSwapSync({ remote, compare: 0n, compareMask: 0n, swap: value }, options)
      return { old, method: 'device', attempts: 1 }
    } catch (error) {
      if (!(error instanceof UnsupportedError)) throw error
      withoutMasked.add(pair)
    }
  }
  let expected = 0n
  for (let attempts = 1; ; attempts += 1) {
    const old = pair.compareSwapSync({ remote, compare: expected, swap: value }, options)
    if (old === expected) return { old, method: 'compare-swap', attempts }
    expected = old
  }
}
