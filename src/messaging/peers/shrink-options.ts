import { checkOptions, checkSignalKind, mustBe, type OptionNames } from '../../native/index.ts'
import type { AgreementCall, Quorum } from './agreement.ts'

/** Options of `group.shrink`. Every member passes the same `quorum`. */
export interface ShrinkOptions {
  /**
   * `majority` (default): more than half of the group have to agree. So there is at most one set, even if the network
   * is cut in two or a live member was taken for dead. A member that is not in the set gets an error that says so.
   * `any`: those that reach each other agree, however few; each side of a cut gets a set of its own.
   */
  readonly quorum?: Quorum
  /**
   * A connected member that does not call `shrink`, or does not answer, for this many milliseconds is left out. Default
   * 5000. Pass the same at all members.
   */
  readonly absentAfterMs?: number
  /**
   * How long all may take to agree; default 60,000. As with `signal`, what this member has accepted before stands: the
   * others may agree on a set that contains it.
   */
  readonly timeoutMs?: number
  /** Take no further part once it is aborted. */
  readonly signal?: AbortSignal
}

const defaults = { quorum: 'majority', absentAfterMs: 5000, timeoutMs: 60_000 } as const

const names: OptionNames<ShrinkOptions> = { quorum: true, absentAfterMs: true, timeoutMs: true, signal: true }

/** The options with their defaults. @throws ArgumentError */
export function agreementCall(options: ShrinkOptions): AgreementCall {
  checkOptions('shrink', options, names)
  checkSignalKind('options.signal', options.signal)
  const { quorum = defaults.quorum, absentAfterMs = defaults.absentAfterMs, timeoutMs = defaults.timeoutMs } = options
  if (quorum !== 'majority' && quorum !== 'any') throw mustBe('quorum', "'majority' or 'any'", quorum)
  for (const [name, value] of Object.entries({ absentAfterMs, timeoutMs }))
    if (!(typeof value === 'number' && value >= 1)) throw mustBe(name, 'a number of milliseconds of at least 1', value)
  return { quorum, absentAfterMs, timeoutMs }
}
