import type { WaitOptions } from '../waiting/wait-options.ts'

/** An entry of a log, or a message of a channel. */
export interface LogEntry<V> {
  /** The number of entries before it since the log was made. */
  readonly index: number
  readonly value: V
  /**
   * How many entries were dropped between the last one that this reader got and this one; 0 for a reader that keeps up.
   */
  readonly missed: number
}

/**
 * Yields the entries of a log or channel one after the other, and waits for more. It ends when it is closed or its
 * signal is aborted; leaving a loop closes it. Its position is known to this reader alone. Wherever the log is kept,
 * only {@link take} differs.
 */
export abstract class EntryFollower<V> implements AsyncIterableIterator<LogEntry<V>, undefined>, AsyncDisposable {
  readonly #closing = new AbortController()
  /** Our signal combined with the reader's. */
  readonly #signal: AbortSignal

  protected constructor(signal: AbortSignal | undefined) {
    this.#signal = signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal])
  }

  /** The index of the next entry to yield. */
  abstract get position(): number

  /** Resolves when the starting position is known. */
  abstract get ready(): Promise<void>

  /** Wait for the next entry. @throws the reason of the signal; an error if the log is gone. */
  protected abstract take(options: WaitOptions): Promise<LogEntry<V>>

  /**
   * Resolves with the next entry when there is one, or as done when this is closed. Rejects with the reason of the
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

  /** Stop following; a pending `next()` resolves as done. Idempotent. */
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
