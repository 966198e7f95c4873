import { native } from '../../native/index.ts'

const arrivedAt = 0
const generationAt = 1
/** A member that died is noticed by the launcher, which stops the others; a bounded wait lets that signal through. */
const waitMs = 200

/** A barrier among processes on one page of a `hardware` region: the last to arrive opens it, the others sleep in the kernel. */
export class SpaceBarrier {
  readonly #words: Int32Array
  readonly #members: number

  /** `words` has two entries, zero before first use. */
  constructor(words: Int32Array, members: number) {
    this.#words = words
    this.#members = members
  }

  wait(): void {
    const words = this.#words
    const generation = Atomics.load(words, generationAt)
    if (Atomics.add(words, arrivedAt, 1) + 1 === this.#members) {
      // In this order: whoever sees the new generation may arrive again at once.
      Atomics.store(words, arrivedAt, 0)
      Atomics.add(words, generationAt, 1)
      native.futexWake(words, generationAt, this.#members)
      return
    }
    while (Atomics.load(words, generationAt) === generation) native.futexWait(words, generationAt, generation, waitMs)
  }
}
