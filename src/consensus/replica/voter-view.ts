import { type Configuration, majorityOf } from './configuration.ts'

/** What a voter's memory says of it. */
export interface VoterHead {
  readonly id: number
  /** Advances while it is alive. */
  readonly counter: number
  /** The highest term that it has promised. */
  readonly promise: number
  /** The last entry that it knows to be decided. */
  readonly known: number
  /** Its term while it leads, else 0. */
  readonly leads: number
  /** Of the configuration that holds for it. */
  readonly version: number
}

/** A voter, and when it was seen alive. */
interface Seen {
  readonly head: VoterHead
  counter: number
  lookedMs: number
  /** A time at which, or after which, its counter went on. */
  aliveMs: number
}

/**
 * The memories of a log's voters as a process of their machine sees them. They tell what was decided without asking any
 * of them.
 *
 * {@link VoterView.confirm} is what a leader does for a read, by loads. It is the ReadIndex of Raft (Ongaro,
 * "Consensus: Bridging Theory and Practice", 2014, section 6.4):
 *
 * 1. Find the voter that says that it leads, its term, and the version of its configuration. If that is another than
 *    this view's, the view is out of date: others may vote.
 * 2. Load which entry it has decided. It stores that before anyone is told of the entry. So whatever was answered to
 *    anyone through this leader is in it.
 * 3. Load what a majority of the voters has promised. If none has promised a higher term, no other leader was elected
 *    before this step. That would take promises of a majority, which has a voter in common with this one, and promises
 *    stay. So no one was answered anything else before step 2.
 *
 * - A leader that is deposed, stopped or dead still says that it leads; step 3 finds out.
 * - Voters that have ended keep what they had promised. Without journals they come back under another id, which takes
 *    another configuration. With journals they come back with another memory. So a voter counts only if it was seen
 *    alive within the time for which one that comes back is silent.
 * - A configuration of a higher version was decided by this leader, or by a later one. This leader says so before
 *    others know. A later one was elected by voters of this version.
 */
export class VoterView {
  readonly version: number
  readonly #voters: readonly Seen[]
  readonly #majority: number
  readonly #currentMs: number
  readonly #mayComeBack: boolean
  #leader: VoterHead | undefined

  /**
   * `heads`: of the voters that can be seen. `currentMs`: one that was seen alive within that time has not begun again
   * from a journal; infinite where there are none.
   */
  constructor(configuration: Configuration, heads: readonly VoterHead[], currentMs: number) {
    this.version = configuration.version
    this.#majority = majorityOf(configuration)
    this.#currentMs = currentMs
    this.#mayComeBack = currentMs !== Number.POSITIVE_INFINITY
    this.#voters = heads.map((head) => ({ head, counter: -1, lookedMs: 0, aliveMs: Number.NEGATIVE_INFINITY }))
  }

  /** The replica that said last that it leads. */
  get leader(): number | undefined {
    return this.#leader?.id
  }

  /**
   * An entry: what has applied the log up to it has everything that was answered to anyone before this call. Undefined
   * if that cannot be told now. `nowMs`: when the heads had been read; `lookedMs`: when that began.
   */
  confirm(nowMs?: number, lookedMs: number | undefined = nowMs): number | undefined {
    const leader = this.#leading()
    if (leader === undefined) return undefined
    const term = leader.leads
    if (term === 0 || leader.version !== this.version) return undefined
    const { known } = leader
    let count = 0
    for (const voter of this.#voters) {
      if (voter.head.promise > term) return undefined
      if (!this.#mayComeBack || this.#isCurrent(voter, nowMs, lookedMs)) count += 1
    }
    return count >= this.#majority ? known : undefined
  }

  /** The one of before, while no other has a higher term. */
  #leading(): VoterHead | undefined {
    const before = this.#leader
    if (before !== undefined && before.leads > 0 && this.#highestPromise() <= before.leads) return before
    let highest = 0
    for (const { head } of this.#voters) {
      const { leads } = head
      if (leads <= highest) continue
      highest = leads
      this.#leader = head
    }
    return highest === 0 ? undefined : this.#leader
  }

  #highestPromise(): number {
    let highest = 0
    for (const { head } of this.#voters) highest = Math.max(highest, head.promise)
    return highest
  }

  #isCurrent(voter: Seen, nowMs: number = performance.now(), lookedMs: number = nowMs): boolean {
    const { counter } = voter.head
    if (counter !== voter.counter) {
      voter.aliveMs = voter.lookedMs
      voter.counter = counter
    }
    voter.lookedMs = lookedMs
    return nowMs - voter.aliveMs < this.#currentMs
  }
}
