import type { BufferName, Range } from './schedule.ts'

/** A buffer that consists of consecutive parts: that of rank 0, of rank 1, and so on. */
export class Parts {
  readonly counts: readonly number[]
  readonly #buffer: BufferName
  readonly #offsets: readonly number[]

  /** `offsets`: where the parts start. Default: consecutive, the first at `base`. */
  constructor(buffer: BufferName, counts: readonly number[], offsets: readonly number[] | number = 0) {
    this.#buffer = buffer
    this.counts = counts
    this.#offsets = typeof offsets === 'number' ? prefixSums(counts, offsets) : offsets
  }

  /** Part `index`; indices count around, so -1 is the last. */
  at(index: number): Range {
    const part = modulo(index, this.counts.length)
    return { buffer: this.#buffer, offset: this.#offsets[part]!, count: this.counts[part]! }
  }

  /** `length` parts from `first`, wrapping around the end; adjacent parts become one range. */
  run(first: number, length: number): Range[] {
    const ranges: Range[] = []
    for (let index = first; index < first + length; index += 1) {
      const next = this.at(index)
      const last = ranges.at(-1)
      if (next.count === 0) continue
      if (last !== undefined && last.offset + last.count === next.offset)
        ranges[ranges.length - 1] = { ...last, count: last.count + next.count }
      else ranges.push(next)
    }
    return ranges
  }

  /** The elements of `length` parts from `first`, wrapping around the end. */
  countOf(first: number, length: number): number {
    return this.run(first, length).reduce((sum, { count }) => sum + count, 0)
  }
}

/** `count` elements in `size` parts that differ by one element at most. */
export function evenCounts(count: number, size: number): number[] {
  const least = Math.floor(count / size)
  return Array.from({ length: size }, (_, part) => least + (part < count % size ? 1 : 0))
}

/** Where consecutive parts of these lengths start. */
export function prefixSums(counts: readonly number[], base = 0): number[] {
  let at = base
  return counts.map((count) => {
    at += count
    return at - count
  })
}

export function modulo(value: number, size: number): number {
  return ((value % size) + size) % size
}

/** The whole of a buffer of `count` elements. */
export function whole(buffer: BufferName, count: number): Range {
  return { buffer, offset: 0, count }
}

/** `count` elements of a range from `offset`. */
export function within(range: Range, offset: number, count: number): Range {
  return { buffer: range.buffer, offset: range.offset + offset, count }
}
