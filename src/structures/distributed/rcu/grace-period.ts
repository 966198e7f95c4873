import { ReadCommand } from '../memory/command.ts'
import { HomeLostError } from '../memory/errors.ts'
import type { GroupMemory } from '../memory/group-memory.ts'
import { type ReadSections, type SectionCounts, SectionsOffset } from './read-sections.ts'

/**
 * How long a member of the group is waited for that cannot be reached: longer than a lease, in which the group finds
 * out whether it is there.
 */
const UNREACHED_MS_MAX = 30_000

/** One grace period: over when every section has ended that had begun when it began. */
export class GracePeriod {
  readonly #group: GroupMemory
  readonly #sections: ReadSections
  /** Ranks that are waited for, with how many of their sections have to end; undefined before the first look. */
  readonly #waited = new Map<number, number | undefined>()
  /** When a rank could not be reached for the first time, and why. */
  readonly #unreached = new Map<number, { readonly sinceMs: number; readonly error: HomeLostError }>()

  constructor(group: GroupMemory, sections: ReadSections) {
    this.#group = group
    this.#sections = sections
    for (let rank = 0; rank < group.ranks; rank += 1) this.#waited.set(rank, undefined)
  }

  /** Ranks that have to end sections still, for all that is known. */
  get waitedFor(): Iterable<number> {
    return this.#waited.keys()
  }

  get isOver(): boolean {
    return this.#waited.size === 0
  }

  /**
   * @throws HomeLostError if one of the awaited ranks cannot be reached for long while the group still has it. Then it
   *   is not known here whether its sections have ended.
   */
  checkReached(): void {
    for (const [rank, { sinceMs, error }] of this.#unreached) {
      if (!this.#waited.has(rank) || this.#group.nowMs() - sinceMs < UNREACHED_MS_MAX) continue
      const why = 'this rank has lost its connection to it and cannot see whether its sections have ended'
      throw new HomeLostError('rcu', rank, `${why}; it is still in the group`, { cause: error })
    }
  }

  /** Look at those that are waited for, all at a time: a round trip. */
  async look(): Promise<void> {
    await Promise.all([...this.#waited.keys()].map((rank) => this.#lookAt(rank)))
  }

  async #lookAt(rank: number): Promise<void> {
    const counts = this.#group.isMember(rank) ? await this.#countsOf(rank) : 'gone'
    if (counts === 'unknown' || !this.#waited.has(rank)) return
    if (counts === 'gone') this.#waited.delete(rank)
    else {
      const begun = this.#waited.get(rank) ?? counts.begun
      if (counts.ended >= begun) this.#waited.delete(rank)
      else this.#waited.set(rank, begun)
    }
  }

  /** A rank that does not answer may be reading still, for all that is known, until the group has given it up. */
  async #countsOf(rank: number): Promise<SectionCounts | 'gone' | 'unknown'> {
    if (rank === this.#group.rank) return this.#sections.counts
    const begun = new ReadCommand(SectionsOffset.Begun, 8)
    const ended = new ReadCommand(SectionsOffset.Ended, 8)
    try {
      await this.#group.run(rank, 'rcu', [begun, ended])
    } catch (error) {
      if (!(error instanceof HomeLostError)) throw error
      if (!this.#group.isMember(rank)) return 'gone'
      if (!this.#unreached.has(rank)) this.#unreached.set(rank, { sinceMs: this.#group.nowMs(), error })
      return 'unknown'
    }
    return { begun: Number(begun.word()), ended: Number(ended.word()) }
  }
}
