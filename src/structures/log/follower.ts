import { type Codec, decodeOwn } from '../../codecs/index.ts'
import { checkOptions, checkSignalKind, mustBe, type OptionNames } from '../../native/index.ts'
import { isIndex } from '../bounds.ts'
import type { Meter } from '../figures/meter.ts'
import type { Bell } from '../waiting/bell.ts'
import { type BlockOptions, checkBlock, type WaitOptions } from '../waiting/wait-options.ts'
import { EntryFollower, type LogEntry } from './entry-follower.ts'
import type { LogCore, LogPosition } from './log-core.ts'

/** What a {@link Follower} follows. @internal */
export interface Followed<V> {
  readonly name: string
  readonly core: LogCore
  readonly bell: Bell
  readonly codec: Codec<V>
  readonly meter: Meter
  checkOpen(): void
}

/**
 * Yields the entries of a log or channel one after the other, and waits for more. It ends when it is closed or its
 * signal is aborted. Its position is known to this process alone.
 *
 * ```ts
 * for await (const { value, missed } of channel.subscribe({ signal })) console.log(value, missed)
 * ```
 */
export class Follower<V> extends EntryFollower<V> {
  readonly #followed: Followed<V>
  readonly #position: LogPosition

  /** @internal */
  constructor(followed: Followed<V>, from: number, signal: AbortSignal | undefined) {
    super(signal)
    this.#followed = followed
    this.#position = { next: from, reference: 0, state: 0 }
  }

  get position(): number {
    return this.#position.next
  }

  /** Resolves when the starting position is known; on one machine that is at once. */
  get ready(): Promise<void> {
    return Promise.resolve()
  }

  /** Block this thread until there is a next entry. @throws TimeoutError */
  nextSync(options?: BlockOptions): LogEntry<V> {
    checkBlock('nextSync', options)
    const { bell, name } = this.#followed
    return bell.waitSync(() => this.tryNextSync(), `the next of '${name}'`, options)
  }

  /** The next entry; undefined if there is none yet, or this is closed. */
  tryNextSync(): LogEntry<V> | undefined {
    this.#followed.checkOpen()
    if (this.isClosed) return undefined
    const wanted = this.#position.next
    const record = this.#followed.core.step(this.#position)
    if (record === undefined) return undefined
    this.#followed.meter.read()
    return { index: record.index, value: decodeOwn(this.#followed.codec, record.value), missed: record.index - wanted }
  }

  protected take(options: WaitOptions): Promise<LogEntry<V>> {
    return this.#followed.bell.wait(() => this.tryNextSync(), options)
  }
}

/** Options of following a log. */
export interface FollowOptions extends WaitOptions {
  /**
   * Where to start: at the first entry that is there (the default), with the next one that is appended, or at an index.
   */
  readonly from?: 'first' | 'next' | number
}

const names: OptionNames<FollowOptions> = { from: true, signal: true }

/** @throws ArgumentError */
export function checkFollow(options: FollowOptions | undefined): void {
  checkOptions('follow', options, names)
  const { from, signal } = options ?? {}
  checkSignalKind('options.signal', signal)
  if (from === undefined || from === 'first' || from === 'next' || isIndex(from)) return
  throw mustBe('options.from', "'first', 'next' or an index, a whole number from 0 on", from)
}
