import type { DescriptorWatch } from './descriptor-watch.ts'

/** Callbacks that wait until a descriptor is readable. Each is called once. */
export class ReadableWaiters {
  readonly #watch: DescriptorWatch
  readonly #descriptor: number
  readonly #waiters = new Set<() => void>()
  #token = -1

  constructor(watch: DescriptorWatch, descriptor: number) {
    this.#watch = watch
    this.#descriptor = descriptor
  }

  /** Returns a function that cancels it. Until it is called, `keepAlive` keeps the event loop alive. */
  add(ready: () => void, keepAlive: boolean): () => void {
    const once = (): void => {
      cancel()
      ready()
    }
    const cancel = (): void => {
      if (this.#waiters.delete(once) && keepAlive) this.#watch.release()
    }
    this.#waiters.add(once)
    if (keepAlive) this.#watch.hold()
    if (this.#token < 0) this.#token = this.#watch.add(this.#descriptor, () => this.wake())
    else this.#watch.rewatch(this.#token)
    return cancel
  }

  wake(): void {
    for (const waiter of [...this.#waiters]) waiter()
  }

  /** Call it before the descriptor is closed: the watcher has a duplicate. */
  close(): void {
    if (this.#token >= 0) this.#watch.remove(this.#token)
    this.#token = -1
  }
}
