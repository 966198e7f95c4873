import { ArgumentError } from '../native/index.ts'
import { CARD_HALF_BYTES, CARDS_OFFSET } from './layout.ts'

/** Each half begins with its length. */
const LENGTH_BYTES = 8

/** The most bytes that a member can publish. */
export const CARD_BYTES_MAX: number = CARD_HALF_BYTES - LENGTH_BYTES

/**
 * What one member publishes about itself, replaced as a whole:
 *
 * ```
 * half 0   length Int32, 4 B unused, bytes        current while the sequence is even
 * half 1   length Int32, 4 B unused, bytes        current while the sequence is odd
 * ```
 *
 * The owner writes the half that is not current, then raises the sequence (a word in its slot; 0: nothing published).
 * So a reader always finds a whole card, even if the owner was killed in the middle of writing.
 */
export class Card {
  readonly #sequence: Int32Array
  readonly #control: ArrayBuffer
  readonly #slot: number

  constructor(control: ArrayBuffer, slot: number, sequence: Int32Array) {
    this.#control = control
    this.#slot = slot
    this.#sequence = sequence
  }

  /** Replace the card. Only its owner does. @throws ArgumentError if it is too long. */
  write(bytes: Uint8Array): void {
    if (bytes.byteLength > CARD_BYTES_MAX) {
      throw new ArgumentError(
        'bytes',
        `bytes must be at most ${CARD_BYTES_MAX} bytes, not ${bytes.byteLength}; publish an address where the rest can be read`,
      )
    }
    const next = Atomics.load(this.#sequence, 0) + 1
    const half = this.#half(next)
    if (bytes.byteLength > 0) new Uint8Array(this.#control, half + LENGTH_BYTES, bytes.byteLength).set(bytes)
    Atomics.store(new Int32Array(this.#control, half, 1), 0, bytes.byteLength)
    Atomics.store(this.#sequence, 0, next)
  }

  /**
   * A copy of the card; undefined if nothing was published. Tries again while the owner replaces it faster than it is
   * copied.
   */
  read(): Uint8Array | undefined {
    for (;;) {
      const sequence = Atomics.load(this.#sequence, 0)
      if (sequence === 0) return undefined
      const half = this.#half(sequence)
      const length = Math.min(CARD_BYTES_MAX, Math.max(0, Atomics.load(new Int32Array(this.#control, half, 1), 0)))
      const copy = new Uint8Array(this.#control, half + LENGTH_BYTES, length).slice()
      if (Atomics.load(this.#sequence, 0) === sequence) return copy
    }
  }

  #half(sequence: number): number {
    return CARDS_OFFSET + (this.#slot * 2 + (sequence & 1)) * CARD_HALF_BYTES
  }
}
