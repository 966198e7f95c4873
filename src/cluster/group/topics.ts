type Listener = (rank: number, value: unknown) => void

/**
 * How many messages are kept for a topic without a listener: more than the ranks of a group send before they hear an
 * answer.
 */
const KEPT_MAX = 4096

/**
 * What programs tell each other, by topic. Messages that arrive before a program listens are kept for it, since ranks
 * do not start at the same time.
 */
export class Topics {
  readonly #listeners = new Map<string, Listener>()
  readonly #kept = new Map<string, { readonly rank: number; readonly value: unknown }[]>()

  listen(topic: string, listener: Listener): () => void {
    this.#listeners.set(topic, listener)
    const early = this.#kept.get(topic) ?? []
    this.#kept.delete(topic)
    for (const { rank, value } of early) listener(rank, value)
    return () => {
      if (this.#listeners.get(topic) === listener) this.#listeners.delete(topic)
    }
  }

  take(topic: string, rank: number, value: unknown): void {
    const listener = this.#listeners.get(topic)
    if (listener !== undefined) {
      listener(rank, value)
      return
    }
    const kept = this.#kept.get(topic) ?? []
    this.#kept.set(topic, kept)
    if (kept.length < KEPT_MAX) kept.push({ rank, value })
  }
}
