import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { Errno } from '../errors.ts'
import { ClaimState, claimState, claimVisitor, claimWord, ringShift } from './claims.ts'
import { BlockWord } from './layout.ts'
import type { PairBlock } from './pair-block.ts'
import type { Visitors } from './visitors.ts'

/** What to do with a collected slot. Returns false if there is no room for its completion. */
export type SlotSink = (slot: number, id: number) => boolean

/**
 * The owner's end of a ring of receive requests that many send to. Slots are collected in the order of their posts, so
 * that the messages of one sender stay in order. A request that a dead visitor had claimed is posted again, at the end:
 * the request is not lost, and the message was never complete.
 */
export class ClaimedRing {
  readonly block: PairBlock
  readonly #visitors: Visitors
  readonly #ids: Float64Array
  readonly #shift: number
  #posted = 0
  /** Collected or flushed: all slots before this one are free. */
  #collected = 0

  constructor(block: PairBlock, visitors: Visitors) {
    this.block = block
    this.#visitors = visitors
    this.#ids = new Float64Array(block.mask + 1)
    this.#shift = ringShift(block.mask)
  }

  /** Posted and not collected yet. */
  get outstanding(): number {
    return (this.#posted - this.#collected) | 0
  }

  /** Posted and not claimed: what is left for senders. */
  get left(): number {
    return (this.#posted - Atomics.load(this.block.words, BlockWord.Next)) | 0
  }

  /** Returns 0 or an errno. The caller has checked the capacity. */
  post(request: EncodedRequest): number {
    const segments = request.words[RequestSlot.SegmentCount]!
    if (segments > this.block.segments) return Errno.EINVAL
    const { requests, requestStride, mask } = this.block
    const slot = this.#posted & mask
    this.#ids[slot] = request.words[RequestSlot.Id]!
    const at = slot * requestStride
    requests[at] = segments
    for (let index = 0; index < 3 * segments; index += 1)
      requests[at + 1 + index] = request.words[RequestSlot.Segments + index]!
    this.#publish()
    return 0
  }

  /**
   * Pass on what is done, oldest first. Returns false if something is left to wait for: room for a completion, or an
   * unfinished claim.
   */
  collect(sink: SlotSink): boolean {
    const { claims, mask } = this.block
    while (this.#collected !== this.#posted) {
      const slot = this.#collected & mask
      const word = Atomics.load(claims, slot)
      const state = claimState(word)
      if (state === ClaimState.Posted) return true
      if (state === ClaimState.Done) {
        if (!sink(slot, this.#ids[slot]!)) return false
        this.#free(slot)
      } else if (this.#visitors.hasEnded(claimVisitor(word))) this.#postAnew(slot)
      else return false
    }
    return true
  }

  /** Take back the unclaimed requests, oldest first. Returns false if there is no room, or a claim is unfinished. */
  flush(done: SlotSink, hasRoom: () => boolean, flushed: (id: number) => void): boolean {
    const { claims, mask } = this.block
    for (;;) {
      if (!this.collect(done)) return false
      if (this.#collected === this.#posted) return true
      if (!hasRoom()) return false
      const slot = this.#collected & mask
      const posted = claimWord(ClaimState.Posted, this.#collected, this.#shift)
      const free = claimWord(ClaimState.Free, this.#collected, this.#shift)
      // A sender that claims the slot now has won; the slot is collected in the next round.
      if (Atomics.compareExchange(claims, slot, posted, free) !== posted) continue
      flushed(this.#ids[slot]!)
      this.#free(slot)
    }
  }

  /** True if a slot is claimed by that visitor and not finished. */
  isClaimedBy(visitor: number): boolean {
    for (let position = this.#collected; position !== this.#posted; position = (position + 1) | 0) {
      const word = Atomics.load(this.block.claims, position & this.block.mask)
      if (claimState(word) === ClaimState.Claimed && claimVisitor(word) === visitor) return true
    }
    return false
  }

  /** Copy the unclaimed requests, oldest first, into a ring of another size. No sender may be inside. */
  drainInto(other: ClaimedRing): void {
    const { requests, requestStride, mask } = this.block
    for (let position = this.#collected; position !== this.#posted; position = (position + 1) | 0) {
      const slot = position & mask
      const from = requests.subarray(slot * requestStride, (slot + 1) * requestStride)
      other.#copyIn(this.#ids[slot]!, from)
    }
  }

  /** Forget everything, as RESET does. No sender may be inside. */
  reset(): void {
    this.#posted = 0
    this.#collected = 0
    this.block.claims.fill(0)
    Atomics.store(this.block.words, BlockWord.Posted, 0)
    Atomics.store(this.block.words, BlockWord.Next, 0)
  }

  #copyIn(id: number, request: Float64Array): void {
    const { requests, requestStride, mask } = this.block
    const slot = this.#posted & mask
    this.#ids[slot] = id
    requests.set(request, slot * requestStride)
    this.#publish()
  }

  /** Publish the request just written: the slot's word first, the counter last. */
  #publish(): void {
    const { claims, words, mask } = this.block
    const position = this.#posted
    Atomics.store(claims, position & mask, claimWord(ClaimState.Posted, position, this.#shift))
    this.#posted = (position + 1) | 0
    Atomics.store(words, BlockWord.Posted, this.#posted)
  }

  /**
   * The slot's visitor died: free the slot, and post its request at the end. There is room, since one slot has just
   * become free.
   */
  #postAnew(slot: number): void {
    const { requests, requestStride } = this.block
    const request = requests.slice(slot * requestStride, (slot + 1) * requestStride)
    const id = this.#ids[slot]!
    this.#free(slot)
    this.#copyIn(id, request)
  }

  /** Free the slot. Its visitor may have been killed between claiming it and advancing `Next`. */
  #free(slot: number): void {
    Atomics.compareExchange(this.block.words, BlockWord.Next, this.#collected, (this.#collected + 1) | 0)
    Atomics.store(this.block.claims, slot, claimWord(ClaimState.Free, this.#collected, this.#shift))
    this.#collected = (this.#collected + 1) | 0
  }
}
