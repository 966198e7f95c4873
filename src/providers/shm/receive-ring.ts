import type { CompletionBatch } from '../completion-batch.ts'
import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { Errno } from '../errors.ts'
import { CompletionOpcode } from '../opcode.ts'
import { CompletionStatus } from '../status.ts'
import { completeReceive, lengthOf } from './complete-receive.ts'
import type { ArrivalRing, ShmCompletionQueue } from './completion-queue.ts'
import { BlockWord, RESULT_WORDS, ResultWord } from './layout.ts'
import type { PairBlock } from './pair-block.ts'
import type { Receives, Receiving } from './receives.ts'

/**
 * The owner's end of the ring of receive requests in its block. The connected peer consumes them and writes results
 * into the same slots, each published by its sequence number; `collect` turns those into completions. Counters are
 * 32-bit and wrap; differences are signed. They continue over RESET, so a number that an earlier connection left in the
 * ring is never the next one.
 */
export class ReceiveRing implements Receives, ArrivalRing {
  readonly #block: PairBlock
  readonly #results: Int32Array
  readonly #capacity: number
  readonly #ids: Float64Array
  #posted = 0
  /** Consumed by the peer and seen here, or flushed. */
  #collected = 0
  /** Completions polled: their slots may be posted again. */
  #retired = 0
  /** Where the next result is published, and its number there. */
  #nextAt: number = ResultWord.Sequence
  #nextNumber = 1

  constructor(block: PairBlock, capacity: number) {
    this.#block = block
    this.#results = block.results
    this.#capacity = capacity
    this.#ids = new Float64Array(block.mask + 1)
  }

  /** Returns 0 or an errno. The peer sees the request after the next `publish`. */
  post(request: EncodedRequest): number {
    const segments = request.words[RequestSlot.SegmentCount]!
    if (segments > this.#block.segments) return Errno.EINVAL
    if (((this.#posted - this.#retired) | 0) >= this.#capacity) return Errno.ENOMEM
    const slot = this.#posted & this.#block.mask
    this.#ids[slot] = request.words[RequestSlot.Id]!
    this.#write(slot, request, segments)
    this.#posted = (this.#posted + 1) | 0
    return 0
  }

  /**
   * The peer now sees what was posted. It is called once for a list, since a publication takes longer than a request.
   */
  publish(): void {
    Atomics.store(this.#block.words, BlockWord.Posted, this.#posted)
  }

  /** By a plain load: it may be late, and is for callers that look again soon. */
  get hasArrived(): boolean {
    return this.#results[this.#nextAt] === this.#nextNumber
  }

  retire(): void {
    this.#retired = (this.#retired + 1) | 0
  }

  get outstanding(): number {
    return (this.#posted - this.#collected) | 0
  }

  /** Add completions for what the peer consumed, as far as `queue` has room. Returns false if it has not. */
  collect(pair: Receiving, queue: ShmCompletionQueue): boolean {
    let status: number = CompletionStatus.Success
    // More than was posted is nonsense of a broken peer: no such request, no completion.
    while (
      this.#collected !== this.#posted &&
      Atomics.load(this.#results, this.#nextAt) === this.#nextNumber &&
      queue.hasRoom(1)
    ) {
      const slot = this.#collected & this.#block.mask
      status |= completeReceive(this.#block, slot, this.#ids[slot]!, pair, queue, 0)
      this.#setCollected((this.#collected + 1) | 0)
    }
    // A peer that could not deliver a message has left a fault before it published the result.
    if (status !== CompletionStatus.Success) pair.lookAround()
    return queue.hasRoom(1) || !this.hasArrived
  }

  take(batch: CompletionBatch, number: number): number {
    const results = this.#results
    let row = 0
    do {
      // The atomic load comes before the result is read.
      if (this.#collected === this.#posted || Atomics.load(results, this.#nextAt) !== this.#nextNumber) break
      const slot = this.#collected & this.#block.mask
      const at = slot * RESULT_WORDS
      if ((results[at + ResultWord.Status]! & 0xff) !== CompletionStatus.Success) break
      batch.id[row] = this.#ids[slot]!
      batch.status[row] = CompletionStatus.Success
      batch.opcode[row] = results[at + ResultWord.Opcode]! & 0xff
      batch.flags[row] = results[at + ResultWord.Flags]!
      batch.byteLength[row] = lengthOf(this.#block, slot)
      batch.queuePairNumber[row] = number
      batch.immediate[row] = results[at + ResultWord.Immediate]!
      batch.vendorError[row] = results[at + ResultWord.VendorError]!
      batch.sourceQueuePair[row] = results[at + ResultWord.SourceNumber]!
      this.#retired = (this.#retired + 1) | 0
      this.#setCollected((this.#collected + 1) | 0)
      row += 1
    } while (row < batch.capacity && this.hasArrived)
    return row
  }

  /** Add flushed completions for the rest, oldest first. Returns false if `queue` has no room. */
  flush(pair: Receiving, queue: ShmCompletionQueue): boolean {
    while (this.#collected !== this.#posted) {
      if (!queue.hasRoom(1)) return false
      const id = this.#ids[this.#collected & this.#block.mask]!
      this.#setCollected((this.#collected + 1) | 0)
      queue.pushLocal(pair, 0, id, CompletionStatus.WorkRequestFlushed, CompletionOpcode.Receive, 0)
    }
    return true
  }

  /** Forget everything, as RESET does. No peer may be inside the block. */
  reset(): void {
    this.#setCollected(this.#posted)
    this.#retired = this.#posted
    Atomics.store(this.#block.words, BlockWord.Consumed, this.#posted)
  }

  isClaimedBy(): boolean {
    return false
  }

  #setCollected(position: number): void {
    this.#collected = position
    this.#nextAt = (position & this.#block.mask) * RESULT_WORDS + ResultWord.Sequence
    this.#nextNumber = (position + 1) | 0
  }

  #write(slot: number, request: EncodedRequest, segments: number): void {
    const { requests, requestStride } = this.#block
    const { words } = request
    let to = slot * requestStride
    requests[to] = segments
    for (let from = RequestSlot.Segments as number, end = from + 3 * segments; from < end; from += 1) {
      to += 1
      requests[to] = words[from]!
    }
  }
}
