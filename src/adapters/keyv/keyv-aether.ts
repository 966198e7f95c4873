import { EventEmitter } from 'node:events'
import type { KeyvEntry, KeyvStoreAdapter } from 'keyv'
import type { SharedMap, Structures } from '../../structures/index.ts'
import { LeasedMap } from '../leased-map.ts'

/** Options of {@link KeyvAether}. The same for all processes that use the map. */
export interface KeyvAetherOptions {
  /** The map that entries are kept in. Default `'keyv'`. */
  readonly name?: string
  /** The most entries: beyond, one that was not read lately goes. Default: none go. */
  readonly maxEntries?: number
}

/**
 * What Keyv hands over: the text of its serializer; or, without one, an object. Keys carry Keyv's namespace as a
 * prefix. Times to live are kept by the map, whose clock is the machine's and monotonic, and by Keyv in the value.
 */
export class KeyvAether extends EventEmitter implements KeyvStoreAdapter {
  /**
   * Keyv 5 iterates only over stores of dialects that it knows: as far as it can tell this one behaves like a Redis.
   */
  readonly opts: { readonly dialect: 'redis'; readonly url: string; deserialize?: unknown }
  /** Set by Keyv: whose entries `clear` takes away. */
  namespace?: string | undefined
  readonly #map: LeasedMap<unknown>

  /**
   * @param where the name of a space, which is entered when the store is first used; or structures that are open, which
   * stay their owner's to close.
   */
  constructor(where: string | Structures, options: KeyvAetherOptions = {}) {
    super()
    const { name = 'keyv', maxEntries } = options
    this.opts = { dialect: 'redis', url: `aether:${name}` }
    this.#map = new LeasedMap(where, name, maxEntries === undefined ? {} : { maxEntries })
  }

  async get<Value>(key: string): Promise<Value | undefined> {
    const map = await this.#map.open()
    return map.getSync(key) as Value | undefined
  }

  async getMany<Value>(keys: string[]): Promise<(Value | undefined)[]> {
    const map = await this.#map.open()
    return keys.map((key) => map.getSync(key) as Value | undefined)
  }

  /** `ttl` in milliseconds; none, or 0: for ever. */
  async set(key: string, value: unknown, ttl?: number): Promise<boolean> {
    put(await this.#map.open(), { key, value, ...(ttl === undefined ? {} : { ttl }) })
    return true
  }

  async setMany(entries: KeyvEntry[]): Promise<void> {
    const map = await this.#map.open()
    for (const entry of entries) put(map, entry)
  }

  async has(key: string): Promise<boolean> {
    return (await this.#map.open()).hasSync(key)
  }

  async hasMany(keys: string[]): Promise<boolean[]> {
    const map = await this.#map.open()
    return keys.map((key) => map.hasSync(key))
  }

  /** False when there was none. */
  async delete(key: string): Promise<boolean> {
    return (await this.#map.open()).deleteSync(key)
  }

  /** True when at least one of them was there. */
  async deleteMany(keys: string[]): Promise<boolean> {
    const map = await this.#map.open()
    return keys.filter((key) => map.deleteSync(key)).length > 0
  }

  /** Delete what belongs to the namespace; without one, all. */
  async clear(): Promise<void> {
    const map = await this.#map.open()
    if (this.namespace === undefined) map.clearSync()
    else for (const [key] of within(map, this.namespace)) map.deleteSync(key)
  }

  /** Keys, with the namespace's prefix, and values. */
  async *iterator<Value>(namespace?: string): AsyncGenerator<[string, Value], void> {
    const map = await this.#map.open()
    for (const [key, value] of within(map, namespace)) yield [key, value as Value]
  }

  /** Give up the space, if it was named. The entries stay while another process is in it. */
  async disconnect(): Promise<void> {
    await this.#map.close()
  }
}

function put(map: SharedMap<unknown>, { key, value, ttl }: KeyvEntry): void {
  map.setSync(key, value, { ttlMs: ttl !== undefined && ttl > 0 ? ttl : 0 })
}

function* within(map: SharedMap<unknown>, namespace: string | undefined): Generator<[string, unknown], undefined> {
  const prefix = namespace === undefined ? '' : `${namespace}:`
  for (const [key, value] of map.entriesSync())
    if (typeof key === 'string' && key.startsWith(prefix)) yield [key, value]
  return undefined
}
