import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { Errno } from '../errors.ts'
import { CompletionOpcode } from '../opcode.ts'
import { CompletionStatus } from '../status.ts'
import type { Block } from './block.ts'
import type { ShmCompletionQueue } from './completion-queue.ts'
import { BlockWord, MAX_MESSAGE_BYTES, RESULT_WORDS, ResultWord } from './layout.ts'
import type { ShmQueuePair } from './queue-pair.ts'

/**
 * The owner's end of the ring of receive requests in its block. The connected peer consumes them and writes results into the same slots;
 * `collect` turns those into completions. Counters are 32-bit and wrap; differences are taken as signed.
 */
export class ReceiveQueue {
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
    // Beyond what was posted is nonsense of a broken peer: no such request, no completion.
    while (this.#collected !== consumed && this.#collected !== this.#posted) {
      if (!queue.hasRoom(1)) return false
      this.#complete(pair, queue, this.#collected & this.#block.mask)
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
    Atomics.store(this.#block.words, BlockWord.Fault, 0)
    Atomics.store(this.#block.words, BlockWord.Waiting, 0)
    Atomics.store(this.#block.words, BlockWord.Inside, 0)
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

  #complete(pair: ShmQueuePair, queue: ShmCompletionQueue, slot: number): void {
    const { results, resultDoubles } = this.#block
    const at = slot * RESULT_WORDS
    const status = (results[at + ResultWord.Status] as number) & 0xff
    const opcode = (results[at + ResultWord.Opcode] as number) & 0xff
    const length = resultDoubles[(at + ResultWord.ByteLength) / 2] as number
    const byteLength = length >= 0 && length <= MAX_MESSAGE_BYTES ? length : 0
    const row = queue.push(pair, 0, this.#ids[slot] as number, status, opcode, byteLength)
    const flags = results[at + ResultWord.Flags] as number
    const immediate = (results[at + ResultWord.Immediate] as number) >>> 0
    queue.annotate(
      row,
      flags,
      immediate,
      (results[at + ResultWord.SourceNumber] as number) >>> 0,
      results[at + ResultWord.VendorError] as number,
    )
  }
}
