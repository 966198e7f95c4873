/** A message of an iteration, with its own bytes. */
export interface Message {
  readonly data: Uint8Array
  /** 32 bits; undefined if the sender gave none. */
  readonly immediate: number | undefined
}

/** The queue is full from this many messages, or bytes, on. */
const MESSAGES_MAX = 64
const BYTES_MAX = 1 << 20

/** Messages that were not taken yet. Reports when it is full, and when it no longer is. */
export class MessageQueue {
  readonly #full: (full: boolean) => void
  readonly #messages: Message[] = []
  #bytes = 0
  #isFull = false
  #waiter: { resolve: (result: IteratorResult<Message, void>) => void; reject: (error: unknown) => void } | undefined
  #end: { readonly error: Error | undefined } | undefined

  constructor(full: (full: boolean) => void) {
    this.#full = full
  }

  put(message: Message): void {
    if (this.#waiter !== undefined) {
      const { resolve } = this.#waiter
      this.#waiter = undefined
      resolve({ done: false, value: message })
      return
    }
    this.#messages.push(message)
    this.#bytes += message.data.length
    this.#look()
  }

  /** Return the oldest message, if there is one. */
  take(): Message | undefined {
    const message = this.#messages.shift()
    if (message === undefined) return undefined
    this.#bytes -= message.data.length
    this.#look()
    return message
  }

  get isEmpty(): boolean {
    return this.#messages.length === 0
  }

  end(error: Error | undefined): void {
    this.#end = { error }
    const waiter = this.#waiter
    this.#waiter = undefined
    if (waiter === undefined) return
    if (error === undefined) waiter.resolve({ done: true, value: undefined })
    else waiter.reject(error)
  }

  /** Messages from before the end are returned first. */
  next(): Promise<IteratorResult<Message, void>> {
    const message = this.take()
    if (message !== undefined) return Promise.resolve({ done: false, value: message })
    if (this.#end !== undefined)
      return this.#end.error === undefined
        ? Promise.resolve({ done: true, value: undefined })
        : Promise.reject(this.#end.error)
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject }
    })
  }

  #look(): void {
    const isFull = this.#messages.length >= MESSAGES_MAX || this.#bytes >= BYTES_MAX
    if (isFull === this.#isFull) return
    this.#isFull = isFull
    this.#full(isFull)
  }
}
