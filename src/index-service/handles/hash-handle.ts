import { checkOptions, mustBe } from '../../native/index.ts'
import type { Reply } from '../commands/reply.ts'
import type { ValuePlace } from '../located.ts'
import {
  bufferOf,
  bytesOfValue,
  callNames,
  type IndexCallOptions,
  type IndexValue,
  type KeyCaller,
  numberOf,
  placeIn,
} from './caller.ts'

/** Fields of a hash with their values. */
export type IndexFields = Readonly<Record<string, IndexValue>> | readonly (readonly [string | Uint8Array, IndexValue])[]

/** Fields with values, at a key. Fields are text or bytes. Made by `index.hashAt(key)`. */
export class IndexHash {
  readonly #at: KeyCaller

  /** @internal */
  constructor(at: KeyCaller) {
    this.#at = at
  }

  /** The value of a field; undefined if there is none. */
  async get(field: string | Uint8Array, options: IndexCallOptions = {}): Promise<Buffer | undefined> {
    const bytes = bytesOfValue(field, 'field')
    checkOptions('get', options, callNames)
    const looked = this.#at.shard.lookAtField(this.#at.key, bytes)
    if (looked instanceof Uint8Array || looked === null) return bufferOf(looked)
    return bufferOf(await this.#at.call('get', 'HGET', [bytes], options))
  }

  /** Where the value of a field lies in memory of a node: as `locate` of the index. */
  async locate(field: string | Uint8Array, options: IndexCallOptions = {}): Promise<ValuePlace | undefined> {
    const bytes = bytesOfValue(field, 'field')
    checkOptions('locate', options, callNames)
    return await placeIn(this.#at.shard, this.#at.key, options, bytes)
  }

  /** Store a field, or several; how many are new. */
  async set(fields: IndexFields, options: IndexCallOptions = {}): Promise<number> {
    const pairs = pairsOf(fields)
    const args = pairs.flatMap(([field, value]) => [bytesOfValue(field, 'field'), bytesOfValue(value)])
    return numberOf(await this.#at.call('set', 'HSET', args, options))
  }

  /** How many of the fields were there. */
  async delete(...fields: readonly (string | Uint8Array)[]): Promise<number> {
    if (fields.length === 0) return 0
    return numberOf(
      await this.#at.call(
        'delete',
        'HDEL',
        fields.map((field) => bytesOfValue(field, 'field')),
        undefined,
      ),
    )
  }

  async has(field: string | Uint8Array, options: IndexCallOptions = {}): Promise<boolean> {
    return (await this.#at.call('has', 'HEXISTS', [bytesOfValue(field, 'field')], options)) === 1
  }

  /** Add to the number that a field holds, and return the sum. */
  async increment(
    field: string | Uint8Array,
    by: number | bigint = 1,
    options: IndexCallOptions = {},
  ): Promise<number> {
    return numberOf(
      await this.#at.call('increment', 'HINCRBY', [bytesOfValue(field, 'field'), bytesOfValue(by)], options),
    )
  }

  /** All fields and values, in the order in which the fields came. */
  async entries(options: IndexCallOptions = {}): Promise<(readonly [field: Buffer, value: Buffer])[]> {
    checkOptions('entries', options, callNames)
    const looked = this.#at.shard.lookAtHash(this.#at.key)
    if (looked === null) return []
    if (typeof looked === 'object') return looked.map(([field, value]) => [bufferOf(field)!, bufferOf(value)!])
    const all = (await this.#at.call('entries', 'HGETALL', [], options)) as ReadonlyMap<Reply, Reply>
    return [...all].map(([field, value]) => [bufferOf(field)!, bufferOf(value)!])
  }

  async size(options: IndexCallOptions = {}): Promise<number> {
    return numberOf(await this.#at.call('size', 'HLEN', [], options))
  }
}

function pairsOf(fields: IndexFields): readonly (readonly [string | Uint8Array, IndexValue])[] {
  if (typeof fields !== 'object' || fields === null) throw mustBe('fields', FIELDS, fields)
  if (!Array.isArray(fields)) return Object.entries(fields)
  if (fields.every((pair) => Array.isArray(pair) && pair.length === 2)) return fields
  throw mustBe('fields', FIELDS, fields)
}

const FIELDS = 'an object such as { name: "ada" }, or pairs of a field and a value'
