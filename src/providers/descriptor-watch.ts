import { native, type Watcher } from '../native/index.ts'

/** Descriptors that the event loop waits for. A thread is started when the first descriptor with a word is watched. */
export class DescriptorWatch {
  readonly #handlers = new Map<number, () => void>()
  #watcher: Watcher | undefined
  #nextToken = 1
  #holds = 0

  /**
   * Call `handler` on the event loop when `descriptor` becomes readable, once until `rewatch`. Returns a token. For
   * threads that never return to their event loop, the watcher's thread counts in `word` at once.
   */
  add(descriptor: number, handler: () => void, word?: Int32Array): number {
    const token = this.#nextToken
    this.#nextToken += 1
    this.#handlers.set(token, handler)
    if (word === undefined) this.#started().add(token, descriptor)
    else this.#started().add(token, descriptor, word, 0)
    return token
  }

  rewatch(token: number): void {
    this.#started().rearm(token)
  }

  remove(token: number): void {
    this.#handlers.delete(token)
    this.#watcher?.remove(token)
  }

  /** Keep the event loop alive until `release` has been called as often. */
  hold(): void {
    this.#holds += 1
    if (this.#holds === 1) this.#started().ref()
  }

  release(): void {
    this.#holds -= 1
    if (this.#holds === 0) this.#watcher?.unref()
  }

  close(): void {
    this.#watcher?.close()
    this.#watcher = undefined
    this.#handlers.clear()
  }

  #started(): Watcher {
    this.#watcher ??= native.createWatcher((token) => this.#handlers.get(token)?.())
    return this.#watcher
  }
}
