import { Random } from '../../runtime/index.ts'

/**
 * Decides instead of chance: returns one of `count` ways, from 0 on. `what` names the decision. With it, a caller walks
 * through every course of a small configuration.
 */
export type Choose = (count: number, what: string) => number

/**
 * Random numbers for one concern. Each concern has its own, so that one more fault does not change what the others do.
 */
export class Stream {
  readonly #name: string
  readonly #random: Random
  readonly #choose: Choose | undefined

  constructor(seed: number, name: string, choose: Choose | undefined) {
    this.#name = name
    this.#random = new Random(deriveSeed(seed, name))
    this.#choose = choose
  }

  /** An integer from 0 to `count` - 1, evenly distributed. */
  below(count: number): number {
    if (count <= 1) return 0
    return this.#choose === undefined ? this.#random.below(count) : this.#choose(count, this.#name)
  }

  /** True with this probability. 0 and 1 use no random number. */
  chance(probability: number): boolean {
    if (probability <= 0) return false
    if (probability >= 1) return true
    if (this.#choose !== undefined) return this.#choose(2, this.#name) === 1
    return this.#random.uint32() < probability * 4294967296
  }

  /** An integer from `low` to `high`; with `choose`, one of the two. */
  between(low: number, high: number): number {
    if (high <= low) return low
    if (this.#choose !== undefined) return this.#choose(2, this.#name) === 0 ? low : high
    return low + this.#random.below(high - low + 1)
  }
}

/** A 32-bit seed from a seed (any exact integer) and a name: FNV-1a. */
function deriveSeed(seed: number, name: string): number {
  let hash = 0x811c9dc5
  const mix = (word: number): void => {
    hash = Math.imul(hash ^ (word & 0xff), 0x01000193)
  }
  for (let shift = 0; shift < 6; shift += 1) mix(Math.floor(seed / 256 ** shift))
  for (let index = 0; index < name.length; index += 1) mix(name.charCodeAt(index))
  return hash | 0
}
