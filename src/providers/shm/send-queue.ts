import { EncodedRequest } from '../encoded-request.ts'
import { captureRequest } from '../soft/captured-request.ts'

/**
 * Requests that were posted but cannot be carried out yet, oldest first. They are copied, since the caller may patch
 * its requests. The queue is private to this thread. While it is empty, a post is carried out at once and does not
 * enter it.
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
    return this.#slots[this.#head]!
  }

  /** The caller has checked that there is a free slot. */
  push(request: EncodedRequest): void {
    const index = (this.#head + this.count) % this.#slots.length
    // Only the layout of an indirect key has more segments than the queue pair was created for.
    const needed = Math.max(this.#segments, request.segmentCapacity)
    const known = this.#slots[index]
    const slot = known !== undefined && known.segmentCapacity >= needed ? known : new EncodedRequest(needed)
    this.#slots[index] = slot
    captureRequest(slot, request, this.#inlineBytes)
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
}
