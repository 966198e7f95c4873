import type { Codec } from '../../../codecs/index.ts'
import { EntryFollower, type LogEntry } from '../../log/entry-follower.ts'
import type { WaitOptions } from '../../waiting/wait-options.ts'
import type { GroupLogCore } from './log-core.ts'
import type { RecordRead } from './reader.ts'

/** Entries that are read at once. */
const READ_AT_ONCE = 64

/**
 * Yields the entries of a group's log or channel one after the other, and waits for more. It ends when it is closed or
 * its signal is aborted. As {@link Follower} on one machine. Its position is known to this rank alone. Entries are read
 * ahead, up to 64 at a time.
 */
export class GroupFollower<V> extends EntryFollower<V> {
  readonly #core: GroupLogCore
  readonly #codec: Codec<V>
  readonly #begin: Promise<number>
  #ahead: readonly RecordRead[] = []
  #next = 0
  /** Calls of `next` are answered in their order. */
  #turn: Promise<unknown>

  /** @internal */
  constructor(core: GroupLogCore, codec: Codec<V>, begin: Promise<number>, signal: AbortSignal | undefined) {
    super(signal)
    this.#core = core
    this.#codec = codec
    this.#begin = begin.then((index) => (this.#next = index))
    this.#turn = this.#begin.catch(() => {})
  }

  /** The index of the next entry to yield; 0 before the starting position is known. */
  get position(): number {
    return this.#next
  }

  /**
   * Resolves when the starting position is known. All that is appended or published after that is received. @throws
   * HomeLostError
   */
  get ready(): Promise<void> {
    return this.#begin.then(() => {})
  }

  /**
   * Resolves with the next entry when there is one, or as done when this is closed. Rejects with the reason of the
   * signal. @throws HomeLostError
   */
  override next(): Promise<IteratorResult<LogEntry<V>, undefined>> {
    const turn = this.#turn.then(() => super.next())
    this.#turn = turn.catch(() => {})
    return turn
  }

  protected async take(options: WaitOptions): Promise<LogEntry<V>> {
    const record = await this.#core.appended.wait(() => this.#one(), options)
    const missed = record.index - this.#next
    this.#next = record.index + 1
    return { index: record.index, value: this.#codec.decode(record.value), missed }
  }

  async #one(): Promise<RecordRead | undefined> {
    if (this.#ahead.length === 0)
      this.#ahead = await this.#core.read(await this.#begin.then(() => this.#next), READ_AT_ONCE)
    const [record, ...rest] = this.#ahead
    this.#ahead = rest
    return record
  }
}
