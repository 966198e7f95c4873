/**
 * The elements of an array as they were, while the array changes: copy-on-write. One that is about to be replaced or
 * removed is kept until it was taken. So no more is kept than is left to take.
 */
export class KeptSlots<T> {
  readonly #slots: readonly T[]
  readonly #first: number
  readonly #length: number
  readonly #mask: number
  readonly #kept = new Map<number, T>()
  #taken = 0

  /** `length` elements from the slot `first` on. `mask`: of a ring. */
  constructor(slots: readonly T[], length: number = slots.length, first: number = 0, mask: number = -1) {
    this.#slots = slots
    this.#length = length
    this.#first = first
    this.#mask = mask
  }

  get left(): number {
    return this.#length - this.#taken
  }

  /** The slot is about to be written. */
  changing(slot: number): void {
    const index = (slot - this.#first) & this.#mask
    if (index < this.#taken || index >= this.#length || this.#kept.has(index)) return
    this.#kept.set(index, this.#slots[slot]!)
  }

  /** The next element. There has to be one left. */
  take(): T {
    const index = this.#taken
    this.#taken += 1
    const kept = this.#kept.get(index)
    if (kept === undefined) return this.#slots[(this.#first + index) & this.#mask]!
    this.#kept.delete(index)
    return kept
  }
}
