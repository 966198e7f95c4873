import { BarrierWord } from './barrier-words.ts'

/** Which ranks a barrier that takes too long waits for: all of them, until they report that they are there. */
export class BarrierInquiry {
  readonly #words: Int32Array
  #question = 0
  /** Ranks that have not yet said where they are. */
  #silent = new Set<number>()

  constructor(words: Int32Array) {
    this.#words = words
  }

  /** The main thread asks. Returns the question if it is a new one. */
  turn(): number | undefined {
    const question = Atomics.load(this.#words, BarrierWord.Question)
    return question === this.#question ? undefined : question
  }

  begin(question: number, rank: number, others: readonly number[]): void {
    this.#question = question
    this.#silent = new Set(others)
    for (const other of others) this.#setMissing(other, true)
    this.#setMissing(rank, false)
    if (this.#silent.size === 0) this.#answer()
  }

  /** Rank `from` has answered; `isHere`: it has arrived, too. */
  take(from: number, isHere: boolean, question: number): void {
    if (question !== this.#question || !this.#silent.delete(from)) return
    if (isHere) this.#setMissing(from, false)
    if (this.#silent.size === 0) this.#answer()
  }

  #setMissing(rank: number, isMissing: boolean): void {
    const at = BarrierWord.Missing + (rank >>> 5)
    const bit = 1 << (rank & 31)
    if (isMissing) Atomics.or(this.#words, at, bit)
    else Atomics.and(this.#words, at, ~bit)
  }

  #answer(): void {
    Atomics.store(this.#words, BarrierWord.Answer, this.#question)
    Atomics.notify(this.#words, BarrierWord.Answer)
  }
}
