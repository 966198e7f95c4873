import { type EncodedRequest, RequestSlot, segmentSlot } from '../encoded-request.ts'
import type { KeyTable } from './key-table.ts'
import { PieceList } from './piece-list.ts'

/** A posted receive request. */
export class ReceiveRequest {
  readonly id: number
  /** The protection domain of the queue that it was posted to. */
  readonly domainId: number
  readonly #segments: readonly (readonly [number, number, number])[]

  constructor(request: EncodedRequest, domainId: number) {
    const { words } = request
    this.id = words[RequestSlot.Id]!
    this.domainId = domainId
    this.#segments = Array.from({ length: words[RequestSlot.SegmentCount]! }, (_, index) => {
      const at = segmentSlot(index)
      return [words[at]!, words[at + 1]!, words[at + 2]!]
    })
  }

  get lengthBytes(): number {
    return this.#segments.reduce((sum, [, length]) => sum + length, 0)
  }

  /** Where the first `length` bytes of a message go; undefined if the memory of a segment cannot be used. */
  scatter(keys: KeyTable, length: number): PieceList | undefined {
    const list = new PieceList()
    for (const [address, room, key] of this.#segments) {
      const run = Math.min(room, length - list.total)
      if (!keys.gather(list, this.domainId, address, run, key, true)) return undefined
    }
    return list
  }
}
