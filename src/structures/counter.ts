import { checkAbort, mustBe } from '../native/index.ts'
import type { Meter } from './figures/meter.ts'
import type { Heap } from './heap/heap.ts'
import type { WaitOptions } from './waiting/wait-options.ts'

/** Bytes of a counter's body: a cache line of its own. */
export const COUNTER_BYTES = 64

/**
 * A 64-bit number that all processes add to. Each addition counts exactly once, even if a process is killed at any
 * instant.
 *
 * Values are JavaScript numbers and exact to 2^53; beyond 2^63 it wraps.
 */
export class Counter {
  readonly name: string
  readonly #heap: Heap
  readonly #offset: number
  readonly #meter: Meter

  /** @internal */
  constructor(name: string, heap: Heap, offset: number) {
    this.name = name
    this.#heap = heap
    this.#offset = offset
    this.#meter = heap.meters.of('counter', name)
  }

  /** Add `amount` (a whole number, default 1). Resolves with the sum. */
  async add(amount: number = 1, options?: WaitOptions): Promise<number> {
    checkAbort('add', options)
    return this.addSync(amount)
  }

  /** Like {@link add}, on this thread: one atomic instruction. */
  addSync(amount: number = 1): number {
    this.#heap.checkOpen()
    this.#meter.wrote()
    return Number(this.#heap.memory.fetchAdd64(this.#offset, wholeNumber(amount, 'amount'))) + amount
  }

  async get(options?: WaitOptions): Promise<number> {
    checkAbort('get', options)
    return this.getSync()
  }

  getSync(): number {
    this.#heap.checkOpen()
    this.#meter.read()
    return Number(this.#heap.memory.load64(this.#offset))
  }

  /** Replace the value. Resolves with the previous one. */
  async set(value: number, options?: WaitOptions): Promise<number> {
    checkAbort('set', options)
    return this.setSync(value)
  }

  setSync(value: number): number {
    this.#heap.checkOpen()
    this.#meter.wrote()
    const wanted = wholeNumber(value, 'value')
    for (;;) {
      const before = this.#heap.memory.load64(this.#offset)
      if (this.#heap.memory.compareExchange64(this.#offset, before, wanted) === before) return Number(before)
    }
  }

  /**
   * Replace the value if it is `expected`. Resolves with the previous value: it was replaced if that equals `expected`.
   */
  async compareAndSet(expected: number, value: number, options?: WaitOptions): Promise<number> {
    checkAbort('compareAndSet', options)
    return this.compareAndSetSync(expected, value)
  }

  compareAndSetSync(expected: number, value: number): number {
    this.#heap.checkOpen()
    this.#meter.wrote()
    const from = wholeNumber(expected, 'expected')
    return Number(this.#heap.memory.compareExchange64(this.#offset, from, wholeNumber(value, 'value')))
  }
}

/** @throws ArgumentError unless it is a whole number that a JavaScript number holds exactly. */
export function wholeNumber(value: number, argument: string): bigint {
  if (Number.isSafeInteger(value)) return BigInt(value)
  throw mustBe(argument, 'a whole number, at most 2^53 - 1 from 0', value)
}
