const BLOCK_STATES = 4096

/**
 * The vectors of states found but not yet looked behind, in the order of their indices. What was taken is let go of
 * block by block.
 */
export class Frontier {
  readonly #length: number
  readonly #blocks: (Int32Array | undefined)[] = []
  #count = 0

  constructor(length: number) {
    this.#length = length
  }

  push(vector: Int32Array): void {
    const block = Math.floor(this.#count / BLOCK_STATES)
    this.#blocks[block] ??= new Int32Array(BLOCK_STATES * this.#length)
    this.#blocks[block].set(vector, (this.#count % BLOCK_STATES) * this.#length)
    this.#count += 1
  }

  /** Puts state `index` into `vector`. States are asked for in order. */
  read(index: number, vector: Int32Array): void {
    const block = Math.floor(index / BLOCK_STATES)
    const offset = (index % BLOCK_STATES) * this.#length
    vector.set(this.#blocks[block]!.subarray(offset, offset + this.#length))
    if (index % BLOCK_STATES === BLOCK_STATES - 1) this.#blocks[block] = undefined
  }
}
