/** Durations, merged from several sources. */
export class Durations {
  readonly #counts = new Map<number, number>()
  #count = 0
  #sumNs = 0

  /** Add `count` durations of about `ns`. */
  add(ns: number, count: number): void {
    if (count <= 0) return
    this.#counts.set(ns, (this.#counts.get(ns) ?? 0) + count)
    this.#count += count
    this.#sumNs += ns * count
  }

  get count(): number {
    return this.#count
  }

  get sumNs(): number {
    return this.#sumNs
  }

  /** The time that a share of `share` did not exceed; null if there are none. */
  percentile(share: number): number | null {
    let left = Math.ceil(share * this.#count)
    for (const [ns, count] of [...this.#counts].sort(([a], [b]) => a - b)) {
      left -= count
      if (left <= 0) return Math.round(ns)
    }
    return null
  }
}
