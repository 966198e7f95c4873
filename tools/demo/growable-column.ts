const initialLength = 1 << 12

/** A column of 32-bit numbers that grows by doubling: the number of edges in a file is known only at its end. */
export class GrowableColumn {
  #values = new Uint32Array(initialLength)
  #length = 0

  get length(): number {
    return this.#length
  }

  push(value: number): void {
    if (this.#length === this.#values.length) this.#grow()
    this.#values[this.#length++] = value
  }

  /** The values so far, without a copy. Invalid after the next `push`. */
  view(): Uint32Array {
    return this.#values.subarray(0, this.#length)
  }

  #grow(): void {
    const larger = new Uint32Array(this.#values.length * 2)
    larger.set(this.#values)
    this.#values = larger
  }
}
