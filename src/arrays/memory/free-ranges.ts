interface FreeRange {
  offset: number
  length: number
}

/** Which bytes of a stretch of memory are free. Ranges begin at multiples of the alignment. */
export class FreeRanges {
  readonly #alignment: number
  /** In order; no two touch. */
  readonly #ranges: FreeRange[]

  constructor(lengthBytes: number, alignment: number) {
    this.#alignment = alignment
    this.#ranges = lengthBytes > 0 ? [{ offset: 0, length: lengthBytes }] : []
  }

  /** The offset of so many bytes, which are free no more; undefined if no range is that long. The lowest that fits. */
  take(lengthBytes: number): number | undefined {
    const length = this.#rounded(lengthBytes)
    const at = this.#ranges.findIndex((range) => range.length >= length)
    const range = this.#ranges[at]
    if (range === undefined) return undefined
    const { offset } = range
    range.offset += length
    range.length -= length
    if (range.length === 0) this.#ranges.splice(at, 1)
    return offset
  }

  /** What `take` gave for this length is free again. */
  giveBack(offset: number, lengthBytes: number): void {
    const length = this.#rounded(lengthBytes)
    let at = this.#ranges.findIndex((range) => range.offset > offset)
    if (at < 0) at = this.#ranges.length
    const [before, after] = [this.#ranges[at - 1], this.#ranges[at]]
    const joinsBefore = before !== undefined && before.offset + before.length === offset
    const joinsAfter = after !== undefined && after.offset === offset + length
    if (joinsBefore && joinsAfter) {
      before.length += length + after.length
      this.#ranges.splice(at, 1)
    } else if (joinsBefore) before.length += length
    else if (joinsAfter) {
      after.offset = offset
      after.length += length
    } else this.#ranges.splice(at, 0, { offset, length })
  }

  /** Every length takes up something, so that each offset is that of one. */
  #rounded(lengthBytes: number): number {
    return Math.max(1, Math.ceil(lengthBytes / this.#alignment)) * this.#alignment
  }
}
