/** Ids below this go through a table (16 M entries, 64 MiB at most); a hash map takes the others. */
const tableLengthMax = 1 << 24
const tableLengthInitial = 1 << 12

/**
 * Gives vertices consecutive numbers in the order of their first appearance.
 * Files number vertices as they like, with gaps; arrays indexed by vertex must not pay for the gaps.
 */
export class VertexNumbering {
  /** id -> number + 1; zero means not seen. */
  #table = new Uint32Array(tableLengthInitial)
  readonly #sparse = new Map<number, number>()
  #ids = new Float64Array(tableLengthInitial)
  #count = 0

  get count(): number {
    return this.#count
  }

  /** The number of the vertex that the file calls `id`, an integer in 0 … 2^53-1. */
  numberOf(id: number): number {
    return id < tableLengthMax ? this.#numberOfSmall(id) : this.#numberOfLarge(id)
  }

  /** What the file calls vertex `number`. */
  idOf(number: number): number {
    if (number >= this.#count) throw new RangeError(`there is no vertex ${number}`)
    return this.#ids[number]!
  }

  #numberOfSmall(id: number): number {
    if (id >= this.#table.length) this.#growTable(id)
    const known = this.#table[id]!
    if (known !== 0) return known - 1
    const number = this.#add(id)
    this.#table[id] = number + 1
    return number
  }

  #numberOfLarge(id: number): number {
    const known = this.#sparse.get(id)
    if (known !== undefined) return known
    const number = this.#add(id)
    this.#sparse.set(id, number)
    return number
  }

  #add(id: number): number {
    if (this.#count === this.#ids.length) {
      const larger = new Float64Array(this.#ids.length * 2)
      larger.set(this.#ids)
      this.#ids = larger
    }
    this.#ids[this.#count] = id
    return this.#count++
  }

  #growTable(id: number): void {
    let length = this.#table.length
    while (length <= id) length *= 2
    const larger = new Uint32Array(length)
    larger.set(this.#table)
    this.#table = larger
  }
}
