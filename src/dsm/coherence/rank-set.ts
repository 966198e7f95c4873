/** A set of ranks as bitset words: a page's sharers at its home. */
export class RankSet {
  readonly #words: Uint32Array

  constructor(capacity: number) {
    this.#words = new Uint32Array((capacity + 31) >>> 5)
  }

  add(rank: number): void {
    this.#words[rank >>> 5]! |= 1 << (rank & 31)
  }

  delete(rank: number): void {
    this.#words[rank >>> 5]! &= ~(1 << (rank & 31))
  }

  has(rank: number): boolean {
    return (this.#words[rank >>> 5]! & (1 << (rank & 31))) !== 0
  }

  clear(): void {
    this.#words.fill(0)
  }

  get size(): number {
    let count = 0
    for (let word of this.#words) for (; word !== 0; word = (word & (word - 1)) >>> 0) count += 1
    return count
  }

  /** Ranks in ascending order. */
  *[Symbol.iterator](): Generator<number> {
    for (let index = 0; index < this.#words.length; index += 1) {
      for (let word = this.#words[index]!; word !== 0; word = (word & (word - 1)) >>> 0) {
        yield index * 32 + (31 - Math.clz32(word & -word))
      }
    }
  }

  clone(): RankSet {
    const copy = new RankSet(this.#words.length * 32)
    copy.#words.set(this.#words)
    return copy
  }
}
