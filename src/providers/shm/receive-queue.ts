import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { Errno } from '../errors.ts'
import { CompletionOpcode } from '../opcode.ts'
import { CompletionStatus } from '../status.ts'
import type { Block } from './block.ts'
import { completeReceive } from './complete-receive.ts'
import type { ShmCompletionQueue } from './completion-queue.ts'
import { BlockWord } from './layout.ts'
import type { ShmQueuePair } from './queue-pair.ts'
import type { Receives } from './receives.ts'

/**
 * The owner's end of the ring of receive requests in its block. The connected peer consumes them and writes results into the same slots;
 * `collect` turns those into completions. Counters are 32-bit and wrap; differences are taken as signed.
 */
export class ReceiveQueue implements Receives {
  readonly #block: Block
  readonly #capacity: number
  readonly #ids: Float64Array
  #posted = 0
  /** Consumed by the peer and seen by us, or flushed. */
  #collected = 0
  /** Completions polled: their slots may be posted again. */
  #retired = 0

  constructor(block: Block, capacity: number) {
    this.#block = block
    this.#capacity = capacity
    this.#ids = new Float64Array(block.mask + 1)
  }

  /** 0 or an errno. */
  post(request: EncodedRequest): number {
    const segments = request.words[RequestSlot.SegmentCount] as number
    if (segments > this.#block.segments) return Errno.EINVAL
    if (((this.#posted - this.#retired) | 0) >= this.#capacity) return Errno.ENOMEM
    const slot = this.#posted & this.#block.mask
    this.#ids[slot] = request.words[RequestSlot.Id] as number
    this.#write(slot, request, segments)
    this.#posted = (this.#posted + 1) | 0
    Atomics.store(this.#block.words, BlockWord.Posted, this.#posted)
    return 0
  }

  retire(): void {
    this.#retired = (this.#retired + 1) | 0
  }

  get outstanding(): number {
    return (this.#posted - this.#collected) | 0
  }

  /** Completions for what the peer consumed, as far as `queue` has room; false when it does not. */
  collect(pair: ShmQueuePair, queue: ShmCompletionQueue): boolean {
    const consumed = Atomics.load(this.#block.words, BlockWord.Consumed)
    // Beyond what was posted is nonsense of a broken peer: no such request, no completion. What was flushed is ahead of what the peer consumed.
    while (((consumed - this.#collected) | 0) > 0 && this.#collected !== this.#posted) {
      if (!queue.hasRoom(1)) return false
      const slot = this.#collected & this.#block.mask
      completeReceive(this.#block, slot, this.#ids[slot] as number, pair, queue, 0)
      this.#collected = (this.#collected + 1) | 0
    }
    return true
  }

  /** Flushed completions for the rest, oldest first; false when `queue` has no room. */
  flush(pair: ShmQueuePair, queue: ShmCompletionQueue): boolean {
    while (this.#collected !== this.#posted) {
      if (!queue.hasRoom(1)) return false
      const id = this.#ids[this.#collected & this.#block.mask] as number
      this.#collected = (this.#collected + 1) | 0
      queue.pushLocal(pair, 0, id, CompletionStatus.WorkRequestFlushed, CompletionOpcode.Receive, 0)
    }
    return true
  }

  /** Forget everything, as RESET does. Nobody may be inside the block. */
  reset(): void {
    this.#posted = 0
    this.#collected = 0
    this.#retired = 0
    Atomics.store(this.#block.words, BlockWord.Posted, 0)
    Atomics.store(this.#block.words, BlockWord.Consumed, 0)
  }

  isClaimedBy(): boolean {
    return false
  }

  #write(slot: number, request: EncodedRequest, segments: number): void {
    const { requests, requestStride } = this.#block
    const { words } = request
    let to = slot * requestStride
    requests[to] = segments
    for (let from = RequestSlot.Segments as number, end = from + 3 * segments; from < end; from += 1) {
      to += 1
      requests[to] = words[from] as number
    }
  }
}
