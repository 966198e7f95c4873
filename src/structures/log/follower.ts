import { type Codec, decodeOwn } from '../codec/codec.ts'
import type { Bell, BlockOptions, WaitOptions } from '../waiting/bell.ts'
import type { LogCore, LogPosition } from './log-core.ts'

/** A record of a log, or a message of a channel. */
export interface LogEntry<V> {
  /** How many came before it, ever. */
  readonly index: number
  readonly value: V
  /** How many were dropped between the one that this reader was given before and this one; 0 for a reader that keeps up. */
  readonly missed: number
}

/** What a {@link Follower} follows. @internal */
export interface Followed<V> {
  readonly name: string
  readonly core: LogCore
  readonly bell: Bell
  readonly codec: Codec<V>
  checkOpen(): void
}

/**
 * Gives the entries of a log or channel one after the other, and waits for more, until it is closed or its signal is aborted. Where it is is known to
 * this process alone.
 *
 * ```ts
 * for await (const { value, missed } of channel.subscribe({ signal })) console.log(value, missed)
 * ```
 */
export class Follower<V> implements AsyncIterableIterator<LogEntry<V>>, AsyncDisposable {
  readonly #followed: Followed<V>
  readonly #position: LogPosition
  readonly #closing = new AbortController()
  /** Ours and that of who follows. */
  readonly #signal: AbortSignal

  /** @internal */
  constructor(followed: Followed<V>, from: number, signal: AbortSignal | undefined) {
    this.#followed = followed
    this.#position = { next: from, reference: 0, state: 0 }
    this.#signal = signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal])
  }

  /** The index of the entry that it wants next. */
  get position(): number {
    return this.#position.next
  }

  /** Resolves when it is known where this begins: on one machine that is so at once. */
  get ready(): Promise<void> {
    return Promise.resolve()
  }

  /** Resolves with the next entry when there is one; with none when this is closed. Rejects with the reason of the signal. */
  async next(): Promise<IteratorResult<LogEntry<V>, undefined>> {
    const closing = this.#closing.signal
    try {
      const value = await this.#followed.bell.wait(() => this.tryNextSync(), { signal: this.#signal })
      return { done: false, value }
    } catch (error) {
      if (closing.aborted && error === closing.reason) return { done: true, value: undefined }
      throw error
    }
  }

  /** Block this thread until there is a next entry. @throws TimeoutError */
  nextSync(options?: BlockOptions): LogEntry<V> {
    const { bell, name } = this.#followed
    return bell.waitSync(() => this.tryNextSync(), `the next of '${name}'`, options)
  }

  /** The next entry; undefined where there is none yet, or this is closed. */
  tryNextSync(): LogEntry<V> | undefined {
    this.#followed.checkOpen()
    if (this.#closing.signal.aborted) return undefined
    const wanted = this.#position.next
    const record = this.#followed.core.step(this.#position)
    if (record === undefined) return undefined
    return { index: record.index, value: decodeOwn(this.#followed.codec, record.value), missed: record.index - wanted }
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
}

/** Options of following a log. */
export interface FollowOptions extends WaitOptions {
  /** Where to begin: at the first entry that is there (the default), with the next one that is appended, or at an index. */
  readonly from?: 'first' | 'next' | number
}
