import type { EncodedRequest } from '../encoded-request.ts'
import { Errno } from '../errors.ts'
import { CompletionOpcode } from '../opcode.ts'
import type { CompletionOwner } from '../soft/completion-owner.ts'
import { CompletionStatus } from '../status.ts'
import { ClaimedRing } from './claimed-ring.ts'
import { completeReceive } from './complete-receive.ts'
import type { ShmCompletionQueue } from './completion-queue.ts'
import { RESULT_WORDS, ResultWord } from './layout.ts'
import type { PairBlock } from './pair-block.ts'
import type { ShmSharedReceiveQueue } from './shared-receive-queue.ts'
import type { Visitors } from './visitors.ts'

/** A queue pair, as its receives know it. */
export interface Receiving extends CompletionOwner {
  fail(): void
  /** Look for what the peer may have left in the block without a completion. */
  lookAround(): void
}

/** Where a queue pair's receive requests are kept. */
export interface Receives {
  /** Posted, and neither collected nor flushed. */
  readonly outstanding: number
  /** Returns 0 or an errno. Senders see the request with the next `publish` at the latest. */
  post(request: EncodedRequest): number
  /** Senders see all that was posted. */
  publish(): void
  /** A completion was polled: its slot may be posted again. */
  retire(): void
  /**
   * Add completions for what was consumed, as far as `queue` has room. Returns false if something is left to wait for.
   */
  collect(pair: Receiving, queue: ShmCompletionQueue): boolean
  /** Add flushed completions for the rest. Returns false as `collect` does. */
  flush(pair: Receiving, queue: ShmCompletionQueue): boolean
  /** Forget everything, as RESET does. No sender may be inside the block. */
  reset(): void
  /** True if a visitor has claimed a request and not finished it. */
  isClaimedBy(visitor: number): boolean
}

/** Datagrams: a ring of the queue pair's own that any device can send to. */
export class DatagramReceives implements Receives {
  readonly #ring: ClaimedRing
  readonly #capacity: number
  /** Completions that were not polled yet. */
  #waiting = 0

  constructor(block: PairBlock, visitors: Visitors, capacity: number) {
    this.#ring = new ClaimedRing(block, visitors)
    this.#capacity = capacity
  }

  get outstanding(): number {
    return this.#ring.outstanding
  }

  post(request: EncodedRequest): number {
    if (this.#ring.outstanding + this.#waiting >= this.#capacity) return Errno.ENOMEM
    return this.#ring.post(request)
  }

  /** Each request is published when it is posted. */
  publish(): void {
    return
  }

  retire(): void {
    this.#waiting -= 1
  }

  collect(pair: Receiving, queue: ShmCompletionQueue): boolean {
    let failed = false
    const done = this.#ring.collect((slot, id) => {
      if (!queue.hasRoom(1)) return false
      failed ||= this.#ring.block.results[slot * RESULT_WORDS + ResultWord.Status] !== CompletionStatus.Success
      this.#complete(slot, id, pair, queue)
      return true
    })
    if (failed) pair.fail()
    return done
  }

  flush(pair: Receiving, queue: ShmCompletionQueue): boolean {
    return this.#ring.flush(
      (slot, id) => {
        if (!queue.hasRoom(1)) return false
        this.#complete(slot, id, pair, queue)
        return true
      },
      () => queue.hasRoom(1),
      (id) => {
        this.#waiting += 1
        queue.pushLocal(pair, 0, id, CompletionStatus.WorkRequestFlushed, CompletionOpcode.Receive, 0)
      },
    )
  }

  reset(): void {
    this.#ring.reset()
    this.#waiting = 0
  }

  isClaimedBy(visitor: number): boolean {
    return this.#ring.isClaimedBy(visitor)
  }

  #complete(slot: number, id: number, pair: Receiving, queue: ShmCompletionQueue): void {
    this.#waiting += 1
    completeReceive(this.#ring.block, slot, id, pair, queue, 0)
  }
}

/** Types that do not receive. */
export class NoReceives implements Receives {
  readonly outstanding = 0

  post(): number {
    return Errno.EINVAL
  }

  publish(): void {
    return
  }

  retire(): void {
    return
  }

  collect(_pair: Receiving, _queue: ShmCompletionQueue): boolean {
    return true
  }

  flush(): boolean {
    return true
  }

  reset(): void {
    return
  }

  isClaimedBy(): boolean {
    return false
  }
}

/** Receives come from a shared receive queue: nothing is posted or flushed here. */
export class SharedQueueReceives extends NoReceives {
  readonly #shared: ShmSharedReceiveQueue

  constructor(shared: ShmSharedReceiveQueue) {
    super()
    this.#shared = shared
  }

  override collect(_pair: Receiving, queue: ShmCompletionQueue): boolean {
    return this.#shared.collect(queue)
  }
}
