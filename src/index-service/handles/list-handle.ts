import { checkOptions, checkWhole } from '../../native/index.ts'
import type { Reply } from '../commands/reply.ts'
import {
  bufferOf,
  buffersOf,
  bytesOfValue,
  callNames,
  type IndexCallOptions,
  type IndexValue,
  type KeyCaller,
  numberOf,
} from './caller.ts'

/** Values in the order in which they were added, at a key. Made by `index.listAt(key)`. */
export class IndexList {
  readonly #at: KeyCaller

  /** @internal */
  constructor(at: KeyCaller) {
    this.#at = at
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
    return bufferOf(await this.#at.call('pop', 'RPOP', [], options))
  }

  /** Remove the first value, and return it; undefined if there is none. */
  async shift(options: IndexCallOptions = {}): Promise<Buffer | undefined> {
    return bufferOf(await this.#at.call('shift', 'LPOP', [], options))
  }

  /**
   * Remove the first value, and wait for one if there is none: for `timeoutMs`, by default without end. Those who wait
   * are served in the order in which they came. Undefined if the time is over.
   */
  async take(options: IndexCallOptions = {}): Promise<Buffer | undefined> {
    checkOptions('take', options, callNames)
    const taken = (await this.#at.wait('BLPOP', [Buffer.from('0')], options)) as readonly [Reply, Reply] | null
    return taken === null ? undefined : bufferOf(taken[1])
  }

  /** Values from a place up to another, which is included. Places from the end are negative: -1 is the last. */
  async range(from: number = 0, to: number = -1, options: IndexCallOptions = {}): Promise<Buffer[]> {
    for (const [name, place] of Object.entries({ from, to }))
      checkWhole(name, place, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
    return buffersOf(await this.#at.call('range', 'LRANGE', [bytesOfValue(from), bytesOfValue(to)], options))
  }

  async size(options: IndexCallOptions = {}): Promise<number> {
    return numberOf(await this.#at.call('size', 'LLEN', [], options))
  }

  async #add(name: string, values: readonly IndexValue[]): Promise<number> {
    if (values.length === 0) return await this.size()
    return numberOf(
      await this.#at.call(
        '#add',
        name,
        values.map((value) => bytesOfValue(value)),
        undefined,
      ),
    )
  }
}
