import { checkOptions, checkSignalKind, type OptionNames } from '../native/index.ts'
import type { CollectiveName } from './algorithms.ts'

/** Options of every collective. */
export interface CollectiveOptions<Algorithm extends string = string> {
  /** Every rank names the same. Default: chosen by size and number of ranks. */
  readonly algorithm?: Algorithm
  /** Give up after this many milliseconds, which ends the group for every rank. Default, and beyond 24 days: never. */
  readonly timeoutMs?: number
  /** Give up when it is aborted, which ends the group for every rank. The `…Sync` forms check it only at the start. */
  readonly signal?: AbortSignal
}

export interface RootOptions {
  /** The rank that gives, or receives, all. Default 0. */
  readonly root?: number
}

export interface CountsOptions {
  /** Elements of each rank's part, the same list at every rank. Default: all parts are as long as this rank's. */
  readonly counts?: readonly number[]
}

export interface ReductionOptions {
  /**
   * Combine as ((x0 op x1) op x2) op … in the order of ranks. The bits of floating-point results then depend only on
   * the values and their ranks, not on the algorithm, the length or the timing. A little slower. Default false.
   */
  readonly deterministic?: boolean
}

const common: OptionNames<CollectiveOptions> = { algorithm: true, timeoutMs: true, signal: true }
const root: OptionNames<RootOptions> = { root: true }
const counts: OptionNames<CountsOptions> = { counts: true }
const reduction: OptionNames<ReductionOptions> = { deterministic: true }

/** The names of the options of each collective. */
const names: Readonly<Record<CollectiveName, OptionNames<CollectiveOptions>>> = {
  broadcast: { ...common, ...root },
  scatter: { ...common, ...root, ...counts },
  gather: { ...common, ...root, ...counts },
  allGather: { ...common, ...counts },
  reduce: { ...common, ...root, ...reduction },
  allReduce: { ...common, ...reduction },
  reduceScatter: { ...common, ...counts, ...reduction },
  scan: { ...common, ...reduction },
  allToAll: common,
  allToAllV: common,
  barrier: common,
}

/** Check what is not checked where it is used. @throws ArgumentError */
export function checkCollective(call: CollectiveName, options: CollectiveOptions): void {
  checkOptions(call, options, names[call])
  checkSignalKind('options.signal', options.signal)
}
