import { POST_ERRNO_UNIT } from '../../native/index.ts'
import { type EncodedRequest, RequestSlot, segmentSlot } from '../encoded-request.ts'
import { Errno } from '../errors.ts'
import { Opcode, RequestFlag } from '../opcode.ts'

const STAGED_AT_ONCE = 16

/** The errno in the result of a native post. */
export function errnoOf(result: number): number {
  return result >= POST_ERRNO_UNIT ? Math.floor(result / POST_ERRNO_UNIT) : 0
}

/** How many requests it took. */
export function takenOf(result: number): number {
  return result % POST_ERRNO_UNIT
}

/**
 * Where a batch lies while it is posted: requests one after the other, and the bytes of inline ones copied from their
 * sources. At the post the library reads inline bytes by address. It reads them from here, never from an address that a
 * program chose.
 */
export class PostBuffer {
  buffer: ArrayBuffer = new ArrayBuffer(0)
  #words: Float64Array = new Float64Array(0)
  /** Slots from one request to the next. */
  stride = 0
  staging: Uint8Array
  /** Why `encode` stopped before the last request, or 0. */
  refusal = 0
  readonly #maxInlineBytes: number
  #staged = 0

  constructor(maxInlineBytes: number) {
    this.#maxInlineBytes = maxInlineBytes
    this.staging = new Uint8Array(Math.max(64, maxInlineBytes * STAGED_AT_ONCE))
  }

  static isInline(request: EncodedRequest): boolean {
    return (request.words[RequestSlot.Flags]! & RequestFlag.Inline) !== 0
  }

  /** Lay out the first `count`. Returns how many; fewer if one cannot be posted. */
  encode(requests: readonly EncodedRequest[], count: number): number {
    this.#makeRoom(requests, count)
    this.#staged = 0
    this.refusal = 0
    for (let index = 0; index < count; index += 1) {
      const request = requests[index]!
      const at = index * this.stride
      this.#words.set(request.words, at)
      if (PostBuffer.isInline(request) && !this.#stage(request, at)) {
        this.refusal = Errno.EINVAL
        return index
      }
    }
    return count
  }

  #makeRoom(requests: readonly EncodedRequest[], count: number): void {
    let stride = 0
    for (let index = 0; index < count; index += 1) stride = Math.max(stride, requests[index]!.words.length)
    this.stride = stride
    if (this.#words.length < stride * count) {
      this.#words = new Float64Array(stride * count)
      this.buffer = this.#words.buffer as ArrayBuffer
    }
    const bytes = this.#maxInlineBytes * count
    if (this.staging.length < bytes) this.staging = new Uint8Array(bytes)
  }

  /**
   * Copy the sources of an inline request; its segments then point into the staging buffer. False if it cannot be
   * inline.
   */
  #stage(request: EncodedRequest, at: number): boolean {
    const opcode = request.words[RequestSlot.Opcode]!
    if (opcode >= Opcode.Read && opcode !== Opcode.SendWithInvalidate) return false
    const first = this.#staged
    const segments = Math.min(request.words[RequestSlot.SegmentCount]!, request.segmentCapacity)
    for (let index = 0; index < segments; index += 1) {
      const source = request.sources[index]
      if (source === undefined || this.#staged - first + source.length > this.#maxInlineBytes) return false
      const slot = at + segmentSlot(index)
      this.staging.set(source, this.#staged)
      this.#words[slot] = this.#staged
      this.#words[slot + 1] = source.length
      this.#staged += source.length
    }
    return true
  }
}
