import { checkAbort, checkOptions, checkWhole, type OptionNames } from '../native/index.ts'
import type { Meter } from './figures/meter.ts'
import type { Heap } from './heap/heap.ts'
import { BELL_BYTES, Bell } from './waiting/bell.ts'
import { type BlockOptions, checkBlock, type WaitOptions } from './waiting/wait-options.ts'

/** Bytes of a latch's body: its bell, then how often it was counted down. */
export const LATCH_BYTES: number = BELL_BYTES + 64

/** The largest count of a latch. */
const COUNT_MAX = 2 ** 30

/** Options of `latch()`. */
export interface LatchOptions {
  /** How often it is counted down before it opens: 1 to 2^30. */
  readonly count: number
}

const names: OptionNames<LatchOptions> = { count: true }

/** @throws ArgumentError */
export function checkLatch(options: LatchOptions): number {
  checkOptions('latch', options, names)
  checkWhole('options.count', options?.count, 1, COUNT_MAX)
  return options.count
}

/**
 * A gate that opens once: when it has been counted down as often as it was made for. It never closes again.
 *
 * Each countdown is one atomic step. What a process counted before it was killed stays counted. What it did not count
 * is missing: the process that replaces it has to count it.
 */
export class Latch {
  readonly name: string
  readonly count: number
  readonly #heap: Heap
  readonly #meter: Meter
  readonly #bell: Bell
  readonly #word: number

  /** @internal */
  constructor(name: string, heap: Heap, offset: number, count: number) {
    this.name = name
    this.count = count
    this.#heap = heap
    this.#meter = heap.meters.of('latch', name)
    this.#bell = new Bell(heap, offset, { meter: this.#meter })
    this.#word = offset + BELL_BYTES
  }

  /** Count down by `amount`, at most to 0. Resolves with what remains. */
  async countDown(amount: number = 1, options?: WaitOptions): Promise<number> {
    checkAbort('countDown', options)
    return this.countDownSync(amount)
  }

  countDownSync(amount: number = 1): number {
    this.#heap.checkOpen()
    checkWhole('amount', amount, 1, Number.MAX_SAFE_INTEGER)
    this.#meter.wrote()
    const { memory } = this.#heap
    for (;;) {
      const counted = memory.load(this.#word)
      const after = Math.min(this.count, counted + amount)
      if (after !== counted && memory.compareExchange(this.#word, counted, after) !== counted) continue
      if (after === this.count) this.#bell.ring()
      return this.count - after
    }
  }

  /** How many countdowns are missing. */
  async remaining(options?: WaitOptions): Promise<number> {
    checkAbort('remaining', options)
    return this.remainingSync()
  }

  remainingSync(): number {
    this.#meter.read()
    return this.#missing()
  }

  /** Resolves when it is open. */
  async wait(options?: WaitOptions): Promise<void> {
    checkAbort('wait', options)
    this.#meter.read()
    await this.#bell.wait(() => this.#isOpen(), options)
  }

  /** Block this thread until it is open. @throws TimeoutError */
  waitSync(options?: BlockOptions): void {
    checkBlock('waitSync', options)
    this.#meter.read()
    this.#bell.waitSync(() => this.#isOpen(), `latch '${this.name}'`, options)
  }

  #isOpen(): true | undefined {
    return this.#missing() === 0 || undefined
  }

  #missing(): number {
    this.#heap.checkOpen()
    return this.count - this.#heap.memory.load(this.#word)
  }
}
