import { EventEmitter } from 'node:events'
import type { KeyvEntry, KeyvStoreAdapter } from 'keyv'
import { checkIterable, checkOptions, checkText, checkWhole, mustBe, type OptionNames } from '../../native/index.ts'
import type { SharedMap, Structures } from '../../structures/index.ts'
import { checkWhere } from '../lease.ts'
import { LeasedMap } from '../leased-map.ts'

/** Options of {@link KeyvAether}. */
export interface KeyvAetherOptions {
  /** The map that holds the entries. Default `'keyv'`. */
  readonly name?: string
  /**
   * The most entries. Beyond that, an entry that was not read recently is evicted. Default: no bound. The process that
   * opened the map last decides for all, so a new version of a service may change it.
   */
  readonly maxEntries?: number
}

const names: OptionNames<KeyvAetherOptions> = { name: true, maxEntries: true }

/**
 * A Keyv store of what Keyv passes on: the text of its serializer or, without one, an object. Keys carry Keyv's
 * namespace as a prefix. The map keeps times to live by the machine's monotonic clock, and Keyv keeps them in the
 * value.
 */
export class KeyvAether extends EventEmitter implements KeyvStoreAdapter {
  /** Keyv 5 iterates only over stores of dialects that it knows: to Keyv, this one behaves like a Redis. */
  readonly opts: { readonly dialect: 'redis'; readonly url: string; deserialize?: unknown }
  /** Set by Keyv: the namespace whose entries `clear` deletes. */
  namespace?: string | undefined
  readonly #map: LeasedMap<unknown>

  /**
   * @param where the name of a space, which this process enters now; or open structures, which the caller
   *   has to close.
   */
  constructor(where: string | Structures, options: KeyvAetherOptions = {}) {
    super()
    checkWhere('where', where)
    checkOptions('new KeyvAether', options, names)
    const { name = 'keyv', maxEntries } = options
    checkText('options.name', name)
    checkEntries(maxEntries)
    this.opts = { dialect: 'redis', url: `aether:${name}` }
    this.#map = new LeasedMap(where, name, maxEntries === undefined ? {} : { maxEntries })
  }

  async get<Value>(key: string): Promise<Value | undefined> {
    const map = await this.#map.open()
    return map.getSync(key) as Value | undefined
  }

  async getMany<Value>(keys: string[]): Promise<(Value | undefined)[]> {
    checkKeys(keys)
    const map = await this.#map.open()
    return keys.map((key) => map.getSync(key) as Value | undefined)
  }

  /** `ttl` in milliseconds; undefined or 0: for ever. */
  async set(key: string, value: unknown, ttl?: number): Promise<boolean> {
    put(await this.#map.open(), { key, value, ...(ttl === undefined ? {} : { ttl }) })
    return true
  }

  async setMany(entries: KeyvEntry[]): Promise<void> {
    checkIterable('entries', entries, '{ key, value, ttl }')
    const map = await this.#map.open()
    for (const entry of entries) put(map, entry)
  }

  async has(key: string): Promise<boolean> {
    return (await this.#map.open()).hasSync(key)
  }

  async hasMany(keys: string[]): Promise<boolean[]> {
    checkKeys(keys)
    const map = await this.#map.open()
    return keys.map((key) => map.hasSync(key))
  }

  /** Delete `key`; false if it was not there. */
  async delete(key: string): Promise<boolean> {
    return (await this.#map.open()).deleteSync(key)
  }

  /** Delete `keys`; true if at least one of them was there. */
  async deleteMany(keys: string[]): Promise<boolean> {
    checkKeys(keys)
    const map = await this.#map.open()
    return keys.filter((key) => map.deleteSync(key)).length > 0
  }

  /** Delete the entries of the namespace; without one, all. */
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

  /**
   * Resolves when the space is open: from then on this process keeps what is in it. Await it before you announce that
   * the process is ready.
   */
  async ready(): Promise<void> {
    await this.#map.open()
  }

  /** Release the space, if it was named. The entries stay while another process has the space open. */
  async disconnect(): Promise<void> {
    await this.#map.close()
  }
}

/** The map opens later, and its error would come from a call that is right. @throws ArgumentError */
function checkEntries(maxEntries: number | undefined): void {
  if (maxEntries === undefined || maxEntries === Number.POSITIVE_INFINITY) return
  checkWhole('options.maxEntries', maxEntries, 1, 2 ** 26)
}

function checkKeys(keys: string[]): void {
  if (!Array.isArray(keys)) throw mustBe('keys', 'an array of strings', keys)
}

function put(map: SharedMap<unknown>, entry: KeyvEntry): void {
  const { key, value, ttl } = (entry ?? {}) as KeyvEntry
  if (ttl !== undefined && ttl !== null && typeof ttl !== 'number') throw mustBe('ttl', 'a number of milliseconds', ttl)
  map.setSync(key, value, { ttlMs: ttl !== undefined && ttl > 0 ? ttl : 0 })
}

function* within(map: SharedMap<unknown>, namespace: string | undefined): Generator<[string, unknown], undefined> {
  if (namespace !== undefined && typeof namespace !== 'string') throw mustBe('namespace', 'a string', namespace)
  const prefix = namespace === undefined ? '' : `${namespace}:`
  for (const [key, value] of map.entriesSync())
    if (typeof key === 'string' && key.startsWith(prefix)) yield [key, value]
  return undefined
}
