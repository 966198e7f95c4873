/**
 * The states that have been visited, by a fingerprint of 64 bits each: the vectors themselves are not kept.
 *
 * Two states with the same fingerprint would be taken for one, and what lies behind the second would go unseen. Among n
 * states of well-mixed fingerprints the odds of that are below n²/2⁶⁵: see {@link collisionOdds}.
 */
export class StateSet {
  #high: Uint32Array = new Uint32Array(1 << 12)
  #low: Uint32Array = new Uint32Array(1 << 12)
  /** Index + 1 by slot; 0 where free. */
  #slots: Int32Array = new Int32Array(1 << 13)
  #size = 0
  /** Whether the last {@link add} met a state for the first time. */
  wasNew = false

  get size(): number {
    return this.#size
  }

  /** The index of the state that `vector[offset …]` is, which is the next free one where it is new. */
  add(vector: Int32Array, offset: number, length: number): number {
    let high = 0x9747b28c
    let low = 0x3c6ef372
    for (let at = offset; at < offset + length; at += 1) {
      const word = vector[at]!
      high = Math.imul(high ^ mixed(word), 0xcc9e2d51)
      high = (high << 13) | (high >>> 19)
      low = Math.imul(low + mixed(word ^ 0x5bd1e995), 0x1b873593)
      low ^= low >>> 15
    }
    return this.#addFingerprint(mixed(high ^ length) >>> 0, mixed(low + high) >>> 0)
  }

  #addFingerprint(high: number, low: number): number {
    if (2 * (this.#size + 1) > this.#slots.length) this.#rehash()
    const slot = this.#slotOf(high, low)
    this.wasNew = this.#slots[slot] === 0
    if (!this.wasNew) return this.#slots[slot]! - 1
    if (this.#size === this.#high.length) {
      this.#high = doubled(this.#high)
      this.#low = doubled(this.#low)
    }
    this.#high[this.#size] = high
    this.#low[this.#size] = low
    this.#slots[slot] = ++this.#size
    return this.#size - 1
  }

  #slotOf(high: number, low: number): number {
    const mask = this.#slots.length - 1
    let slot = (high ^ (low >>> 7)) & mask
    for (let known = this.#slots[slot]!; known !== 0; known = this.#slots[slot]!) {
      if (this.#high[known - 1] === high && this.#low[known - 1] === low) break
      slot = (slot + 1) & mask
    }
    return slot
  }

  #rehash(): void {
    this.#slots = new Int32Array(2 * this.#slots.length)
    for (let index = 0; index < this.#size; index += 1)
      this.#slots[this.#slotOf(this.#high[index]!, this.#low[index]!)] = index + 1
  }
}

/** The finaliser of MurmurHash3: every bit of the word reaches every bit of the result. */
function mixed(word: number): number {
  let hash = word
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}

function doubled(array: Uint32Array): Uint32Array {
  const copy = new Uint32Array(2 * array.length)
  copy.set(array)
  return copy
}

/** An upper bound of the odds that two of this many states have the same fingerprint. */
export function collisionOdds(states: number): number {
  return (states / 2 ** 32) * (states / 2 ** 33)
}
