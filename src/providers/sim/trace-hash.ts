/**
 * A rolling 64-bit hash of everything that has happened: two runs with the same hash took the same course. Packet
 * sequence numbers are left out, because verbs draws the first one of a connection at random.
 *
 * Two 32-bit lanes with different multipliers, mixed with each other (after FNV-1a and the finalizer of MurmurHash3).
 */
export class TraceHash {
  #low = 0x811c9dc5 | 0
  #high = 0x9e3779b9 | 0

  /** An exact number below 2^53. */
  add(value: number): void {
    const high = Math.floor(value / 4294967296)
    this.#mix(value | 0)
    if (high !== 0) this.#mix(high | 0)
  }

  get text(): string {
    const half = (lane: number): string => (lane >>> 0).toString(16).padStart(8, '0')
    return half(this.#high) + half(this.#low)
  }

  #mix(word: number): void {
    const low = Math.imul(this.#low ^ word, 0x01000193)
    this.#low = low ^ (low >>> 15)
    const high = Math.imul(this.#high + (low ^ word), 0x85ebca6b)
    this.#high = ((high << 13) | (high >>> 19)) ^ low
  }
}
