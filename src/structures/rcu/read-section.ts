import type { Stay } from '../heap/epochs.ts'
import type { Heap } from '../heap/heap.ts'

/**
 * A section from {@link Rcu.readLock} to {@link readUnlock}: what was dereferenced in between stays as it is in memory.
 * It also ends with `using`.
 */
export class ReadSection implements Disposable {
  readonly #heap: Heap
  readonly #stay: Stay

  /** @internal */
  constructor(heap: Heap) {
    this.#heap = heap
    this.#stay = heap.epochs.begin()
  }

  /** Idempotent. */
  readUnlock(): void {
    if (!this.#heap.closed) this.#heap.epochs.end(this.#stay)
  }

  [Symbol.dispose](): void {
    this.readUnlock()
  }
}
