import type { Codec } from '../codec/codec.ts'
import type { Follower, LogEntry } from '../log/follower.ts'
import type { LogCore } from './log-core.ts'
import type { RecordRead } from './log-reader.ts'
import type { Promised } from './promised.ts'
import { waitFor } from './waiting.ts'

/** Entries that are read in one go. */
const READ_AT_ONCE = 64

/**
 * Gives the entries of a group's log or channel one after the other, and waits for more, until it is closed or its signal is aborted; as {@link Follower} on one machine. Where it is is known to this rank alone.
 * Entries are read ahead, up to 64 at a time.
 */
export class GroupFollower<V>
  implements AsyncIterableIterator<LogEntry<V>>, Omit<Promised<Follower<V>>, typeof Symbol.asyncIterator>
{
  readonly #core: LogCore
  readonly #codec: Codec<V>
  readonly #closing = new AbortController()
  readonly #signal: AbortSignal
  readonly #begin: Promise<number>
  #ahead: readonly RecordRead[] = []
  #next = 0
  /** Calls of `next` are answered in their order. */
  #turn: Promise<unknown>

  /** @internal */
  constructor(core: LogCore, codec: Codec<V>, begin: Promise<number>, signal: AbortSignal | undefined) {
    this.#core = core
    this.#codec = codec
    this.#signal = signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal])
    this.#begin = begin.then((index) => (this.#next = index))
    this.#turn = this.#begin.catch(() => {})
  }

  /** The index of the entry that it wants next; 0 before it is known where it begins. */
  get position(): number {
    return this.#next
  }

  /** Resolves when it is known where this begins. What is appended or published after that is given for sure. @throws HomeLostError */
  get ready(): Promise<void> {
    return this.#begin.then(() => {})
  }

  /** Resolves with the next entry when there is one; with none when this is closed. Rejects with the reason of the signal. @throws HomeLostError */
  next(): Promise<IteratorResult<LogEntry<V>, undefined>> {
    const turn = this.#turn.then(() => this.#take())
    this.#turn = turn.catch(() => {})
    return turn
  }

  /** Follow no longer; who waits for the next entry is given none. Idempotent. */
  close(): void {
    this.#closing.abort()
  }

  async return(): Promise<IteratorResult<LogEntry<V>, undefined>> {
    this.close()
    return { done: true, value: undefined }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async #take(): Promise<IteratorResult<LogEntry<V>, undefined>> {
    const closing = this.#closing.signal
    try {
      const record = await waitFor(this.#core.home.words, () => this.#one(), { signal: this.#signal })
      const missed = record.index - this.#next
      this.#next = record.index + 1
      return { done: false, value: { index: record.index, value: this.#codec.decode(record.value), missed } }
    } catch (error) {
      if (closing.aborted && error === closing.reason) return { done: true, value: undefined }
      throw error
    }
  }

  async #one(): Promise<RecordRead | undefined> {
    if (this.#ahead.length === 0)
      this.#ahead = await this.#core.read(await this.#begin.then(() => this.#next), READ_AT_ONCE)
    const [record, ...rest] = this.#ahead
    this.#ahead = rest
    return record
  }
}
