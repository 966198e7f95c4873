/** Longer ones are memory of their own. */
const SHORT_BYTES = 8 * 1024
const SLAB_BYTES = 64 * 1024

/**
 * Copies of short payloads, one behind the other in larger pieces of memory: one of its own for each costs more than
 * the copy. A piece is given back with the last payload in it, so they should end in the order in which they were made.
 */
export class PayloadSlab {
  #slab = new ArrayBuffer(0)
  #used = 0

  copy(bytes: Uint8Array): Uint8Array {
    const { length } = bytes
    if (length > SHORT_BYTES) return Uint8Array.prototype.slice.call(bytes)
    if (this.#used + length > this.#slab.byteLength) {
      this.#slab = new ArrayBuffer(SLAB_BYTES)
      this.#used = 0
    }
    const copy = new Uint8Array(this.#slab, this.#used, length)
    copy.set(bytes)
    this.#used += length
    return copy
  }
}
