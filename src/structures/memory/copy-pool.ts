import { markAsUntransferable } from 'node:worker_threads'

/** The longest copy that shares a buffer with others. */
export const POOLED_BYTES_MAX = 2048
const POOL_BYTES = 65_536
/** Beyond, the engine's own copying is the faster one: a call that takes as long as this many bytes, word by word. */
const LOOP_BYTES_MAX = 64

/**
 * Makes copies of shared memory that are handed out. Small copies are parts of one buffer, as those of `Buffer.from`
 * are. A buffer for each would cost more than all the rest of a read: the engine allocates, clears and tracks it. The
 * buffer is given up when it is used up; the engine frees it when no copy in it is used any more.
 */
export class CopyPool {
  #buffer: ArrayBuffer = new ArrayBuffer(0)
  #words: Int32Array = new Int32Array(0)
  /** Bytes of the buffer that were handed out, a multiple of 8; there is none at first. */
  #used = POOL_BYTES + 1

  /** A copy of `lengthBytes` bytes, at most {@link POOLED_BYTES_MAX}, that begin with word `from` of `source`. */
  copy(source: Int32Array, from: number, lengthBytes: number): Uint8Array {
    if (this.#used + lengthBytes > POOL_BYTES) this.#begin()
    const at = this.#used
    this.#used = (at + lengthBytes + 7) & ~7
    const copied = new Uint8Array(this.#buffer, at, lengthBytes)
    this.#fill(source, from, at, lengthBytes)
    return copied
  }

  #fill(source: Int32Array, from: number, at: number, lengthBytes: number): void {
    const words = this.#words
    const first = at >>> 2
    const count = (lengthBytes + 3) >>> 2
    if (lengthBytes <= LOOP_BYTES_MAX)
      for (let word = 0; word < count; word += 1) words[first + word] = source[from + word]!
    else words.set(source.subarray(from, from + count), first)
  }

  #begin(): void {
    // Of its own, and not cleared: all that is handed out of it is written first.
    this.#buffer = Buffer.allocUnsafeSlow(POOL_BYTES).buffer as ArrayBuffer
    // Transferring one copy to a worker would take all of them away from this thread.
    markAsUntransferable(this.#buffer)
    this.#words = new Int32Array(this.#buffer)
    this.#used = 0
  }
}
