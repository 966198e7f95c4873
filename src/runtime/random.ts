/**
 * A seeded stream of random numbers for state machines, so that a run can be repeated. Not for secrets.
 * Source: Bob Jenkins' small fast counting generator (sfc32), as in PractRand.
 */
export class Random {
  #a: number
  #b: number
  #c: number
  #counter = 1

  /** The same seed (a 32-bit integer) gives the same stream. */
  constructor(seed: number) {
    this.#a = seed | 0
    this.#b = Math.imul(seed, 0x9e3779b9) | 0
    this.#c = (seed ^ 0x243f6a88) | 0
    for (let round = 0; round < 12; round += 1) this.uint32()
  }

  uint32(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return sum >>> 0
  }

  /** Return an integer from 0 to `bound` - 1, evenly distributed; `bound` is at most 2^32. */
  below(bound: number): number {
    return Math.floor((this.uint32() / 4294967296) * bound)
  }
}
