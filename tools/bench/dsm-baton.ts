import { native } from 'aether-dsm/internal/native'

/** Sleeps are bounded, so that a rank whose group has ended notices. */
const SLEEP_MS = 1000

/**
 * Whose turn it is, in plain shared memory. The ranks count the same steps, and each waits for those that are not its
 * own. A waiting rank sleeps, because a rank that spins would take the CPU of an agent that is measured.
 */
export class Baton {
  readonly #word: Int32Array
  readonly #ranks: number
  readonly #rank: number
  #step = 0

  constructor(word: Int32Array, rank: number, ranks: number) {
    this.#word = word
    this.#rank = rank
    this.#ranks = ranks
  }

  /** Step after step, in the same order at every rank: `act` runs at rank `rank`, when all steps before are done. */
  step(rank: number, act: () => void): void {
    const step = this.#step++
    if (rank !== this.#rank) return
    for (let now = Atomics.load(this.#word, 0); now !== step; now = Atomics.load(this.#word, 0))
      native.futexWait(this.#word, 0, now, SLEEP_MS)
    act()
    Atomics.store(this.#word, 0, step + 1)
    native.futexWake(this.#word, 0, this.#ranks)
  }
}
