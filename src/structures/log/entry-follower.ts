import type { WaitOptions } from '../waiting/bell.ts'

/** A record of a log, or a message of a channel. */
export interface LogEntry<V> {
  /** How many came before it, ever. */
  readonly index: number
  readonly value: V
  /**
   * How many were dropped between the one that this reader was given before and this one; 0 for a reader that keeps up.
   */
  readonly missed: number
}

/**
 * Gives the entries of a log or channel one after the other, and waits for more, until it is closed or its signal is
 * aborted. A loop that is left closes it. Where it is is known to who follows alone. Wherever the log is kept, only
 * {@link take} differs.
 */
export abstract class EntryFollower<V> implements AsyncIterableIterator<LogEntry<V>, undefined>, AsyncDisposable {
  readonly #closing = new AbortController()
  /** Ours and that of who follows. */
  readonly #signal: AbortSignal

  protected constructor(signal: AbortSignal | undefined) {
    this.#signal = signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal])
  }

  /** The index of the entry that it wants next. */
  abstract get position(): number

  /** Resolves when it is known where this begins. */
  abstract get ready(): Promise<void>

  /** Wait for the next entry. @throws the reason of the signal; an error where the log is gone */
  protected abstract take(options: WaitOptions): Promise<LogEntry<V>>

  /**
   * Resolves with the next entry when there is one; with none when this is closed. Rejects with the reason of the
   * signal.
   */
  async next(): Promise<IteratorResult<LogEntry<V>, undefined>> {
    const closing = this.#closing.signal
    try {
      return { done: false, value: await this.take({ signal: this.#signal }) }
    } catch (error) {
      if (closing.aborted && error === closing.reason) return { done: true, value: undefined }
      throw error
    }
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

  protected get isClosed(): boolean {
    return this.#closing.signal.aborted
  }
}
