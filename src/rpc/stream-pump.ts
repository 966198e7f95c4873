import type { Stream } from './contract-types.ts'
import type { Session } from './session.ts'

/** The credit that a peer has given for a stream. */
export class Credit {
  #items: number
  #stopped = false
  #waiting: (() => void) | undefined

  constructor(items: number) {
    this.#items = items
  }

  add(items: number): void {
    this.#items += items
    this.#wake()
  }

  /** The peer wants no more. */
  stop(): void {
    this.#stopped = true
    this.#wake()
  }

  get stopped(): boolean {
    return this.#stopped
  }

  /** Takes credit for one item, or false: there is none, or nobody wants it. */
  tryTake(): boolean {
    if (this.#stopped || this.#items === 0) return false
    this.#items -= 1
    return true
  }

  /** When there is credit, or nobody wants any more. */
  more(): Promise<void> {
    if (this.#stopped || this.#items > 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#waiting = resolve
    })
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.()
  }
}

/**
 * Sends what `source` gives, as far as there is credit and the link has room. Resolves true when all of it has been sent, false where the peer wants no more; `source` is told to end then. Rejects with what
 * `source` or `send` throws.
 */
export async function pump(
  source: Stream<unknown>,
  credit: Credit,
  session: Session,
  send: (item: unknown) => void,
): Promise<boolean> {
  for await (const item of source) {
    while (!credit.tryTake()) {
      if (credit.stopped) return false
      await credit.more()
    }
    // Credit bounds the peer's memory; this bounds ours.
    if (session.waiting > 0) await session.emptied()
    if (credit.stopped || !session.open) return false
    send(item)
  }
  return !credit.stopped && session.open
}
