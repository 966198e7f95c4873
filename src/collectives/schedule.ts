/** Where a schedule finds bytes: the caller's input, the caller's output, or memory of its own. */
export type BufferName = 'input' | 'output' | 'scratch'

/** A range of one buffer, in elements. */
export interface Range {
  readonly buffer: BufferName
  readonly offset: number
  readonly count: number
}

/**
 * Bytes that go to a peer or come from one. Between two ranks the bytes are one stream in the order of the steps, so
 * ranges need not match one by one.
 */
export interface Exchange {
  readonly kind: 'send' | 'receive'
  /** A rank of the group. */
  readonly peer: number
  readonly range: Range
}

/** What a rank does locally. `reduce`: into = into op from or, with `fromFirst`, into = from op into. */
export type LocalStep =
  | { readonly kind: 'copy'; readonly from: Range; readonly into: Range }
  | { readonly kind: 'reduce'; readonly from: Range; readonly into: Range; readonly fromFirst: boolean }

/** All exchanges of a round are under way at once. When the last is done, the local steps follow one by one. */
export interface Round {
  readonly exchanges: readonly Exchange[]
  readonly steps: readonly LocalStep[]
}

/**
 * What one rank does in a collective. It is a function of rank, size and counts alone: every rank computes its own, and
 * they fit together.
 */
export interface Schedule {
  readonly rounds: readonly Round[]
  /** Elements of memory that it needs besides the caller's. */
  readonly scratchCount: number
}

/** Builds a schedule round by round. */
export class ScheduleBuilder {
  readonly #rounds: { exchanges: Exchange[]; steps: LocalStep[] }[] = []
  #scratchCount = 0
  #open = false

  /** Later steps wait for earlier ones. */
  nextRound(): this {
    this.#open = false
    return this
  }

  /** A range of the schedule's own memory. */
  scratch(count: number): Range {
    const range: Range = { buffer: 'scratch', offset: this.#scratchCount, count }
    this.#scratchCount += count
    return range
  }

  send(peer: number, ranges: Range | readonly Range[]): this {
    return this.#exchange('send', peer, ranges)
  }

  receive(peer: number, ranges: Range | readonly Range[]): this {
    return this.#exchange('receive', peer, ranges)
  }

  /** Comes after the exchanges of its round. */
  copy(from: Range, into: Range): this {
    if (from.count > 0) this.#round().steps.push({ kind: 'copy', from, into })
    return this
  }

  /** into = into op from; with `fromFirst`, into = from op into. Comes after the exchanges of its round. */
  reduce(from: Range, into: Range, fromFirst = false): this {
    if (from.count > 0) this.#round().steps.push({ kind: 'reduce', from, into, fromFirst })
    return this
  }

  finish(): Schedule {
    return { rounds: this.#rounds, scratchCount: this.#scratchCount }
  }

  /** Both sides leave empty ranges out. */
  #exchange(kind: Exchange['kind'], peer: number, ranges: Range | readonly Range[]): this {
    const list = 'buffer' in ranges ? [ranges] : ranges
    for (const range of list) if (range.count > 0) this.#exchanges().push({ kind, peer, range })
    return this
  }

  /** Steps come last in a round, so an exchange behind one begins another. */
  #exchanges(): Exchange[] {
    const round = this.#round()
    if (round.steps.length === 0) return round.exchanges
    this.#open = false
    return this.#round().exchanges
  }

  #round(): { exchanges: Exchange[]; steps: LocalStep[] } {
    if (!this.#open) this.#rounds.push({ exchanges: [], steps: [] })
    this.#open = true
    return this.#rounds[this.#rounds.length - 1]!
  }
}
