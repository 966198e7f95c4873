import { checkAbort } from '../../native/index.ts'
import type { Counter } from '../counter.ts'
import { wholeNumber } from '../counter.ts'
import type { WaitOptions } from '../waiting/wait-options.ts'
import type { HomeMemory } from './heap/home-memory.ts'
import { CompareExchangeCommand } from './memory/command.ts'
import type { Promised } from './memory/promised.ts'

/** Bytes of a counter's body. */
export const COUNTER_BYTES = 8

/**
 * A 64-bit number that the ranks of a group add to; as {@link Counter} on one machine.
 *
 * One word. `add` is a fetch-and-add and `get` a READ of eight aligned bytes: one round trip each, in which it takes
 * effect. `set` is a READ and a compare-and-swap, and one more compare-and-swap for each change in between. It takes
 * effect in the last one. A rank that dies has added or has not.
 */
export class GroupCounter implements Promised<Counter> {
  readonly name: string
  readonly #memory: HomeMemory
  readonly #offset: number

  /** @internal */
  constructor(name: string, memory: HomeMemory, offset: number) {
    this.name = name
    this.#memory = memory
    this.#offset = offset
  }

  /** Add `amount` (a whole number, default 1). Resolves with the sum. @throws HomeLostError, of all methods. */
  async add(amount: number = 1, options?: WaitOptions): Promise<number> {
    checkAbort('add', options)
    const before = await this.#memory.fetchAdd64(this.#offset, BigInt.asUintN(64, wholeNumber(amount, 'amount')))
    return signed(before) + amount
  }

  async get(options?: WaitOptions): Promise<number> {
    checkAbort('get', options)
    return signed(await this.#memory.load64(this.#offset))
  }

  /** Replace the value. Resolves with the previous one. */
  async set(value: number, options?: WaitOptions): Promise<number> {
    checkAbort('set', options)
    const wanted = BigInt.asUintN(64, wholeNumber(value, 'value'))
    let expected = await this.#memory.load64(this.#offset)
    for (;;) {
      options?.signal?.throwIfAborted()
      const before = await this.#memory.compareExchange64(this.#offset, expected, wanted)
      if (before === expected) return signed(before)
      expected = before
    }
  }

  /**
   * Replace the value if it is `expected`. Resolves with the previous value: it was replaced if that equals `expected`.
   */
  async compareAndSet(expected: number, value: number, options?: WaitOptions): Promise<number> {
    checkAbort('compareAndSet', options)
    const swap = new CompareExchangeCommand(
      this.#offset,
      BigInt.asUintN(64, wholeNumber(expected, 'expected')),
      BigInt.asUintN(64, wholeNumber(value, 'value')),
    )
    await this.#memory.run([swap])
    return signed(swap.before)
  }
}

function signed(word: bigint): number {
  return Number(BigInt.asIntN(64, word))
}
