import type { EncodedRequest } from '../encoded-request.ts'
import { copySpan, type Span } from './span.ts'

/**
 * A checked scatter or gather list: spans with offset and length. It is reused from request to request, and allocates
 * nothing once warm.
 */
export class SegmentList {
  readonly #spans: Span[] = []
  readonly #offsets: number[] = []
  readonly #lengths: number[] = []
  count = 0
  /** Bytes of all segments. */
  total = 0

  clear(): void {
    this.count = 0
    this.total = 0
  }

  add(span: Span, offset: number, length: number): void {
    this.#spans[this.count] = span
    this.#offsets[this.count] = offset
    this.#lengths[this.count] = length
    this.count += 1
    this.total += length
  }

  append(other: SegmentList): void {
    for (let index = 0; index < other.count; index += 1)
      this.add(other.#spans[index]!, other.#offsets[index]!, other.#lengths[index]!)
  }

  /** The span where byte 0 lies; for lists of one segment, and for atomics. */
  span(index: number): Span {
    return this.#spans[index]!
  }

  offset(index: number): number {
    return this.#offsets[index]!
  }

  /** Copy the first `total` bytes of `source` into this, across segment borders. Both are at least that long. */
  fill(source: SegmentList, total: number, request: EncodedRequest): void {
    if (this.count === 1 && source.count === 1) {
      copySpan(this.span(0), this.offset(0), source.span(0), source.offset(0), total, request)
      return
    }
    let toIndex = 0
    let toDone = 0
    let fromIndex = 0
    let fromDone = 0
    for (let left = total; left > 0; ) {
      const room = this.#lengths[toIndex]! - toDone
      const ready = source.#lengths[fromIndex]! - fromDone
      const length = Math.min(left, room, ready)
      copySpan(
        this.span(toIndex),
        this.offset(toIndex) + toDone,
        source.span(fromIndex),
        source.offset(fromIndex) + fromDone,
        length,
        request,
      )
      left -= length
      toDone += length
      fromDone += length
      if (length === room) {
        toIndex += 1
        toDone = 0
      }
      if (length === ready) {
        fromIndex += 1
        fromDone = 0
      }
    }
  }
}
