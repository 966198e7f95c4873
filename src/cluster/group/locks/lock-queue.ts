/** How a lock is wanted: with other readers, or alone. */
export type LockMode = 'read' | 'write'

/** A request that holds a lock or waits for it. */
export interface LockEntry {
  readonly rank: number
  /** Chosen by the rank, to name this request. */
  readonly token: number
  readonly mode: LockMode
  readonly granted: boolean
}

/** Not a rank. */
export const NOBODY = -1

/**
 * Holders and waiters of one lock, in the order in which they came. There is no overtaking: a reader that comes behind
 * a waiting writer waits.
 *
 * If a holder dies, the lock is *abandoned*: what it protects may be half changed. The lock passes on, and each rank
 * that gets it is told which rank died. This ends when a rank that held it for writing releases it.
 */
export class LockQueue {
  #entries: LockEntry[] = []
  #abandonedBy: number

  /** `abandonedBy`: the rank that may have held it when its keeper died. */
  constructor(abandonedBy: number = NOBODY) {
    this.#abandonedBy = abandonedBy
  }

  get abandonedBy(): number {
    return this.#abandonedBy
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0
  }

  /** Its holders, then its waiters, in order. */
  get entries(): readonly LockEntry[] {
    return this.#entries
  }

  /** Ranks that hold it. */
  get holders(): number[] {
    return this.#entries.filter(({ granted }) => granted).map(({ rank }) => rank)
  }

  /** A rank wants the lock. */
  add(rank: number, token: number, mode: LockMode): void {
    this.#entries.push({ rank, token, mode, granted: false })
  }

  /**
   * A rank tells a new keeper that it holds the lock, and what it was told with it. The entry goes before all waiters,
   * however late this arrives.
   */
  addHolder(rank: number, token: number, mode: LockMode, abandonedBy: number): void {
    this.#entries.unshift({ rank, token, mode, granted: true })
    this.#abandonedBy = abandonedBy
  }

  /**
   * A rank releases the lock, or stops waiting. `had`: its program did have the lock; a grant that it did not wait for
   * changes nothing.
   */
  remove(rank: number, token: number, had: boolean): void {
    const gone = this.#entries.find((entry) => entry.rank === rank && entry.token === token)
    if (had && gone?.mode === 'write') this.#abandonedBy = NOBODY
    this.#entries = this.#entries.filter((entry) => entry !== gone)
  }

  memberDied(rank: number): void {
    const wrote = this.#entries.some((entry) => entry.rank === rank && entry.granted && entry.mode === 'write')
    if (wrote) this.#abandonedBy = rank
    this.#entries = this.#entries.filter((entry) => entry.rank !== rank)
  }

  /** Grant the lock to the requests that are next. Returns those that did not have it before. */
  grant(): LockEntry[] {
    const granted: LockEntry[] = []
    for (const [index, entry] of this.#entries.entries()) {
      const first = this.#entries[0]!
      if (index > 0 && (entry.mode === 'write' || first.mode === 'write')) break
      if (entry.granted) continue
      const now = { ...entry, granted: true }
      this.#entries[index] = now
      granted.push(now)
    }
    return granted
  }
}
