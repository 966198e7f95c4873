/** Integers that are only ever added at the end; in blocks, so that growing copies nothing. */
const BLOCK_BITS = 16
const BLOCK_MASK = (1 << BLOCK_BITS) - 1

export class GrowingArray {
  readonly #blocks: Int32Array[] = []
  #length = 0

  get length(): number {
    return this.#length
  }

  push(value: number): void {
    const within = this.#length & BLOCK_MASK
    if (within === 0) this.#blocks.push(new Int32Array(1 << BLOCK_BITS))
    this.#blocks[this.#length >>> BLOCK_BITS]![within] = value
    this.#length += 1
  }

  at(index: number): number {
    return this.#blocks[index >>> BLOCK_BITS]![index & BLOCK_MASK]!
  }
}
