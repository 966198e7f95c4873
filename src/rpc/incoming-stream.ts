import type { Awaitable } from './contract-types.ts'

/** What an incoming stream needs from its call. */
export interface IncomingStreamHost<T> {
  /** This many items were taken since the last call. */
  consumed(items: number): void
  /**
   * The rest is not wanted. Either the reader has left, or an item did not fit, with this error, even if it was the
   * last.
   */
  abandoned(error: unknown): void
  /** The item after its schema has checked it. */
  checked(item: unknown): Awaitable<T>
}

interface Waiter<T> {
  readonly resolve: (result: IteratorResult<T>) => void
  readonly reject: (error: unknown) => void
}

/**
 * Items that come over a link, as a program takes them. At most a window of them waits here: the peer has credit for no
 * more.
 */
export class IncomingStream<T> implements AsyncIterableIterator<T> {
  readonly #window: number
  readonly #host: IncomingStreamHost<T>
  #items: unknown[] = []
  #head = 0
  #waiters: Waiter<T>[] = []
  #end: { readonly error: unknown; readonly failed: boolean } | undefined
  #consumed = 0

  constructor(window: number, host: IncomingStreamHost<T>) {
    this.#window = window
    this.#host = host
  }

  /** Returns false if the peer has sent more than it had credit for. */
  push(item: unknown): boolean {
    if (this.#end !== undefined) return true
    const waiter = this.#waiters.shift()
    if (waiter !== undefined) {
      this.#give(item).then(waiter.resolve, waiter.reject)
      return true
    }
    if (this.#items.length - this.#head >= this.#window) return false
    this.#items.push(item)
    return true
  }

  /** The stream is complete; waiting items can still be taken. */
  finish(): void {
    this.#ended({ error: undefined, failed: false })
  }

  /** The stream has failed: waiting items can still be taken, then the error follows. */
  fail(error: unknown): void {
    this.#ended({ error, failed: true })
  }

  #ended(end: { readonly error: unknown; readonly failed: boolean }): void {
    if (this.#end !== undefined) return
    this.#end = end
    const waiters = this.#waiters
    this.#waiters = []
    for (const each of waiters) this.#last().then(each.resolve, each.reject)
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#head < this.#items.length) {
      const item = this.#items[this.#head]
      this.#items[this.#head] = undefined
      this.#head += 1
      if (this.#head === this.#items.length) {
        this.#items = []
        this.#head = 0
      }
      return this.#give(item)
    }
    if (this.#end !== undefined) return this.#last()
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }))
  }

  async #give(item: unknown): Promise<IteratorResult<T>> {
    this.#consumed += 1
    if (this.#consumed * 2 >= this.#window) {
      const items = this.#consumed
      this.#consumed = 0
      if (this.#end === undefined) this.#host.consumed(items)
    }
    try {
      return { done: false, value: await this.#host.checked(item) }
    } catch (error) {
      // A loop that fails here does not come back to leave.
      this.#leave(error)
      throw error
    }
  }

  #last(): Promise<IteratorResult<T>> {
    const { error, failed } = this.#end!
    // It is thrown once; after it the stream is over.
    this.#end = { error: undefined, failed: false }
    return failed ? Promise.reject(error) : Promise.resolve({ done: true, value: undefined })
  }

  return(): Promise<IteratorResult<T>> {
    this.#leave(undefined)
    return Promise.resolve({ done: true, value: undefined })
  }

  #leave(error: unknown): void {
    const wasOpen = this.#end === undefined
    this.#items = []
    this.#head = 0
    this.#end = { error: undefined, failed: false }
    const waiters = this.#waiters
    this.#waiters = []
    for (const each of waiters) each.resolve({ done: true, value: undefined })
    if (wasOpen || error !== undefined) this.#host.abandoned(error)
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
