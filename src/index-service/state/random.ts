/** SplitMix32: a well-known generator of uint32, seeded with a number. */
export class CommandRandom {
  #state = 0

  /** Begin the sequence of this seed. Seeds that are neighbours begin unlike. */
  seed(seed: number): void {
    this.#state = Math.imul(seed % 2 ** 32, 0x85ebca6b) ^ Math.floor(seed / 2 ** 32)
  }

  next(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0
    let mixed = this.#state ^ (this.#state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    return (mixed ^ (mixed >>> 15)) >>> 0
  }
}
