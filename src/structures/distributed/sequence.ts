import { checkAbort } from '../../native/index.ts'
import { checkTaken, type Sequence } from '../sequence.ts'
import type { WaitOptions } from '../waiting/wait-options.ts'
import type { HomeMemory } from './heap/home-memory.ts'
import type { Promised } from './memory/promised.ts'

/** Bytes of a sequence's body. */
export const SEQUENCE_BYTES = 8

/**
 * Numbers that are given out once each, from 1, among the ranks of a group; as {@link Sequence} on one machine. One
 * word and one fetch-and-add: `next` and `last` are a round trip each. If a rank dies, numbers that it took may never
 * be used.
 */
export class GroupSequence implements Promised<Sequence> {
  readonly name: string
  readonly #memory: HomeMemory
  readonly #offset: number

  /** @internal */
  constructor(name: string, memory: HomeMemory, offset: number) {
    this.name = name
    this.#memory = memory
    this.#offset = offset
  }

  /** The next number; with `count`, the first of that many in a row. @throws HomeLostError, of all methods. */
  async next(count: number = 1, options?: WaitOptions): Promise<number> {
    checkAbort('next', options)
    checkTaken(count)
    return Number(await this.#memory.fetchAdd64(this.#offset, BigInt(count))) + 1
  }

  /** The number given out last; 0 before the first. */
  async last(options?: WaitOptions): Promise<number> {
    checkAbort('last', options)
    return Number(await this.#memory.load64(this.#offset))
  }
}
