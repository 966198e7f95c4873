import { EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { RequestFlag } from '../opcode.ts'

const NOTHING = new Uint8Array(0)

/**
 * Requests that were posted but cannot be carried out yet, oldest first, copied so that the caller may patch theirs.
 * It is private to this thread; while it is empty, a post is carried out at once and never comes here.
 */
export class SendQueue {
  readonly #slots: (EncodedRequest | undefined)[]
  readonly #segments: number
  readonly #inlineBytes: number
  #head = 0
  count = 0

  constructor(capacity: number, segments: number, inlineBytes: number) {
    this.#slots = new Array<EncodedRequest | undefined>(capacity).fill(undefined)
    this.#segments = segments
    this.#inlineBytes = inlineBytes
  }

  get head(): EncodedRequest {
    return this.#slots[this.#head] as EncodedRequest
  }

  /** The caller has checked that there is a free slot. */
  push(request: EncodedRequest): void {
    const index = (this.#head + this.count) % this.#slots.length
    // Only the layout of an indirect key has more segments than the queue pair was made for.
    const needed = Math.max(this.#segments, request.segmentCapacity)
    const known = this.#slots[index]
    const slot = known !== undefined && known.segmentCapacity >= needed ? known : new EncodedRequest(needed)
    this.#slots[index] = slot
    slot.copyFrom(request)
    slot.view = undefined
    slot.viewOwner = undefined
    if (((request.words[RequestSlot.Flags] as number) & RequestFlag.Inline) !== 0) this.#copyInline(slot, request)
    this.count += 1
  }

  shift(): void {
    this.#head = (this.#head + 1) % this.#slots.length
    this.count -= 1
  }

  clear(): void {
    this.#head = 0
    this.count = 0
  }

  /** Inline bytes are the caller's again after the post. */
  #copyInline(slot: EncodedRequest, request: EncodedRequest): void {
    const bytes = new Uint8Array(this.#inlineBytes)
    let offset = 0
    for (let index = 0; index < (request.words[RequestSlot.SegmentCount] as number); index += 1) {
      const source = request.sources[index] ?? NOTHING
      bytes.set(source, offset)
      slot.sources[index] = bytes.subarray(offset, offset + source.length)
      slot.setSegment(index, 0, source.length, 0)
      offset += source.length
    }
  }
}
