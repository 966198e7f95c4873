import { ArgumentError } from '../native/index.ts'
import { UNIT_BYTES } from './ring-record.ts'

/** Length of the two counts that the peer writes: units that it took, and receives that it posted again. */
export const CREDIT_BYTES = 8

/** The two counts in this end's memory, and what was read of them. */
export class CreditWords {
  readonly #words: Uint32Array
  #units = 0
  #receives = 0
  /** What the last `read` found added. */
  bytes = 0
  receives = 0

  constructor(memory: Uint8Array, offset: number) {
    this.#words = countsAt(memory, offset)
  }

  /**
   * Returns false if nothing was added. Counts only grow. If the bytes of one WRITE become visible after those of the
   * next, the count goes back for a while: what was read stays true.
   */
  read(): boolean {
    const units = Atomics.load(this.#words, 0)
    const receives = Atomics.load(this.#words, 1)
    if (units === this.#units && receives === this.#receives) return false
    const moreUnits = Math.max(0, (units - this.#units) | 0)
    this.receives = Math.max(0, (receives - this.#receives) | 0)
    this.bytes = moreUnits * UNIT_BYTES
    this.#units = (this.#units + moreUnits) >>> 0
    this.#receives = (this.#receives + this.receives) >>> 0
    return true
  }
}

/** The counts as they lie in memory, at an offset that is a multiple of 8. */
export function countsAt(memory: Uint8Array, offset: number): Uint32Array {
  if ((memory.byteOffset & 7) !== 0)
    throw new ArgumentError('memory', 'the offset of the counts must be a multiple of 8')
  return new Uint32Array(memory.buffer, memory.byteOffset + offset, 2)
}
