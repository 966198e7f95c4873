import { type Codec, decodeOwn } from '../../codecs/index.ts'
import { checkAbort, type OptionNames } from '../../native/index.ts'
import { checkCount, checkIndex } from '../bounds.ts'
import type { Meter } from '../figures/meter.ts'
import type { Heap } from '../heap/heap.ts'
import { encodeValue, type ValueSettings } from '../values/value-settings.ts'
import { BELL_BYTES, Bell } from '../waiting/bell.ts'
import type { WaitOptions } from '../waiting/wait-options.ts'
import type { LogEntry } from './entry-follower.ts'
import { checkFollow, type Followed, Follower, type FollowOptions } from './follower.ts'
import { type LogBounds, LogCore, type LogRecord, type Retention } from './log-core.ts'

/** Bytes of a log's or channel's body: its bell, then its words. */
export const LOG_BODY_BYTES: number = BELL_BYTES + 64

/** Entries that a log keeps unless told otherwise. */
export const LOG_CAPACITY = 10_000
/** Entries that are read at once unless told otherwise. */
export const READ_COUNT = 1000
export const TAIL_COUNT = 10

/** Options of `log()`. */
export interface LogOptions<V> {
  /** How values become bytes. Default `structured`. All openers must agree. */
  readonly codec?: Codec<V>
  /**
   * The most entries that it keeps; beyond that the oldest are dropped. Default of a new log: 10,000. The latest opener
   * that passes it sets it for all; in a group all must agree.
   */
  readonly capacity?: number
  /**
   * The most bytes of encoded values that it keeps; the newest entry always stays. Default of a new log: only
   * `capacity` bounds it. The latest opener that passes it sets it for all; in a group all must agree.
   */
  readonly capacityBytes?: number
  /** The longest value that this process appends, in bytes when encoded. Default 1 MiB. */
  readonly valueBytesMax?: number
}

export const logNames: OptionNames<LogOptions<unknown>> = {
  codec: true,
  capacity: true,
  capacityBytes: true,
  valueBytesMax: true,
}

/** What a log or channel was opened with. */
export interface LogSettings<V> extends ValueSettings<V> {
  readonly retention: Retention
  readonly meter: Meter
}

/** What a log and a channel have in common. */
export class LogBase<V> {
  readonly name: string
  protected readonly core: LogCore
  readonly #heap: Heap
  readonly #bell: Bell
  readonly #settings: LogSettings<V>

  /** @internal */
  constructor(name: string, heap: Heap, body: number, settings: LogSettings<V>) {
    this.name = name
    this.#heap = heap
    this.#bell = new Bell(heap, body, { meter: settings.meter })
    this.core = new LogCore(heap, body + BELL_BYTES, settings.retention, settings.meter)
    this.#settings = settings
  }

  protected get meter(): Meter {
    return this.#settings.meter
  }

  protected checkOpen(): void {
    this.#heap.checkOpen()
  }

  protected add(value: V): number {
    this.#heap.checkOpen()
    this.meter.wrote()
    const index = this.core.append(encodeValue(this.#settings, this.name, value))
    this.#bell.ring()
    return index
  }

  protected followFrom(from: number, signal: AbortSignal | undefined): Follower<V> {
    const followed: Followed<V> = {
      name: this.name,
      core: this.core,
      bell: this.#bell,
      codec: this.#settings.codec,
      meter: this.meter,
      checkOpen: () => this.#heap.checkOpen(),
    }
    return new Follower(followed, from, signal)
  }

  protected entries(records: readonly LogRecord[], from: number): readonly LogEntry<V>[] {
    const { codec } = this.#settings
    let wanted = from
    return records.map(({ index, value }) => {
      // Some may be dropped between one record and the next, while they are read.
      const missed = index - wanted
      wanted = index + 1
      return { index, value: decodeOwn(codec, value), missed }
    })
  }
}

/**
 * Entries in the order in which processes append them, the latest of which are kept. Each is there whole or not at all;
 * a process that is killed while it appends delays no one. Made by {@link Structures.log}.
 */
export class SharedLog<V> extends LogBase<V> implements AsyncIterable<LogEntry<V>> {
  /** Append an entry. Resolves with its index. @throws HeapFullError; no entry is dropped to make room. */
  async append(value: V, options?: WaitOptions): Promise<number> {
    checkAbort('append', options)
    return this.appendSync(value)
  }

  appendSync(value: V): number {
    return this.add(value)
  }

  /**
   * Up to `count` entries (default 1000) from index `from` on. If that one was dropped, it starts at the first one
   * left, whose `missed` says how many were.
   */
  async read(from: number, count?: number, options?: WaitOptions): Promise<readonly LogEntry<V>[]> {
    checkAbort('read', options)
    return this.readSync(from, count)
  }

  readSync(from: number, count: number = READ_COUNT): readonly LogEntry<V>[] {
    this.checkOpen()
    this.meter.read()
    return this.entries(this.core.read(checkIndex(from, 'from'), checkCount(count)), from)
  }

  /** The last `count` entries (default 10), oldest first. */
  async tail(count?: number, options?: WaitOptions): Promise<readonly LogEntry<V>[]> {
    checkAbort('tail', options)
    return this.tailSync(count)
  }

  tailSync(count: number = TAIL_COUNT): readonly LogEntry<V>[] {
    this.checkOpen()
    this.meter.read()
    const { first, end } = this.core.bounds()
    const from = Math.max(first, end - checkCount(count))
    const records = this.core.read(from, count)
    return this.entries(records, records[0]?.index ?? from)
  }

  /** The index of the first entry that is there, and that of the next one to be appended. */
  async bounds(options?: WaitOptions): Promise<LogBounds> {
    checkAbort('bounds', options)
    return this.boundsSync()
  }

  boundsSync(): LogBounds {
    this.checkOpen()
    this.meter.read()
    return this.core.bounds()
  }

  /** Drop the entries below index `before`. Resolves with the number that this call dropped. */
  async trim(before: number, options?: WaitOptions): Promise<number> {
    checkAbort('trim', options)
    return this.trimSync(before)
  }

  trimSync(before: number): number {
    this.checkOpen()
    this.meter.wrote()
    return this.core.trim(checkCount(before, 'before'))
  }

  /**
   * Yields the entries that are there, then those to come. If entries were dropped before they were read, the next
   * one's `missed` says how many.
   */
  follow(options: FollowOptions = {}): Follower<V> {
    checkFollow(options)
    this.checkOpen()
    const { from = 'first', signal } = options
    const { first, end } = this.core.bounds()
    return this.followFrom(from === 'first' ? first : from === 'next' ? end : from, signal)
  }

  [Symbol.asyncIterator](): Follower<V> {
    return this.follow()
  }
}
