import type { RankWait, WatchAnswer } from './watch-message.ts'

/** The outcome of asking all ranks. */
export interface InquiryOutcome {
  /** The answers by rank, the asking rank's included. */
  readonly said: ReadonlyMap<number, unknown>
  readonly waits: readonly RankWait[]
  /** Ranks that have not answered in time. */
  readonly silent: readonly number[]
}

/** Answers of all ranks to one question. It is over when the last has arrived, or the time is up. */
export class Inquiry {
  readonly #said = new Map<number, unknown>()
  readonly #waits: RankWait[] = []
  readonly #silent: Set<number>
  #done: ((outcome: InquiryOutcome) => void) | undefined

  constructor(asked: readonly number[], done: (outcome: InquiryOutcome) => void) {
    this.#silent = new Set(asked)
    this.#done = done
  }

  /** Rank `rank` answers; undefined if it is gone. */
  answer(rank: number, answer: WatchAnswer | undefined): void {
    if (this.#done === undefined) return
    this.#silent.delete(rank)
    if (answer !== undefined) {
      this.#said.set(rank, answer.said)
      this.#waits.push(...answer.waits)
    }
    if (this.#silent.size === 0) this.end()
  }

  end(): void {
    const done = this.#done
    this.#done = undefined
    done?.({ said: this.#said, waits: this.#waits, silent: [...this.#silent].sort((a, b) => a - b) })
  }
}
