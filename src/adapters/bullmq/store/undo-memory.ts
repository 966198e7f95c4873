import { AetherError } from '../../../native/index.ts'
import { StoreHead } from '../../../structures/index.ts'
import { type Header, layoutOf } from './layout.ts'

/** One call would change more than fits the undo log; nothing was changed. */
export class TransactionTooLargeError extends AetherError {
  override readonly name = 'TransactionTooLargeError'

  constructor(entriesMax: number) {
    const advice = 'do it in smaller steps, or open with a larger size'
    super('ERR_AETHER_TRANSACTION_TOO_LARGE', `the call changes more than ${entriesMax} words: ${advice}`)
  }
}

const ENTRY_BYTES = 8

/**
 * Memory that several processes share under one lock, and in which a transaction is done or was never there.
 *
 * The old value of each word is written to the undo log before the new one. To commit is to set the log's length to 0,
 * one store. If a holder was killed, the next one finds a length above 0 and writes the old values back, latest first.
 * A killed process's stores all become visible, in order, up to the last one, and writing old values back twice does no
 * harm. So the argument holds for a death at any instruction, also while undoing. This is undo logging as in Gray and
 * Reuter, "Transaction Processing", chapter 10, without a disk.
 *
 * ```
 *   header (see layout.ts) | undo log: place and old value of a word, 8 B each | blocks
 * ```
 *
 * Blocks that the transaction itself has allocated are written without log (`fresh…`): after an undo they are free.
 */
export class UndoMemory {
  readonly header: Header
  readonly bytes: Buffer
  readonly #words: Int32Array
  readonly #floats: Float64Array
  readonly #entriesMax: number

  /** `bytes` must begin at a multiple of 8. */
  constructor({ buffer, byteOffset, byteLength }: Uint8Array) {
    this.header = layoutOf(byteLength)
    this.bytes = Buffer.from(buffer, byteOffset, byteLength)
    this.#words = new Int32Array(buffer, byteOffset, byteLength >>> 2)
    this.#floats = new Float64Array(buffer, byteOffset, byteLength >>> 3)
    this.#entriesMax = Math.floor((this.header.blocksBegin - this.header.logBegin) / ENTRY_BYTES)
  }

  word(at: number): number {
    return this.#words[at >>> 2]!
  }

  float(at: number): number {
    return this.#floats[at >>> 3]!
  }

  setWord(at: number, value: number): void {
    this.keep(at)
    this.#words[at >>> 2] = value
  }

  setFloat(at: number, value: number): void {
    this.keep(at)
    this.keep(at + 4)
    this.#floats[at >>> 3] = value
  }

  /** Log a word that is about to be written without log. */
  keep(at: number): void {
    const words = this.#words
    const length = words[StoreHead.UndoLength >>> 2]!
    if (length === this.#entriesMax) throw new TransactionTooLargeError(length)
    const entry = (this.header.logBegin >>> 2) + length * 2
    words[entry] = at
    words[entry + 1] = words[at >>> 2]!
    words[StoreHead.UndoLength >>> 2] = length + 1
  }

  /** Write to a block that this transaction has allocated. */
  freshWord(at: number, value: number): void {
    this.#words[at >>> 2] = value
  }

  /** Write to a block that this transaction has allocated. */
  freshFloat(at: number, value: number): void {
    this.#floats[at >>> 3] = value
  }

  /** Clear a block that this transaction has allocated. */
  freshZeros(at: number, lengthBytes: number): void {
    this.#words.fill(0, at >>> 2, (at + lengthBytes) >>> 2)
  }

  /** Whether a transaction is open, or one was when its process was killed. */
  get changed(): boolean {
    return this.#words[StoreHead.UndoLength >>> 2] !== 0
  }

  /** Share of the log that the open transaction has used when it has added `more` entries; 1 is all of it. */
  fullness(more: number): number {
    return (this.#words[StoreHead.UndoLength >>> 2]! + more) / this.#entriesMax
  }

  commit(): void {
    this.#words[StoreHead.UndoLength >>> 2] = 0
  }

  undo(): void {
    const words = this.#words
    const begin = this.header.logBegin >>> 2
    for (let at = words[StoreHead.UndoLength >>> 2]! - 1; at >= 0; at -= 1)
      words[words[begin + at * 2]! >>> 2] = words[begin + at * 2 + 1]!
    words[StoreHead.UndoLength >>> 2] = 0
  }
}
