import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { Errno } from '../errors.ts'
import { completionOpcodeOf, Opcode, RequestFlag } from '../opcode.ts'
import type { ProviderQueuePairOptions, QueuePairAttributes, QueuePairCapacities } from '../queue-pair-contract.ts'
import type { QueuePairType } from '../queue-pair-state.ts'
import type { CompletionOwner } from '../soft/completion-owner.ts'
import type { MemoryOperations } from '../soft/memory-operations.ts'
import { Outcome } from '../soft/outcome.ts'
import { plainFor, refusal } from '../soft/service.ts'
import { CompletionStatus } from '../status.ts'
import type { ShmCompletionQueue } from './completion-queue.ts'
import { Patience } from './patience.ts'
import type { ShmRequester } from './requester.ts'
import { SendQueue } from './send-queue.ts'
import type { Transport } from './transport.ts'

/** The queue pair, as its sends know it. */
export interface Sender extends CompletionOwner {
  readonly type: QueuePairType
  readonly capacities: QueuePairCapacities
  readonly attributes: QueuePairAttributes
  /** Something waits: `progress` must be called now and then. */
  pend(): void
  /** A request has failed and has its completion; flush what is behind it. */
  failed(): void
}

export interface SendingParts {
  readonly requester: ShmRequester
  readonly transport: Transport
  readonly memoryOperations: MemoryOperations
}

/**
 * The send queue of a queue pair. The thread that posts a request carries it out. If the peer is not ready, the request
 * waits, and so do all behind it. The queue pair decides in which of its states that may happen.
 */
export class Sending {
  readonly #pair: Sender
  /** Types that do not send have none, and never use it. */
  readonly #completions: ShmCompletionQueue
  readonly #signalAll: boolean
  readonly #requester: ShmRequester
  readonly #transport: Transport
  readonly #memoryOperations: MemoryOperations
  readonly #waiting: SendQueue
  readonly #patience = new Patience()
  /** Opcodes that need few checks at the post, one bit each. */
  readonly #plain: number
  /** Slots in use: posted, and not yet covered by a polled completion. */
  #outstanding = 0
  /** Requests carried out since the last completion was made. */
  #uncovered = 0
  /**
   * The oldest waiting request has revoked a key, and waits until no peer uses it any more. The request has been
   * carried out. So it still completes if the queue pair fails in the meantime, which happens if the peer tries that
   * key.
   */
  #headTookBack = false

  constructor(pair: Sender, options: ProviderQueuePairOptions, parts: SendingParts) {
    this.#pair = pair
    this.#completions = options.sendQueue as ShmCompletionQueue
    this.#signalAll = options.signalAll
    this.#requester = parts.requester
    this.#transport = parts.transport
    this.#memoryOperations = parts.memoryOperations
    this.#waiting = new SendQueue(Math.max(1, options.maxSendRequests), options.maxSendSegments, options.maxInlineBytes)
    this.#plain = plainFor(pair.type)
  }

  /** True if no request waits. */
  get isIdle(): boolean {
    return this.#waiting.count === 0
  }

  /** Carry out a request, behind those that wait. Returns 0 or an errno. */
  post(request: EncodedRequest): number {
    const errno = this.#admit(request)
    if (errno !== 0) return errno
    if (this.#waiting.count > 0) this.#waiting.push(request)
    else this.#carryOut(request)
    return 0
  }

  /** Make a request wait, to be carried out or flushed later. Returns 0 or an errno. */
  postWaiting(request: EncodedRequest): number {
    const errno = this.#admit(request)
    if (errno === 0) this.#waiting.push(request)
    return errno
  }

  /** Completions of `count` requests have been polled. */
  retire(count: number): void {
    this.#outstanding -= count
  }

  /** Retry the oldest waiting request. Returns true if it is done and the next may follow. */
  retryHead(now: number): boolean {
    const { head } = this.#waiting
    const status = this.#transport.execute(head)
    this.#headTookBack = status === Outcome.PeerInside
    if (status < 0) {
      this.#lose(status, now)
      return false
    }
    this.#shift()
    if (status === CompletionStatus.Success) this.#complete(head)
    else this.#fail(head, status)
    return status === CompletionStatus.Success
  }

  /** Complete what waits as flushed, as far as there is room. Returns true if nothing is left. */
  flush(): boolean {
    while (this.#waiting.count > 0) {
      if (!this.#completions.hasRoom(1)) return false
      const { head } = this.#waiting
      const status = this.#headTookBack ? this.#transport.execute(head) : CompletionStatus.WorkRequestFlushed
      if (status < 0) return false
      this.#headTookBack = false
      this.#waiting.shift()
      this.#push(head, status)
    }
    return true
  }

  /** The queue pair has failed: do not wait for its peer any more. */
  giveUp(): void {
    this.#patience.forget()
  }

  /** Forget all that is outstanding. */
  clear(): void {
    this.#waiting.clear()
    this.#headTookBack = false
    this.#patience.forget()
    this.#outstanding = 0
    this.#uncovered = 0
  }

  /**
   * Check a request and take its slot. Returns 0 or an errno. Rare checks are in another function, because this one is
   * inlined into every post.
   */
  #admit(request: EncodedRequest): number {
    const { words } = request
    const opcode = words[RequestSlot.Opcode]!
    const plain = (this.#plain & (1 << opcode)) !== 0 && (words[RequestSlot.Flags]! & RequestFlag.Inline) === 0
    const { capacities } = this.#pair
    if (!plain) {
      const refused = this.#refusal(request, opcode)
      if (refused !== 0) return refused
    } else if (words[RequestSlot.SegmentCount]! > capacities.maxSendSegments) return Errno.EINVAL
    if (this.#outstanding >= capacities.maxSendRequests) return Errno.ENOMEM
    this.#outstanding += 1
    if (!plain && opcode === Opcode.BindMemoryWindow) this.#memoryOperations.posted(request)
    return 0
  }

  #refusal(request: EncodedRequest, opcode: number): number {
    const refused = refusal(this.#pair.type, this.#pair.capacities, request, opcode)
    return refused === 0 && !this.#transport.admits(request) ? Errno.EINVAL : refused
  }

  #carryOut(request: EncodedRequest): void {
    const status = this.#transport.execute(request)
    if (status === CompletionStatus.Success) this.#complete(request)
    else if (status > 0) this.#fail(request, status)
    else this.#wait(request, status)
  }

  #complete(request: EncodedRequest): void {
    const { words } = request
    this.#uncovered += 1
    if (!this.#signalAll && (words[RequestSlot.Flags]! & RequestFlag.Signaled) === 0) return
    const covered = this.#uncovered
    this.#uncovered = 0
    const opcode = completionOpcodeOf[words[RequestSlot.Opcode]!]!
    const { byteLength } = this.#requester
    this.#completions.pushLocal(this.#pair, covered, words[RequestSlot.Id]!, 0, opcode, byteLength)
  }

  /** The completion of the failed request first, then everything behind it as flushed. */
  #fail(request: EncodedRequest, status: number): void {
    const row = this.#push(request, status)
    this.#completions.annotate(row, 0, 0, 0, this.#requester.vendorError)
    this.#requester.vendorError = 0
    this.#pair.failed()
  }

  #push(request: EncodedRequest, status: number): number {
    const { words } = request
    const covered = this.#uncovered + 1
    this.#uncovered = 0
    const opcode = completionOpcodeOf[words[RequestSlot.Opcode]!]!
    return this.#completions.pushLocal(this.#pair, covered, words[RequestSlot.Id]!, status, opcode, 0)
  }

  #wait(request: EncodedRequest, outcome: number): void {
    this.#waiting.push(request)
    this.#headTookBack = outcome === Outcome.PeerInside
    this.#pair.pend()
    this.#lose(outcome, performance.now())
  }

  /** The head could not be carried out: wait, or give up. */
  #lose(outcome: number, now: number): void {
    // This needs no answer from a peer: a peer that is inside gets out, or ends.
    if (outcome === Outcome.PeerInside) return
    const noReceive = outcome === Outcome.NoReceive
    const code = noReceive ? this.#transport.rnrTimer : 0
    const { attributes } = this.#pair
    const { patient, began } = noReceive
      ? this.#patience.receiverNotReady(now, code, attributes)
      : this.#patience.noAnswer(now, attributes)
    if (began && noReceive) this.#transport.setWaiting(true)
    if (patient) return
    const { head } = this.#waiting
    this.#shift()
    this.#fail(head, noReceive ? CompletionStatus.ReceiverNotReadyRetryExceeded : CompletionStatus.RetryExceeded)
  }

  /** The head is done. */
  #shift(): void {
    this.#waiting.shift()
    if (this.#patience.forget()) this.#transport.setWaiting(false)
  }
}
