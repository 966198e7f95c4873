const EMPTY = -1

/**
 * A map from two integers (not negative) to one: open addressing in typed arrays, since this is the innermost loop of
 * the explorer.
 */
export class PairTable {
  #first: Int32Array
  #second: Int32Array
  #value: Int32Array
  #mask: number
  #size = 0

  constructor(capacity: number = 1024) {
    this.#mask = capacity - 1
    this.#first = new Int32Array(capacity).fill(EMPTY)
    this.#second = new Int32Array(capacity)
    this.#value = new Int32Array(capacity)
  }

  get size(): number {
    return this.#size
  }

  /** -1 where the pair is not known. */
  get(first: number, second: number): number {
    const slot = this.#slot(first, second)
    return this.#first[slot] === EMPTY ? EMPTY : this.#value[slot]!
  }

  set(first: number, second: number, value: number): void {
    if (2 * (this.#size + 1) > this.#mask) this.#grow()
    const slot = this.#slot(first, second)
    if (this.#first[slot] === EMPTY) this.#size += 1
    this.#first[slot] = first
    this.#second[slot] = second
    this.#value[slot] = value
  }

  #slot(first: number, second: number): number {
    let slot = (Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b)) >>> 0
    slot = (slot ^ (slot >>> 15)) & this.#mask
    while (this.#first[slot] !== EMPTY && (this.#first[slot] !== first || this.#second[slot] !== second))
      slot = (slot + 1) & this.#mask
    return slot
  }

  #grow(): void {
    const [first, second, value] = [this.#first, this.#second, this.#value]
    const capacity = 2 * (this.#mask + 1)
    this.#mask = capacity - 1
    this.#first = new Int32Array(capacity).fill(EMPTY)
    this.#second = new Int32Array(capacity)
    this.#value = new Int32Array(capacity)
    this.#size = 0
    for (let slot = 0; slot < first.length; slot += 1)
      if (first[slot] !== EMPTY) this.set(first[slot]!, second[slot]!, value[slot]!)
  }
}
