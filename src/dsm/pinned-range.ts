/** Part of a region whose pages stay here until it is released by `release()`, or at the end of its `using` block. */
export class PinnedRange implements Disposable {
  readonly offsetBytes: number
  readonly lengthBytes: number
  /** What is allowed there without waiting. */
  readonly access: 'read' | 'write'
  readonly #unpin: () => void
  #released = false

  /** @internal Made by `region.pin`. */
  constructor(offsetBytes: number, lengthBytes: number, access: 'read' | 'write', unpin: () => void) {
    this.offsetBytes = offsetBytes
    this.lengthBytes = lengthBytes
    this.access = access
    this.#unpin = unpin
  }

  get released(): boolean {
    return this.#released
  }

  /** Release the pages. Idempotent. */
  release(): void {
    if (this.#released) return
    this.#released = true
    this.#unpin()
  }

  [Symbol.dispose](): void {
    this.release()
  }
}
