import { type Configuration, type VoterHead, VoterView } from 'aether-dsm/internal/consensus'
import { ViolationError } from '../observer.ts'
import type { DecidedLog } from './decided-log.ts'

/** Views that are kept: the older ones are out of date, and must know it. */
const VIEWS_MAX = 6
/** A view of the newest incarnations takes the place of another after this number of looks. */
const OPEN_EVERY = 64

/**
 * Processes that read the voters' memories, and believe what they say. Each entry that was decided anywhere has to be
 * among those that a read waits for.
 */
export class ReaderAudit {
  readonly #log: DecidedLog
  readonly #currentMs: number
  readonly #views: VoterView[] = []
  #configuration: Configuration | undefined
  #looks = 0
  #opened = 0

  /** `currentMs`: as {@link VoterView} has it. */
  constructor(log: DecidedLog, currentMs: number) {
    this.#log = log
    this.#currentMs = currentMs
  }

  /** `heads`: the newest of each replica. True if a read could have done without asking anyone. */
  look(configuration: Configuration, heads: readonly VoterHead[], nowMs: number): boolean {
    this.#looks += 1
    if (this.#configuration?.version !== configuration.version || this.#looks % OPEN_EVERY === 0)
      this.#open(configuration, heads)
    let isConfirmed = false
    for (const view of this.#views) {
      const index = view.confirm(nowMs)
      if (index === undefined) continue
      isConfirmed = true
      if (index < this.#log.last)
        throw new ViolationError(
          `reads: one of version ${view.version} waits for ${index} of ${this.#log.last} entries`,
        )
    }
    return isConfirmed
  }

  /** Every second one sees all voters, the others see some. */
  #open(configuration: Configuration, heads: readonly VoterHead[]): void {
    this.#configuration = configuration
    const voters = heads.filter((head) => configuration.voters.some(({ id }) => id === head.id))
    this.#opened += 1
    const unseen = this.#opened % 2 === 0 ? 0 : Math.floor(this.#opened / 2)
    const seen = voters.filter((_, place) => ((unseen >> place) & 1) === 0)
    this.#views.push(new VoterView(configuration, seen, this.#currentMs))
    if (this.#views.length > VIEWS_MAX) this.#views.splice(this.#looks % VIEWS_MAX, 1)
  }
}
