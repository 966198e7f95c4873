import { ArgumentError } from '../../native/index.ts'
import type { AgreementCall, Quorum } from './agreement.ts'

/** Of `group.shrink`; every member gives the same `quorum`. */
export interface ShrinkOptions {
  /**
   * `majority` (default): more than half of the group have to agree, so that there is one set at most, also where the
   * network is cut in two or somebody was taken for dead who is not; whoever is not among them is told so by an error.
   * `any`: those that reach each other agree, however few; each side of a cut gets a set of its own.
   */
  readonly quorum?: Quorum
  /**
   * A member that is connected and does not call `shrink`, or does not answer, for so long is left out; default 5000.
   * The same at all members.
   */
  readonly absentAfterMs?: number
  /**
   * Until all is agreed; default 60,000. As with `signal`, what this member has accepted before stands: the others may
   * agree on a set that it is in.
   */
  readonly timeoutMs?: number
  /** Take no further part once it is aborted. */
  readonly signal?: AbortSignal
}

const defaults = { quorum: 'majority', absentAfterMs: 5000, timeoutMs: 60_000 } as const

/** With the defaults. @throws ArgumentError */
export function agreementCall(options: ShrinkOptions): AgreementCall {
  const { quorum = defaults.quorum, absentAfterMs = defaults.absentAfterMs, timeoutMs = defaults.timeoutMs } = options
  if (quorum !== 'majority' && quorum !== 'any')
    throw new ArgumentError('quorum', `quorum is 'majority' or 'any', not ${String(quorum)}`)
  for (const [name, value] of Object.entries({ absentAfterMs, timeoutMs }))
    if (!(value >= 1)) throw new ArgumentError(name, `${name} is a number of milliseconds from 1 on, not ${value}`)
  return { quorum, absentAfterMs, timeoutMs }
}
