/** Bytes of a page from `begin` up to, but not including, `end`. */
export interface ByteRange {
  readonly begin: number
  readonly end: number
}

/** Bits of a map, for any page length: one byte each for pages of 4 KiB, proportionally more for longer ones. */
const GRAINS = 4096

/** Which bytes of a page were written, in 512 bytes. */
export class ByteMap {
  /** Bytes for which one bit stands. */
  readonly grainBytes: number
  readonly #bits: Uint8Array

  /** `pageBytes` is a multiple of 4 KiB. */
  constructor(pageBytes: number, bits: Uint8Array = new Uint8Array(GRAINS / 8)) {
    this.grainBytes = pageBytes / GRAINS
    this.#bits = bits
  }

  /** From what {@link toText} gave; undefined for anything else. */
  static fromText(pageBytes: number, text: string): ByteMap | undefined {
    const bits = new Uint8Array(Buffer.from(text, 'base64'))
    return bits.length === GRAINS / 8 ? new ByteMap(pageBytes, bits) : undefined
  }

  get isEmpty(): boolean {
    return this.#bits.every((bits) => bits === 0)
  }

  mark(byte: number): void {
    const grain = Math.floor(byte / this.grainBytes)
    this.#bits[grain >> 3]! |= 1 << (grain & 7)
  }

  has(byte: number): boolean {
    const grain = Math.floor(byte / this.grainBytes)
    return (this.#bits[grain >> 3]! & (1 << (grain & 7))) !== 0
  }

  /** What both have. Of pages of one length. */
  and(other: ByteMap): ByteMap {
    return this.#combined((index, bits) => bits & other.#bits[index]!)
  }

  /** What either has. */
  or(other: ByteMap): ByteMap {
    return this.#combined((index, bits) => bits | other.#bits[index]!)
  }

  /** In ascending order; neighbours are one range. */
  ranges(): ByteRange[] {
    const ranges: ByteRange[] = []
    let begin = -1
    for (let grain = 0; grain <= GRAINS; grain += 1) {
      const isMarked = grain < GRAINS && (this.#bits[grain >> 3]! & (1 << (grain & 7))) !== 0
      if (isMarked && begin < 0) begin = grain
      if (isMarked || begin < 0) continue
      ranges.push({ begin: begin * this.grainBytes, end: grain * this.grainBytes })
      begin = -1
    }
    return ranges
  }

  /** In base64. */
  toText(): string {
    return Buffer.from(this.#bits).toString('base64')
  }

  #combined(combine: (index: number, bits: number) => number): ByteMap {
    return new ByteMap(
      this.grainBytes * GRAINS,
      this.#bits.map((bits, index) => combine(index, bits)),
    )
  }
}

/**
 * Mark the bytes of `map` in which `now` differs from `before`: memory of one length, that starts at multiples of 4.
 * False if there are none.
 */
export function markChanges(map: ByteMap, before: Uint8Array, now: Uint8Array): boolean {
  const words = before.length / 4
  const old = new Int32Array(before.buffer, before.byteOffset, words)
  const young = new Int32Array(now.buffer, now.byteOffset, words)
  let any = false
  for (let word = 0; word < words; word += 1) {
    if (old[word] === young[word]) continue
    any = true
    for (let byte = 4 * word; byte < 4 * word + 4; byte += 1) if (before[byte] !== now[byte]) map.mark(byte)
  }
  return any
}
