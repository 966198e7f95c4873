import { TimeoutError } from '../../native/index.ts'

/** Waits until all of these peers are connected at the same time. */
export class Gathering {
  readonly numbers: readonly number[]
  /** Rejects with a TimeoutError that names the missing peers, or with the error passed to `end`. */
  readonly over: Promise<void>
  readonly #isConnected: (number: number) => boolean
  readonly #timer: NodeJS.Timeout
  #resolve!: () => void
  #reject!: (error: Error) => void

  constructor(numbers: readonly number[], timeoutMs: number, isConnected: (number: number) => boolean) {
    this.numbers = numbers
    this.#isConnected = isConnected
    this.over = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // It may end before it is awaited.
    this.over.catch(() => {})
    const late = (): string => `peer ${this.#missing.join(', ')} did not connect within ${timeoutMs} ms`
    this.#timer = setTimeout(() => this.#reject(new TimeoutError(late())), timeoutMs)
    this.look()
  }

  /** A peer has connected. */
  look(): void {
    if (this.#missing.length === 0) this.#resolve()
  }

  /** End the wait. Idempotent. */
  end(error: Error): void {
    clearTimeout(this.#timer)
    this.#reject(error)
  }

  get #missing(): readonly number[] {
    return this.numbers.filter((number) => !this.#isConnected(number))
  }
}
