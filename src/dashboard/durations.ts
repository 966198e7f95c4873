/** How long things took, of several sources together. */
export class Durations {
  readonly #counts = new Map<number, number>()
  #count = 0
  #sumNs = 0

  /** So many that took about `ns`. */
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

  /** The time that `share` of them did not exceed; null where there were none. */
  percentile(share: number): number | null {
    let left = Math.ceil(share * this.#count)
    for (const [ns, count] of [...this.#counts].sort(([a], [b]) => a - b)) {
      left -= count
      if (left <= 0) return Math.round(ns)
    }
    return null
  }
}
