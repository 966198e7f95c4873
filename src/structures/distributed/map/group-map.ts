import type { Codec } from '../../../codecs/index.ts'
import { checkAbort, checkFunction, type OptionNames } from '../../../native/index.ts'
import type { MapKey } from '../../map/key.ts'
import { checkSet, type SetOptions, type SharedMap } from '../../map/shared-map.ts'
import { encodeCopy } from '../../values/value-settings.ts'
import type { WaitOptions } from '../../waiting/wait-options.ts'
import type { Promised } from '../memory/promised.ts'
import type { MapEntry } from './entry.ts'
import { decodeKey, encodeKey, type KeyBytes } from './key.ts'
import type { MapChange, MapShard } from './shard.ts'

/** The longest value of a group's map in bytes when encoded: a block has 64 KiB. */
export const GROUP_VALUE_BYTES_MAX: number = 60 * 1024

/**
 * Options of `map()` of a group's structures. All but `capacity` and `valueBytesMax` are kept with the map: all openers
 * must agree on them.
 */
export interface GroupMapOptions<V> {
  /** How values become bytes. Default `structured`. */
  readonly codec?: Codec<V>
  /**
   * How long entries live if `set` does not say, in milliseconds. Default: for ever. Clocks of machines differ, and so
   * do lifetimes.
   */
  readonly ttlMs?: number
  /**
   * The most entries (plus one for each concurrent writer). Beyond that, an entry that was not used recently is
   * evicted. Default: no bound. With `spread` each home bounds its part, to `maxEntries` divided by the number of
   * homes, rounded up.
   */
  readonly maxEntries?: number
  /**
   * How many entries it is made for at first: 1 to 2.5 million at each home, default 5000. Has an effect only for the
   * call that makes it. It grows by itself, to about 3 million.
   */
  readonly capacity?: number
  /**
   * Have every home keep a part of the entries, by their keys, instead of one home all of them. If a home is lost, only
   * its part is.
   */
  readonly spread?: boolean
  /** The longest value that this rank writes, in bytes when encoded. Default and maximum: 60 KiB. */
  readonly valueBytesMax?: number
}

export const groupMapNames: OptionNames<GroupMapOptions<unknown>> = {
  codec: true,
  ttlMs: true,
  maxEntries: true,
  capacity: true,
  spread: true,
  valueBytesMax: true,
}

/** What a map was opened with. */
export interface GroupMapSettings<V> {
  readonly codec: Codec<V>
  /** 0: for ever. */
  readonly ttlMs: number
  readonly valueBytesMax: number
}

/** A part of a map, at one home. */
export interface MapPart {
  readonly shard: MapShard
  readonly seed: number
}

/**
 * A hash map that the ranks of a group read and write; as {@link SharedMap} on one machine. Reads are one round trip or
 * two; writes three, of a new key four or three. See shard.ts for why each is one atomic step for all readers, and
 * for what a rank that dies leaves behind.
 */
export class GroupMap<V> implements Promised<SharedMap<V>> {
  readonly name: string
  readonly #parts: readonly MapPart[]
  readonly #settings: GroupMapSettings<V>

  /** @internal */
  constructor(name: string, parts: readonly MapPart[], settings: GroupMapSettings<V>) {
    this.name = name
    this.#parts = parts
    this.#settings = settings
  }

  /** The value of `key`; undefined when there is none. @throws HomeLostError, of all methods. */
  async get(key: MapKey, options?: WaitOptions): Promise<V | undefined> {
    checkAbort('get', options)
    const { shard, bytes } = this.#find(key)
    const entry = await shard.find(bytes, true)
    return entry && this.#decode(entry)
  }

  async has(key: MapKey, options?: WaitOptions): Promise<boolean> {
    checkAbort('has', options)
    const { shard, bytes } = this.#find(key)
    return (await shard.find(bytes, false)) !== undefined
  }

  /**
   * Set the value of `key`, replacing the previous one. @throws StructureError if the map is full; HeapFullError if its
   * home has no memory.
   */
  async set(key: MapKey, value: V, options?: SetOptions): Promise<void> {
    checkSet('set', options)
    const put = this.#put(value, options)
    await this.#change(key, options, () => put)
  }

  /** Set the value of `key` if there is none; false if there is one. */
  async setIfAbsent(key: MapKey, value: V, options?: SetOptions): Promise<boolean> {
    checkSet('setIfAbsent', options)
    const put = this.#put(value, options)
    const there = await this.#change(key, options, (entry) => (entry === undefined ? put : KEEP))
    return there === undefined
  }

  /**
   * Replace `expected` by `value` (undefined: no value); false if the value is another. Values are compared as the
   * codec encodes them: objects by content, with their properties in the same order.
   */
  async compareAndSet(key: MapKey, expected: V | undefined, value: V, options?: SetOptions): Promise<boolean> {
    checkSet('compareAndSet', options)
    if (expected === undefined) return await this.setIfAbsent(key, value, options)
    const wanted = encodeCopy({ codec: this.#settings.codec }, this.name, expected)
    const put = this.#put(value, options)
    const isWanted = (entry: MapEntry | undefined): boolean =>
      entry !== undefined && Buffer.compare(entry.value, wanted) === 0
    return isWanted(await this.#change(key, options, (entry) => (isWanted(entry) ? put : KEEP)))
  }

  /**
   * Replace a value by the result of `change`; undefined stands for no value, before and after. Resolves with the new
   * value. If another rank writes in between, `change` is called again, so it must be free of side effects. The entry
   * keeps its end of life unless `ttlMs` is given.
   */
  async update(
    key: MapKey,
    change: (value: V | undefined) => V | undefined,
    options?: SetOptions,
  ): Promise<V | undefined> {
    checkFunction('change', change, 'from the present value to the next')
    checkSet('update', options)
    let value: V | undefined
    await this.#change(key, options, (entry) => {
      value = change(entry && this.#decode(entry))
      if (value === undefined) return REMOVE
      const endOfLife = options?.ttlMs === undefined && entry !== undefined ? entry.endOfLife : undefined
      return this.#put(value, options, endOfLife)
    })
    return value
  }

  /** Delete `key`; false if there was no value. */
  async delete(key: MapKey, options?: WaitOptions): Promise<boolean> {
    checkAbort('delete', options)
    return (await this.#change(key, options, () => REMOVE)) !== undefined
  }

  /**
   * How many entries there are, including expired ones that no operation has met since. Reads the whole table, so a
   * concurrent change is counted or not.
   */
  async size(options?: WaitOptions): Promise<number> {
    checkAbort('size', options)
    const counts = await Promise.all(this.#parts.map(({ shard }) => shard.count()))
    return counts.reduce((sum, count) => sum + count, 0)
  }

  /**
   * Keys and values, in no order. An entry that stays during the whole iteration is given once, with a value that it
   * had meanwhile. Of entries that come and go meanwhile, some are given.
   */
  entries(options?: WaitOptions): AsyncGenerator<[MapKey, V], undefined> {
    checkAbort('entries', options)
    return this.#entries(options?.signal)
  }

  async *#entries(signal: AbortSignal | undefined): AsyncGenerator<[MapKey, V], undefined> {
    for (const { shard } of this.#parts) {
      for await (const some of shard.visit()) {
        signal?.throwIfAborted()
        for (const entry of some) yield [decodeKey(entry.keyMeta, entry.key), this.#decode(entry)]
      }
    }
    return undefined
  }

  [Symbol.asyncIterator](): AsyncGenerator<[MapKey, V], undefined> {
    return this.entries()
  }

  /** Delete all entries that are there now; entries that others put meanwhile may stay. */
  async clear(options?: WaitOptions): Promise<void> {
    checkAbort('clear', options)
    await Promise.all(this.#parts.map(({ shard }) => shard.clear()))
  }

  /** Resolves with the live entry that was there before. */
  async #change(
    key: MapKey,
    options: WaitOptions | undefined,
    decide: (there: MapEntry | undefined) => MapChange,
  ): Promise<MapEntry | undefined> {
    const { shard, bytes } = this.#find(key)
    return await shard.change(bytes, (living) => {
      options?.signal?.throwIfAborted()
      return decide(living)
    })
  }

  #find(key: MapKey): { readonly shard: MapShard; readonly bytes: KeyBytes } {
    const [first] = this.#parts as readonly [MapPart]
    const bytes = encodeKey(key, first.seed)
    if (this.#parts.length === 1) return { shard: first.shard, bytes }
    return { shard: this.#partOf(bytes).shard, bytes }
  }

  /** By other bits than those that the buckets follow from. */
  #partOf({ first, second }: KeyBytes): MapPart {
    const mixed = Math.imul(first ^ (second >>> 5), SPREAD) >>> 0
    return this.#parts[Math.floor((mixed / 2 ** 32) * this.#parts.length)]!
  }

  #put(value: V, options: SetOptions | undefined, endOfLife?: number): MapChange {
    const bytes = encodeCopy(this.#settings, this.name, value)
    return { kind: 'put', value: bytes, endOfLife: endOfLife ?? this.#endOfLife(options?.ttlMs) }
  }

  #endOfLife(ttlMs: number = this.#settings.ttlMs): number {
    return ttlMs === 0 ? 0 : this.#nowMs() + ttlMs
  }

  #nowMs(): number {
    return this.#parts[0]!.shard.memory.group.nowMs()
  }

  #decode({ value }: MapEntry): V {
    return this.#settings.codec.decode(value)
  }
}

const KEEP: MapChange = { kind: 'keep' }
const REMOVE: MapChange = { kind: 'remove' }
const SPREAD = 0x9e3779b1
