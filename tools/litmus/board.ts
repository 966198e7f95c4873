import { native } from 'aether-dsm/internal/native'
import { FIELDS_MAX, OUTCOMES_MAX } from './outcome.ts'

/**
 * What the ranks share besides the memory under test: plain shared memory of this machine, Int32 words.
 *
 *   [0] arrived   [32] generation   [64 + 32 r] how far rank r is in its batch
 *        [..] what loads gave, by field and slot   [..] outcomes, counted
 *
 * It makes no traffic in the memory under test, and its synchronisation is not tested: it only brings the ranks of a
 * round together.
 */
const ARRIVED = 0
const GENERATION = 32
const PROGRESS = 64
const LINE = 32

/**
 * How often a waiting rank looks before it sleeps; on a machine with fewer processors than threads looking keeps others
 * from running.
 */
const LOOKS = 2000
/** Sleeps are bounded so that a rank whose group has ended notices. */
const SLEEP_MS = 1000

export class Board {
  readonly ranks: number
  readonly slotsMax: number
  readonly #words: Int32Array
  readonly #results: number
  readonly #counts: number

  static lengthBytes(ranks: number, slotsMax: number): number {
    return 4 * (PROGRESS + LINE * ranks + FIELDS_MAX * slotsMax + OUTCOMES_MAX)
  }

  constructor(words: Int32Array, ranks: number, slotsMax: number) {
    this.#words = words
    this.ranks = ranks
    this.slotsMax = slotsMax
    this.#results = PROGRESS + LINE * ranks
    this.#counts = this.#results + FIELDS_MAX * slotsMax
  }

  /** Wait until every rank is here. */
  meet(): void {
    const words = this.#words
    const generation = Atomics.load(words, GENERATION)
    if (Atomics.add(words, ARRIVED, 1) + 1 === this.ranks) {
      Atomics.store(words, ARRIVED, 0)
      Atomics.add(words, GENERATION, 1)
      native.futexWake(words, GENERATION, this.ranks)
      return
    }
    for (let look = 0; look < LOOKS; look += 1) if (Atomics.load(words, GENERATION) !== generation) return
    while (Atomics.load(words, GENERATION) === generation) native.futexWait(words, GENERATION, generation, SLEEP_MS)
  }

  setProgress(rank: number, slot: number): void {
    Atomics.store(this.#words, PROGRESS + LINE * rank, slot)
  }

  /** Like {@link setProgress}, but also wakes ranks that sleep until then. */
  announceProgress(rank: number, slot: number): void {
    this.setProgress(rank, slot)
    native.futexWake(this.#words, PROGRESS + LINE * rank, this.ranks)
  }

  /** Sleep until rank `rank` has come to `slot`, or for `sleeps` times a millisecond. */
  sleepUntilProgress(rank: number, slot: number, sleeps: number): void {
    const at = PROGRESS + LINE * rank
    for (let sleep = 0; sleep < sleeps; sleep += 1) {
      const seen = Atomics.load(this.#words, at)
      if (seen >= slot) return
      native.futexWait(this.#words, at, seen, 1)
    }
  }

  /** Until rank `rank` has come to `slot`; not for ever: it may be off the processor. */
  awaitProgress(rank: number, slot: number, looks: number): void {
    for (let look = 0; look < looks; look += 1) {
      if (Atomics.load(this.#words, PROGRESS + LINE * rank) >= slot) return
    }
  }

  /** What the load of `field` gave, by slot; written by one process of the shape. */
  results(field: number, slots: number): Int32Array {
    const begin = this.#results + field * this.slotsMax
    return this.#words.subarray(begin, begin + slots)
  }

  count(outcome: number): void {
    Atomics.add(this.#words, this.#counts + outcome, 1)
  }

  /** Outcomes so far with their counts; they are forgotten. Only one rank calls this, between two meetings. */
  takeCounts(): [number, number][] {
    const counts: [number, number][] = []
    for (let outcome = 0; outcome < OUTCOMES_MAX; outcome += 1) {
      const count = Atomics.exchange(this.#words, this.#counts + outcome, 0)
      if (count > 0) counts.push([outcome, count])
    }
    return counts
  }
}
