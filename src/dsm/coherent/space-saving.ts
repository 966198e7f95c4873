/** What is known of a key: it came at least `count - error` and at most `count` times. */
export interface Ranked {
  readonly key: number
  readonly count: number
  readonly error: number
}

type Entry = { -readonly [Key in keyof Ranked]: Ranked[Key] } & { at: number }

/**
 * The keys that come most often in a stream, with a fixed number of counters: the Space-Saving algorithm. Source:
 * Metwally, Agrawal, El Abbadi, "Efficient Computation of Frequent and Top-k Elements in Data Streams", ICDT 2005,
 * section 3. A key without a counter takes over the least one, with its count as the error. So of `N` additions to `K`
 * counters each error is at most `N / K`, and every key that came more often than that has a counter.
 *
 * The counters are a binary heap, the least on top: an addition takes `log K` steps at most.
 */
export class SpaceSaving {
  readonly #countersMax: number
  readonly #entries = new Map<number, Entry>()
  readonly #heap: Entry[] = []

  constructor(countersMax: number) {
    this.#countersMax = countersMax
  }

  /** It came once more. */
  add(key: number): void {
    const entry = this.#entries.get(key) ?? this.#newEntry(key)
    entry.count += 1
    this.#sink(entry)
  }

  /** Undefined for what has no counter. */
  get(key: number): Ranked | undefined {
    return this.#entries.get(key)
  }

  /** At most this many, highest count first. */
  top(most: number): readonly Ranked[] {
    const ranked = this.#heap.map(({ key, count, error }) => ({ key, count, error }))
    return ranked.sort((a, b) => b.count - a.count || a.key - b.key).slice(0, most)
  }

  #newEntry(key: number): Entry {
    let entry: Entry
    if (this.#heap.length < this.#countersMax) {
      entry = { key, count: 0, error: 0, at: this.#heap.length }
      this.#heap.push(entry)
      this.#rise(entry)
    } else {
      entry = this.#heap[0]!
      this.#entries.delete(entry.key)
      entry.key = key
      entry.error = entry.count
    }
    this.#entries.set(key, entry)
    return entry
  }

  #rise(entry: Entry): void {
    while (entry.at > 0) {
      const above = this.#heap[(entry.at - 1) >> 1]!
      if (above.count <= entry.count) return
      this.#swap(above, entry)
    }
  }

  #sink(entry: Entry): void {
    for (;;) {
      const [left, right] = [this.#heap[2 * entry.at + 1], this.#heap[2 * entry.at + 2]]
      const least = right !== undefined && left !== undefined && right.count < left.count ? right : left
      if (least === undefined || least.count >= entry.count) return
      this.#swap(entry, least)
    }
  }

  #swap(above: Entry, below: Entry): void {
    const { at } = above
    this.#heap[below.at] = above
    this.#heap[at] = below
    above.at = below.at
    below.at = at
  }
}
