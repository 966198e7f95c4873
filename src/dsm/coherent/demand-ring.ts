/**
 * Requests for pages from the user's thread to the agent: a ring with one producer and one consumer in a
 * SharedArrayBuffer.
 *
 *   Int32:  [0] produced   [16] consumed   [32 + 4 i ...] region, page, write
 *
 * Both counters only grow (modulo 2^32); each is written by one side.
 */
const PRODUCED = 0
const CONSUMED = 16
const ENTRIES = 32
const ENTRY = 4
const CAPACITY = 1024

export class DemandRing {
  readonly buffer: SharedArrayBuffer
  readonly #words: Int32Array

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(4 * (ENTRIES + ENTRY * CAPACITY))) {
    this.buffer = buffer
    this.#words = new Int32Array(buffer)
  }

  /** Ask. False where the ring is full: ring the agent, and ask again. */
  tryPush(region: number, page: number, write: boolean): boolean {
    const words = this.#words
    const produced = Atomics.load(words, PRODUCED)
    if (((produced - Atomics.load(words, CONSUMED)) | 0) >= CAPACITY) return false
    const at = ENTRIES + ENTRY * (produced & (CAPACITY - 1))
    words[at] = region
    words[at + 1] = page
    words[at + 2] = write ? 1 : 0
    Atomics.store(words, PRODUCED, (produced + 1) | 0)
    return true
  }

  /** Hand every waiting request to `take`. Returns how many. */
  drain(take: (region: number, page: number, write: boolean) => void): number {
    const words = this.#words
    let consumed = Atomics.load(words, CONSUMED)
    const produced = Atomics.load(words, PRODUCED)
    const count = (produced - consumed) | 0
    while (consumed !== produced) {
      const at = ENTRIES + ENTRY * (consumed & (CAPACITY - 1))
      const region = words[at]!
      const page = words[at + 1]!
      const write = words[at + 2] === 1
      consumed = (consumed + 1) | 0
      Atomics.store(words, CONSUMED, consumed)
      take(region, page, write)
    }
    return count
  }
}
