import type { Codec } from '../../../codecs/index.ts'
import { checkAbort } from '../../../native/index.ts'
import { checkCount, checkIndex } from '../../bounds.ts'
import type { LogEntry } from '../../log/entry-follower.ts'
import { checkFollow, type FollowOptions } from '../../log/follower.ts'
import type { LogBounds } from '../../log/log-core.ts'
import { READ_COUNT, type SharedLog, TAIL_COUNT } from '../../log/shared-log.ts'
import { encodeCopy } from '../../values/value-settings.ts'
import type { WaitOptions } from '../../waiting/wait-options.ts'
import type { Promised } from '../memory/promised.ts'
import { GroupFollower } from './follower.ts'
import type { GroupLogCore } from './log-core.ts'
import type { RecordRead } from './reader.ts'

/** How this rank has opened a log or channel of a group, besides what is kept with it. */
export interface GroupLogSettings<V> {
  readonly codec: Codec<V>
  readonly valueBytesMax: number
}

/** What a log and a channel of a group have in common. */
export class GroupLogBase<V> {
  readonly name: string
  protected readonly core: GroupLogCore
  readonly #settings: GroupLogSettings<V>

  /** @internal */
  constructor(name: string, core: GroupLogCore, settings: GroupLogSettings<V>) {
    this.name = name
    this.core = core
    this.#settings = settings
  }

  protected async add(call: string, value: V, options: WaitOptions | undefined): Promise<number> {
    checkAbort(call, options)
    return await this.core.append(encodeCopy(this.#settings, this.name, value), options?.signal)
  }

  protected followFrom(begin: Promise<number>, signal: AbortSignal | undefined): GroupFollower<V> {
    return new GroupFollower(this.core, this.#settings.codec, begin, signal)
  }

  protected entries(records: readonly RecordRead[], from: number): readonly LogEntry<V>[] {
    const { codec } = this.#settings
    let wanted = from
    return records.map(({ index, value }) => {
      const missed = index - wanted
      wanted = index + 1
      return { index, value: codec.decode(value), missed }
    })
  }
}

/**
 * Entries in the order in which the ranks of a group append them, the latest of which are kept; as {@link SharedLog} on
 * one machine. Each is there whole or not at all. A rank that dies or is stopped while it appends delays no one. An
 * append is one round trip, and one more for each append of another rank that came first. It takes effect in the
 * compare-and-swap of its slot (log-core.ts).
 */
export class GroupLog<V>
  extends GroupLogBase<V>
  implements AsyncIterable<LogEntry<V>>, Omit<Promised<SharedLog<V>>, 'follow' | typeof Symbol.asyncIterator>
{
  /**
   * Append an entry. Resolves with its index. Entries of one rank are in the order of the calls. @throws HeapFullError
   * (no entry is dropped to make room); HomeLostError, of all methods.
   */
  append(value: V, options?: WaitOptions): Promise<number> {
    return this.add('append', value, options)
  }

  /**
   * Up to `count` entries (default 1000) from index `from` on. If that one was dropped, it starts at the first one
   * left, whose `missed` says how many were. Two round trips for 30 entries.
   */
  async read(from: number, count: number = READ_COUNT, options?: WaitOptions): Promise<readonly LogEntry<V>[]> {
    checkAbort('read', options)
    return this.entries(await this.core.read(checkIndex(from, 'from'), checkCount(count)), from)
  }

  /** The last `count` entries (default 10), oldest first. Three round trips. */
  async tail(count: number = TAIL_COUNT, options?: WaitOptions): Promise<readonly LogEntry<V>[]> {
    checkAbort('tail', options)
    const from = Math.max(0, (await this.core.findEnd()) - checkCount(count))
    const records = await this.core.read(from, count)
    return this.entries(records, records[0]?.index ?? from)
  }

  /**
   * The index of the first entry that is there, and that of the next one to be appended. Each is as it was at a moment
   * of the call. Two round trips.
   */
  async bounds(options?: WaitOptions): Promise<LogBounds> {
    checkAbort('bounds', options)
    return await this.core.bounds()
  }

  /** Drop the entries below index `before`. Resolves with the number that this call dropped. */
  async trim(before: number, options?: WaitOptions): Promise<number> {
    checkAbort('trim', options)
    return await this.core.trim(checkCount(before, 'before'), options?.signal)
  }

  /**
   * Yields the entries that are there, then those to come. If entries were dropped before they were read, the next
   * one's `missed` says how many. With `from: 'next'` the starting index is requested at once; the follower's `ready`
   * resolves when it is known.
   */
  follow(options: FollowOptions = {}): GroupFollower<V> {
    checkFollow(options)
    const { from = 'first', signal } = options
    return this.followFrom(this.#beginOf(from), signal)
  }

  [Symbol.asyncIterator](): GroupFollower<V> {
    return this.follow()
  }

  async #beginOf(from: 'first' | 'next' | number): Promise<number> {
    if (from === 'next') return await this.core.beginHere()
    return from === 'first' ? (await this.core.bounds()).first : from
  }
}
