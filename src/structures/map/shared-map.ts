import type { Codec } from '../../codecs/index.ts'
import { checkAbort, checkFunction, checkOptions, checkSignal, mustBe, type OptionNames } from '../../native/index.ts'
import { HeapFullError } from '../errors.ts'
import type { Meter } from '../figures/meter.ts'
import { type Heap, offsetOf } from '../heap/heap.ts'
import { Reach } from '../heap/reach.ts'
import { ValueReader } from '../values/value-reader.ts'
import { encodeCopy, encodeValue, type ValueSettings } from '../values/value-settings.ts'
import type { WaitOptions } from '../waiting/wait-options.ts'
import { MapCore } from './core.ts'
import type { MapKey } from './key.ts'
import { BodyOffset, DELETED, EntryOffset, keyRoom } from './layout.ts'
import { ABSENT, ASK, LookUp } from './look-up.ts'
import { Sweeper } from './sweeper.ts'
import { isDeleted } from './table.ts'

/** The longest value in bytes when encoded, unless a map is opened with another bound. */
export const VALUE_BYTES_MAX: number = 2 ** 20

const EVICTED_AT_A_TIME = 8
const EVICTION_ATTEMPTS = 8

/** Options of `map()`. */
export interface MapOptions<V> {
  /** How values become bytes. Default `structured`. All openers must agree. */
  readonly codec?: Codec<V>
  /**
   * How long entries live if `set` does not say, in milliseconds; 0 or `Infinity`: for ever, which is the default of a
   * new map. The latest opener that passes it sets it for all, for what is written from then on.
   */
  readonly ttlMs?: number
  /**
   * The most entries (plus one for each concurrent writer). Beyond that, an entry that was not read recently is
   * evicted. `Infinity`: no bound, which is the default of a new map. The latest opener that passes it sets it for all;
   * with a lower bound the map shrinks at the next writes.
   */
  readonly maxEntries?: number
  /** The longest value that this process writes, in bytes when encoded. Default 1 MiB. */
  readonly valueBytesMax?: number
}

/** Options of calls that write. */
export interface SetOptions extends WaitOptions {
  /** How long the entry lives, in milliseconds, from now; 0: for ever. */
  readonly ttlMs?: number
}

export const mapNames: OptionNames<MapOptions<unknown>> = {
  codec: true,
  ttlMs: true,
  maxEntries: true,
  valueBytesMax: true,
}

const setNames: OptionNames<SetOptions> = { ttlMs: true, signal: true }

/** @throws ArgumentError; the reason of the signal if it is aborted. */
export function checkSet(call: string, options: SetOptions | undefined): void {
  if (options === undefined) return
  checkOptions(call, options, setNames)
  checkSignal('options.signal', options.signal)
  const { ttlMs } = options
  if (ttlMs === undefined || (typeof ttlMs === 'number' && ttlMs >= 0)) return
  throw mustBe('options.ttlMs', 'a number of milliseconds above 0, or 0 for ever', ttlMs)
}

/** What a change returns to leave the value as it is. */
export const UNCHANGED: unique symbol = Symbol('unchanged')

/** Options of {@link SharedMap.replace}. */
export interface ReplaceOptions extends SetOptions {
  /** The new value takes the place of one about as long, and may come from the memory that is kept back for that. */
  readonly isEssential?: boolean
}

/** What a map was opened with. Its bounds are read at each use: another process may change them. */
export interface MapSettings<V> extends ValueSettings<V> {
  /** Default: the meter of a map of this name. */
  readonly meter?: Meter
  /** 0: for ever. */
  readonly ttlMs: number
  /** 0: no bound. */
  readonly maxEntries: number
}

/**
 * A hash map that all processes read and write.
 *
 * Reads never wait, and take no lock. Each write is one atomic step: a reader sees the value before it or the one
 * after. A process that is killed while it writes has written or has not. Keys are text, numbers or bytes of at most 1
 * KiB. Values are whatever the codec takes, up to `valueBytesMax`.
 */
export class SharedMap<V> {
  readonly name: string
  readonly #heap: Heap
  readonly #core: MapCore
  readonly #settings: MapSettings<V>
  readonly #sweeper: Sweeper
  readonly #reader: ValueReader<V>
  readonly #lookUp: LookUp<V> | undefined
  readonly #meter: Meter

  /** @internal */
  constructor(name: string, heap: Heap, body: number, settings: MapSettings<V>) {
    this.name = name
    this.#heap = heap
    this.#core = new MapCore(heap, body)
    this.#settings = settings
    this.#meter = settings.meter ?? heap.meters.of('map', name)
    this.#reader = new ValueReader(heap.memory, settings.codec)
    this.#lookUp = LookUp.of(heap, body, settings.codec)
    this.#sweeper = new Sweeper(this.#core, this.#meter, (key, condition) => this.#remove(key, condition))
  }

  /** The value of `key`; undefined when there is none. */
  async get(key: MapKey, options?: WaitOptions): Promise<V | undefined> {
    checkAbort('get', options)
    return this.getSync(key)
  }

  getSync(key: MapKey): V | undefined {
    this.#heap.checkOpen()
    this.#meter.read()
    const length = this.#lookUp?.find(key, this.#settings.maxEntries !== 0) ?? ASK
    if (length >= 0) return this.#lookUp!.value(length)
    return length !== ABSENT && this.#read(key) ? this.#reader.decode() : undefined
  }

  async has(key: MapKey, options?: WaitOptions): Promise<boolean> {
    checkAbort('has', options)
    return this.hasSync(key)
  }

  hasSync(key: MapKey): boolean {
    this.#meter.read()
    return this.#has(key)
  }

  /** Set the value of `key`, replacing the previous one. */
  async set(key: MapKey, value: V, options?: SetOptions): Promise<void> {
    checkSet('set', options)
    this.setSync(key, value, options)
  }

  setSync(key: MapKey, value: V, options?: SetOptions): void {
    checkSet('setSync', options)
    this.#meter.wrote()
    this.#write(key, this.#encode(value), options, always)
  }

  /** Set the value of `key` if there is none; false if there is one. */
  async setIfAbsent(key: MapKey, value: V, options?: SetOptions): Promise<boolean> {
    checkSet('setIfAbsent', options)
    return this.setIfAbsentSync(key, value, options)
  }

  setIfAbsentSync(key: MapKey, value: V, options?: SetOptions): boolean {
    checkSet('setIfAbsentSync', options)
    this.#meter.wrote()
    return this.#write(key, this.#encode(value), options, (there) => this.#living(there) === 0)
  }

  /**
   * Replace `expected` by `value` (undefined: no value); false if the value is another. Values are compared as the
   * codec encodes them: objects by content, with their properties in the same order.
   */
  async compareAndSet(key: MapKey, expected: V | undefined, value: V, options?: SetOptions): Promise<boolean> {
    checkSet('compareAndSet', options)
    return this.compareAndSetSync(key, expected, value, options)
  }

  compareAndSetSync(key: MapKey, expected: V | undefined, value: V, options?: SetOptions): boolean {
    checkSet('compareAndSetSync', options)
    if (expected === undefined) return this.setIfAbsentSync(key, value, options)
    this.#meter.wrote()
    const wanted = encodeCopy({ codec: this.#settings.codec }, this.name, expected)
    return this.#write(key, this.#encode(value), options, (there) => this.#hasValue(there, wanted))
  }

  /**
   * Replace a value by the result of `change`; undefined stands for no value, before and after. Returns the new value.
   * If another process writes in between, `change` is called again, so it must be free of side effects. The entry keeps
   * its end of life unless `ttlMs` is given.
   */
  async update(
    key: MapKey,
    change: (value: V | undefined) => V | undefined,
    options?: SetOptions,
  ): Promise<V | undefined> {
    checkSet('update', options)
    return this.updateSync(key, change, options)
  }

  updateSync(key: MapKey, change: (value: V | undefined) => V | undefined, options?: SetOptions): V | undefined {
    checkFunction('change', change, 'from the present value to the next')
    checkSet('updateSync', options)
    this.#meter.wrote()
    return this.#replace(key, change, options) as V | undefined
  }

  /** The same for structures that are made of maps: a change may also be {@link UNCHANGED}. @internal */
  static replace<V>(
    map: SharedMap<V>,
    key: MapKey,
    change: (value: V | undefined) => V | undefined | typeof UNCHANGED,
    options?: ReplaceOptions,
  ): V | undefined | typeof UNCHANGED {
    return map.#replace(key, change, options)
  }

  #replace(
    key: MapKey,
    change: (value: V | undefined) => V | undefined | typeof UNCHANGED,
    options: ReplaceOptions | undefined,
  ): V | undefined | typeof UNCHANGED {
    for (;;) {
      const seen = this.#look(key)
      const value = change(seen.entry === 0 ? undefined : this.#reader.decode())
      if (value === UNCHANGED) return value
      const unchanged = (there: number) => this.#isSame(there, seen)
      const written =
        value === undefined
          ? seen.entry === 0 || this.#remove(key, unchanged)
          : this.#write(key, this.#encode(value), options, unchanged, seen.entry === 0 ? undefined : seen.endOfLife)
      if (written) return value
    }
  }

  /** Delete `key`; false if there was no value. */
  async delete(key: MapKey, options?: WaitOptions): Promise<boolean> {
    checkAbort('delete', options)
    return this.deleteSync(key)
  }

  deleteSync(key: MapKey): boolean {
    this.#meter.wrote()
    if (!this.#has(key)) return false
    return this.#remove(key, (there) => this.#living(there) !== 0)
  }

  /** How many entries there are, including expired ones that no operation has met since. */
  async size(options?: WaitOptions): Promise<number> {
    checkAbort('size', options)
    return this.sizeSync()
  }

  sizeSync(): number {
    this.#heap.checkOpen()
    this.#meter.read()
    return this.#core.count()
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
    for (const entry of this.entriesSync()) {
      signal?.throwIfAborted()
      yield entry
    }
    return undefined
  }

  *entriesSync(): Generator<[MapKey, V], undefined> {
    this.#meter.read()
    for (let from = 0; from < 2 ** 32; ) {
      this.#heap.checkOpen()
      const part = new Map<string, [MapKey, V]>()
      from = this.#core.visit(from, (entry) => this.#gather(part, entry))
      yield* part.values()
    }
    return undefined
  }

  [Symbol.asyncIterator](): AsyncGenerator<[MapKey, V], undefined> {
    return this.entries()
  }

  /** Delete all entries that are there now. */
  async clear(options?: WaitOptions): Promise<void> {
    checkAbort('clear', options)
    this.clearSync()
  }

  clearSync(): void {
    for (const [key] of this.entriesSync()) this.deleteSync(key)
  }

  #has(key: MapKey): boolean {
    this.#heap.checkOpen()
    this.#core.key.set(key)
    const { epochs } = this.#heap
    epochs.enter()
    try {
      return this.#living(this.#core.lookUp()) !== 0
    } finally {
      epochs.exit()
    }
  }

  /** Copies the value; false when there is none. */
  #read(key: MapKey): boolean {
    this.#heap.checkOpen()
    this.#core.key.set(key)
    const { epochs } = this.#heap
    epochs.enter()
    try {
      const entry = this.#living(this.#core.lookUp())
      if (entry === 0) return false
      if (this.#settings.maxEntries !== 0) this.#touch(entry)
      this.#copyValue(entry)
      return true
    } finally {
      epochs.exit()
    }
  }

  /** The same, and which entry it is. */
  #look(key: MapKey): Seen {
    this.#heap.checkOpen()
    this.#core.key.set(key)
    const { epochs, memory, blocks } = this.#heap
    epochs.enter()
    try {
      const entry = this.#living(this.#core.lookUp())
      if (entry === 0) return NOTHING_SEEN
      this.#copyValue(entry)
      const endOfLife = memory.peekFloat(offsetOf(entry) + EntryOffset.EndOfLife)
      return { entry, state: blocks.peekState(entry), endOfLife }
    } finally {
      epochs.exit()
    }
  }

  #isSame(there: number, seen: Seen): boolean {
    if (seen.entry === 0) return this.#living(there) === 0
    return there === seen.entry && this.#heap.blocks.peekState(there) === seen.state
  }

  #write(
    key: MapKey,
    value: Uint8Array,
    options: ReplaceOptions | undefined,
    condition: (there: number) => boolean,
    endOfLife?: number,
  ): boolean {
    this.#heap.checkOpen()
    const end = options?.ttlMs === undefined && endOfLife !== undefined ? endOfLife : this.#endOfLife(options?.ttlMs)
    const written = this.#withRoom(() => this.#put(key, value, value.length, end, condition, options?.isEssential))
    if (written) this.#sweeper.afterWrite(this.#settings.maxEntries)
    return written
  }

  #remove(key: MapKey, condition: (there: number) => boolean): boolean {
    this.#heap.checkOpen()
    return this.#put(key, NOTHING, DELETED, 0, (there) => there !== 0 && condition(there))
  }

  #put(
    key: MapKey,
    value: Uint8Array,
    valueLength: number,
    endOfLife: number,
    condition: (there: number) => boolean,
    // The mark of a deleted key gives back the memory of its value.
    isEssential: boolean = valueLength === DELETED,
  ): boolean {
    const core = this.#core
    const { memory, intent } = this.#heap
    core.prepare()
    core.key.set(key)
    intent.begin(core.body, Reach.Map)
    const room = keyRoom(core.key.meta)
    const { reference } = this.#heap.allocate(EntryOffset.Bytes + room + value.length, isEssential)
    const at = offsetOf(reference)
    memory.poke(at + EntryOffset.Linked, 0)
    memory.poke(at + EntryOffset.ValueLength, valueLength)
    memory.pokeFloat(at + EntryOffset.EndOfLife, endOfLife)
    memory.poke(at + EntryOffset.Touched, 0)
    core.key.store(memory, at)
    memory.write(at + EntryOffset.Bytes + room, value, value.length)
    if (core.link(reference, condition)) return true
    this.#heap.release(reference)
    intent.end()
    return false
  }

  /** If there is no memory, what has expired goes, then what may be evicted. */
  #withRoom(put: () => boolean): boolean {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return put()
      } catch (error) {
        if (!(error instanceof HeapFullError) || attempt === EVICTION_ATTEMPTS) throw error
        if (this.#sweeper.expire()) continue
        if (this.#settings.maxEntries === 0) throw error
        this.#sweeper.evict(EVICTED_AT_A_TIME << attempt)
      }
    }
  }

  /** The entry, unless it is missing, deleted or expired. */
  #living(entry: number): number {
    if (entry === 0 || isDeleted(this.#heap, entry)) return 0
    const end = this.#heap.memory.peekFloat(offsetOf(entry) + EntryOffset.EndOfLife)
    return end !== 0 && end <= this.#heap.nowMs() ? 0 : entry
  }

  #touch(entry: number): void {
    const at = offsetOf(entry) + EntryOffset.Touched
    if (this.#heap.memory.peek(at) === 0) this.#heap.memory.poke(at, 1)
  }

  #copyValue(entry: number): void {
    this.#reader.copy(this.#valueOffset(entry), this.#heap.memory.peek(offsetOf(entry) + EntryOffset.ValueLength))
  }

  #valueOffset(entry: number): number {
    const at = offsetOf(entry)
    return at + EntryOffset.Bytes + keyRoom(this.#heap.memory.peek(at + EntryOffset.Key))
  }

  #hasValue(there: number, wanted: Uint8Array): boolean {
    const entry = this.#living(there)
    if (entry === 0 || this.#heap.memory.peek(offsetOf(entry) + EntryOffset.ValueLength) !== wanted.length) return false
    return Buffer.compare(this.#heap.memory.view(this.#valueOffset(entry), wanted.length), wanted) === 0
  }

  #gather(part: Map<string, [MapKey, V]>, entry: number): void {
    if (this.#living(entry) === 0) return
    const { key } = this.#core
    key.load(this.#heap.memory, offsetOf(entry))
    const name = `${key.meta} ${Buffer.from(key.bytes.buffer, 0, key.meta & 0xffff).toString('latin1')}`
    if (part.has(name)) return
    this.#copyValue(entry)
    part.set(name, [key.value(), this.#reader.decode()])
  }

  #endOfLife(ttlMs: number = this.#settings.ttlMs): number {
    if (ttlMs === 0) return 0
    const flag = this.#core.body + BodyOffset.Expires
    if (this.#heap.memory.peek(flag) === 0) this.#heap.memory.store(flag, 1)
    return this.#heap.nowMs() + ttlMs
  }

  #encode(value: V): Uint8Array {
    return encodeValue(this.#settings, this.name, value)
  }
}

/** An entry as it was when it was looked at. Its state tells it from a later one in the same memory. */
interface Seen {
  readonly entry: number
  readonly state: number
  readonly endOfLife: number
}

const NOTHING_SEEN: Seen = { entry: 0, state: 0, endOfLife: 0 }
const NOTHING = new Uint8Array(0)
const always = () => true
