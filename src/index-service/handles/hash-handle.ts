import type { Reply } from '../commands/reply.ts'
import { bufferOf, bytesOfValue, type Caller, type IndexCallOptions, type IndexValue, numberOf } from './caller.ts'

/** Fields with values, at a key. Fields are text or bytes. Made by `index.hashAt(key)`. */
export class IndexHash {
  readonly #caller: Caller
  readonly #key: Uint8Array

  /** @internal */
  constructor(caller: Caller, key: Uint8Array) {
    this.#caller = caller
    this.#key = key
  }

  /** The value of a field; undefined if there is none. */
  async get(field: string | Uint8Array, options: IndexCallOptions = {}): Promise<Buffer | undefined> {
    const bytes = bytesOfValue(field, 'field')
    const looked = this.#caller.shardOf(this.#key).lookAtField(this.#key, bytes)
    if (looked instanceof Uint8Array || looked === null) return bufferOf(looked)
    return bufferOf(await this.#call('HGET', [bytes], options))
  }

  /** Store a field, or several; how many are new. */
  async set(
    fields: Readonly<Record<string, IndexValue>> | readonly (readonly [string | Uint8Array, IndexValue])[],
    options: IndexCallOptions = {},
  ): Promise<number> {
    const pairs = Array.isArray(fields) ? fields : Object.entries(fields)
    const args = pairs.flatMap(([field, value]) => [bytesOfValue(field, 'field'), bytesOfValue(value)])
    return numberOf(await this.#call('HSET', args, options))
  }

  /** How many of the fields were there. */
  async delete(...fields: readonly (string | Uint8Array)[]): Promise<number> {
    if (fields.length === 0) return 0
    return numberOf(
      await this.#call(
        'HDEL',
        fields.map((field) => bytesOfValue(field, 'field')),
      ),
    )
  }

  async has(field: string | Uint8Array, options: IndexCallOptions = {}): Promise<boolean> {
    return (await this.#call('HEXISTS', [bytesOfValue(field, 'field')], options)) === 1
  }

  /** Add to the number that a field holds, and return the sum. */
  async increment(
    field: string | Uint8Array,
    by: number | bigint = 1,
    options: IndexCallOptions = {},
  ): Promise<number> {
    return numberOf(await this.#call('HINCRBY', [bytesOfValue(field, 'field'), bytesOfValue(by)], options))
  }

  /** All fields and values, in the order in which the fields came. */
  async entries(options: IndexCallOptions = {}): Promise<(readonly [field: Buffer, value: Buffer])[]> {
    const all = (await this.#call('HGETALL', [], options)) as ReadonlyMap<Reply, Reply>
    return [...all].map(([field, value]) => [bufferOf(field)!, bufferOf(value)!])
  }

  async size(options: IndexCallOptions = {}): Promise<number> {
    return numberOf(await this.#call('HLEN', [], options))
  }

  #call(name: string, args: readonly Uint8Array[], options?: IndexCallOptions): Promise<Reply> {
    return this.#caller.one({ name, args: [this.#key, ...args] }, options)
  }
}
