import { checkOptions, checkWhole, type OptionNames } from '../../native/index.ts'
import type { Reply } from '../commands/reply.ts'
import {
  bufferOf,
  buffersOf,
  bytesOfValue,
  type Caller,
  type IndexCallOptions,
  type IndexValue,
  numberOf,
} from './caller.ts'

const takeNames: OptionNames<IndexCallOptions> = { timeoutMs: true, signal: true }

/** Values in the order in which they were added, at a key. Made by `index.listAt(key)`. */
export class IndexList {
  readonly #caller: Caller
  readonly #key: Uint8Array

  /** @internal */
  constructor(caller: Caller, key: Uint8Array) {
    this.#caller = caller
    this.#key = key
  }

  /** Add values at the end; how many there are then. */
  async push(...values: readonly IndexValue[]): Promise<number> {
    return await this.#add('RPUSH', values)
  }

  /** Add values at the start, one after the other: the last one is the first then. */
  async unshift(...values: readonly IndexValue[]): Promise<number> {
    return await this.#add('LPUSH', values)
  }

  /** Remove the last value, and return it; undefined if there is none. */
  async pop(options: IndexCallOptions = {}): Promise<Buffer | undefined> {
    return bufferOf(await this.#call('RPOP', [], options))
  }

  /** Remove the first value, and return it; undefined if there is none. */
  async shift(options: IndexCallOptions = {}): Promise<Buffer | undefined> {
    return bufferOf(await this.#call('LPOP', [], options))
  }

  /**
   * Remove the first value, and wait for one if there is none: for `timeoutMs`, by default without end. Those who wait
   * are served in the order in which they came. Undefined if the time is over.
   */
  async take(options: IndexCallOptions = {}): Promise<Buffer | undefined> {
    checkOptions('take', options, takeNames)
    const { timeoutMs = Number.POSITIVE_INFINITY, signal } = options
    const call = { name: 'BLPOP', args: [this.#key, Buffer.from('0')] }
    const taken = (await this.#caller.wait(call, timeoutMs, signal)) as readonly [Reply, Reply] | null
    return taken === null ? undefined : bufferOf(taken[1])
  }

  /** Values from a place up to another, which is included. Places from the end are negative: -1 is the last. */
  async range(from: number = 0, to: number = -1, options: IndexCallOptions = {}): Promise<Buffer[]> {
    for (const [name, place] of Object.entries({ from, to }))
      checkWhole(name, place, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
    return buffersOf(await this.#call('LRANGE', [bytesOfValue(from), bytesOfValue(to)], options))
  }

  async size(options: IndexCallOptions = {}): Promise<number> {
    return numberOf(await this.#call('LLEN', [], options))
  }

  async #add(name: string, values: readonly IndexValue[]): Promise<number> {
    if (values.length === 0) return await this.size()
    return numberOf(
      await this.#call(
        name,
        values.map((value) => bytesOfValue(value)),
      ),
    )
  }

  #call(name: string, args: readonly Uint8Array[], options?: IndexCallOptions): Promise<Reply> {
    return this.#caller.one({ name, args: [this.#key, ...args] }, options)
  }
}
