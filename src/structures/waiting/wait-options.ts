import { checkOptions, mustBe, type OptionNames } from '../../native/index.ts'

/** Options of all calls that wait. */
export interface WaitOptions {
  /** Stop waiting; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/** Options of all calls that block the thread. */
export interface BlockOptions {
  /** Give up after this many milliseconds with a TimeoutError; without it, never. */
  readonly timeoutMs?: number
}

const blockNames: OptionNames<BlockOptions> = { timeoutMs: true }

/** @throws ArgumentError */
export function checkBlock(call: string, options: BlockOptions | undefined): void {
  if (options === undefined) return
  checkOptions(call, options, blockNames)
  checkTimeout(options.timeoutMs)
}

/** At least 0: one attempt. @throws ArgumentError */
export function checkTimeout(timeoutMs: number | undefined): void {
  if (timeoutMs === undefined || (typeof timeoutMs === 'number' && timeoutMs >= 0)) return
  throw mustBe('options.timeoutMs', 'a number of milliseconds from 0 on', timeoutMs)
}
