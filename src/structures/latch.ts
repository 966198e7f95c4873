import { ArgumentError } from '../native/index.ts'
import type { Meter } from './figures/meter.ts'
import type { Heap } from './heap/heap.ts'
import { BELL_BYTES, Bell, type BlockOptions, type WaitOptions } from './waiting/bell.ts'

/** Bytes of a latch's body: its bell, then how often it was counted down. */
export const LATCH_BYTES: number = BELL_BYTES + 64

/** The largest count of a latch. */
export const LATCH_COUNT_MAX: number = 2 ** 30

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
    options?.signal?.throwIfAborted()
    return this.countDownSync(amount)
  }

  countDownSync(amount: number = 1): number {
    this.#heap.checkOpen()
    if (!(Number.isSafeInteger(amount) && amount >= 1))
      throw new ArgumentError('amount', `amount must be a whole number of at least 1, not ${amount}`)
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
    options?.signal?.throwIfAborted()
    return this.remainingSync()
  }

  remainingSync(): number {
    this.#meter.read()
    return this.#missing()
  }

  /** Resolves when it is open. */
  async wait(options?: WaitOptions): Promise<void> {
    this.#meter.read()
    await this.#bell.wait(() => this.#isOpen(), options)
  }

  /** Block this thread until it is open. @throws TimeoutError */
  waitSync(options?: BlockOptions): void {
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
