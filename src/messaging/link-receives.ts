import {
  CompletionBatch,
  type CompletionChannel,
  type CompletionQueue,
  type PreparedReceive,
  type QueueDevice,
  type QueuePair,
  type QueuePairOptions,
} from '../verbs/index.ts'
import { FixedBudget, type ReceiveBudget } from './receive-budget.ts'
import { CONTROL_RECEIVES } from './receive-shares.ts'

/** The id of receives; those of sends count from 1. */
export const RECEIVE_ID = 0
const BATCH = 64

/** A link that is polled when something has come for it. */
export interface SharingLink {
  /** Look at what has come, in its turn. */
  advance(): number
  /** Ask the peer for receives that it has not used, beyond `keep`. */
  recall(keep: number): void
}

/** Receives the completions of one queue pair. It does not throw and does not call the program. */
export interface CompletionTaker {
  take(batch: CompletionBatch, row: number): void
}

/** The receives of one link, and how its completions reach it. */
export interface LinkReceives {
  readonly queue: CompletionQueue
  readonly budget: ReceiveBudget
  /** Receives for messages that the peer has at the start, and the most it can have. */
  readonly initial: number
  readonly most: number
  readonly pairOptions: Pick<
    QueuePairOptions,
    'sendQueue' | 'receiveQueue' | 'sharedReceiveQueue' | 'maxReceiveRequests'
  >
  /** The queue pair is in INIT, and the peer cannot send yet. */
  prepare(pair: QueuePair): void
  /** Set the taker of completions, also of those that have come, and the link that they are for. */
  attach(taker: CompletionTaker, link: SharingLink): void
  /** Take what has completed. Without `now` it may be skipped if it was just done for all that share the queue. */
  collect(now: boolean): void
  /** Post again what was used up, before the peer is told of it. */
  repost(): void
  /** The queue pair has gone. */
  close(): void
}

/** A link's own receives and completion queue. */
export class OwnReceives implements LinkReceives {
  readonly queue: CompletionQueue
  readonly budget: ReceiveBudget
  readonly initial: number
  readonly #batch = new CompletionBatch(BATCH)
  #pair: QueuePair | undefined
  #receive: PreparedReceive | undefined
  #taker: CompletionTaker | undefined
  /** Used up and not posted again. */
  #spent = 0

  constructor(device: QueueDevice, channel: CompletionChannel, sends: number, receives: number) {
    this.queue = device.createCompletionQueue({ depth: sends + receives + CONTROL_RECEIVES, channel })
    this.budget = new FixedBudget(receives)
    this.initial = receives
  }

  get most(): number {
    return this.initial
  }

  get pairOptions(): { sendQueue: CompletionQueue; receiveQueue: CompletionQueue; maxReceiveRequests: number } {
    const { queue, initial } = this
    return { sendQueue: queue, receiveQueue: queue, maxReceiveRequests: initial + CONTROL_RECEIVES }
  }

  prepare(pair: QueuePair): void {
    this.#pair = pair
    this.#receive = pair.prepareReceive({ local: [] })
    this.#receive.id = RECEIVE_ID
    this.#post(this.initial + CONTROL_RECEIVES)
  }

  attach(taker: CompletionTaker): void {
    this.#taker = taker
  }

  collect(): void {
    const batch = this.#batch
    for (let rows = BATCH; rows === BATCH; ) {
      rows = this.queue.poll(batch)
      for (let row = 0; row < rows; row += 1) {
        if (batch.id[row] === RECEIVE_ID) this.#spent += 1
        this.#taker?.take(batch, row)
      }
    }
  }

  repost(): void {
    if (this.#spent > 0) this.#post(this.#spent)
    this.#spent = 0
  }

  close(): void {
    this.queue.close()
  }

  /** For WRITEs with an immediate, whose bytes lie elsewhere: all are the same. */
  #post(count: number): void {
    this.#pair?.postReceiveList(new Array<PreparedReceive>(count).fill(this.#receive!))
  }
}
