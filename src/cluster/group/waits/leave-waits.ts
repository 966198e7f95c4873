import { ranksInWords } from '../errors.ts'
import type { OpenWait, WaitFinding, WaitingPart } from './subject.ts'

/** The wait of `close()` for the other ranks. It is not a fault, so it is shown but not reported. */
export class LeaveWaits implements WaitingPart {
  readonly #leaving: () => { readonly sinceNs: number; readonly ranks: readonly number[] } | undefined

  /** `leaving`: since when this rank waits, and which ranks have not left. */
  constructor(leaving: () => { readonly sinceNs: number; readonly ranks: readonly number[] } | undefined) {
    this.#leaving = leaving
  }

  *waits(): Iterable<OpenWait> {
    const leaving = this.#leaving()
    if (leaving === undefined) return
    const { sinceNs, ranks } = leaving
    const state = `${ranksInWords(ranks)} ${ranks.length === 1 ? 'is' : 'are'} still in the group`
    const subject = { about: 'known', ranks, state } as const
    yield { key: 'leave', kind: 'agent', object: 'the others to leave', sinceNs, subject, isQuiet: true }
  }

  answer(): undefined {
    return undefined
  }

  explain(): WaitFinding | undefined {
    return undefined
  }
}
