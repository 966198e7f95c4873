import type { Stream } from '../../rpc/index.ts'

/** What a stream reports to its span. */
export interface StreamWatcher {
  /** Runs `act` in the context in which the stream's items are made. */
  run<T>(act: () => T): T
  completed(): void
  failed(error: unknown): void
  /** The reader stopped reading. */
  left(): void
}

/**
 * A stream that reports its end once. Its items are produced in a context of its own, not in the reader's. If it has a
 * signal, an abort ends it too, even when no one is reading any more.
 */
export class TracedStream implements AsyncIterableIterator<unknown> {
  readonly #iterator: AsyncIterator<unknown>
  readonly #watcher: StreamWatcher
  readonly #signal: AbortSignal | undefined
  readonly #aborted = (): void => this.#end(() => this.#watcher.failed(this.#signal?.reason))
  #over = false

  constructor(stream: Stream<unknown>, watcher: StreamWatcher, signal?: AbortSignal) {
    this.#iterator = watcher.run(() => asynchronous(stream)[Symbol.asyncIterator]())
    this.#watcher = watcher
    this.#signal = signal
    if (signal?.aborted === true) this.#aborted()
    else signal?.addEventListener('abort', this.#aborted, { once: true })
  }

  async next(): Promise<IteratorResult<unknown>> {
    try {
      const result = await this.#watcher.run(() => this.#iterator.next())
      if (result.done === true) this.#end(() => this.#watcher.completed())
      return result
    } catch (error) {
      this.#end(() => this.#watcher.failed(error))
      throw error
    }
  }

  async return(): Promise<IteratorResult<unknown>> {
    try {
      const result = await this.#watcher.run(() => this.#iterator.return?.())
      this.#end(() => this.#watcher.left())
      return result ?? { done: true, value: undefined }
    } catch (error) {
      this.#end(() => this.#watcher.failed(error))
      throw error
    }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #end(tell: () => void): void {
    if (this.#over) return
    this.#over = true
    this.#signal?.removeEventListener('abort', this.#aborted)
    tell()
  }
}

/** `for await` also waits for items of an iterable that does not yield promises; so does this. */
function asynchronous(stream: Stream<unknown>): AsyncIterable<unknown> {
  return Symbol.asyncIterator in stream ? stream : awaited(stream)
}

async function* awaited(stream: Iterable<unknown>): AsyncGenerator<unknown, void> {
  yield* stream
}
