import { AsyncEventType } from '../async-event.ts'
import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { Errno } from '../errors.ts'
import type { ProviderQueuePair } from '../queue-pair-contract.ts'
import type {
  ProviderSharedReceiveQueue,
  ProviderSharedReceiveQueueOptions,
  SharedReceiveQueueAttributes,
} from '../shared-receive-queue.ts'
import type { SoftProtectionDomain } from '../soft/protection-domain.ts'
import { checkHolds, checkLimit, checkSizes, refuseWhileUsed } from '../soft/shared-receive-rules.ts'
import type { CompletionSource, SimCompletionQueue } from './completion-queue.ts'
import type { SimContext } from './context.ts'
import type { ReceiveSource } from './receive-queue.ts'
import { ReceiveRequest } from './receive-request.ts'
import type { SimXrcDomain } from './xrc-domain.ts'

/** Receive requests that several queue pairs consume. A slot is free as soon as a message has taken it. */
export class SimSharedReceiveQueue implements ProviderSharedReceiveQueue, ReceiveSource, CompletionSource {
  readonly number: number
  readonly device: SimContext
  readonly domain: SoftProtectionDomain
  readonly users: Set<ProviderQueuePair> = new Set<ProviderQueuePair>()
  readonly xrcDomain: SimXrcDomain | undefined
  /** Where receives of XRC complete. */
  readonly completionQueue: SimCompletionQueue | undefined
  readonly label: string
  lastErrno = 0
  readonly #maxSegments: number
  #requests: ReceiveRequest[] = []
  #maxRequests: number
  #limit: number

  constructor(device: SimContext, domain: SoftProtectionDomain, options: ProviderSharedReceiveQueueOptions) {
    checkSizes(options.maxRequests, options.maxSegments)
    this.device = device
    this.domain = domain
    this.#maxRequests = options.maxRequests
    this.#maxSegments = options.maxSegments
    this.#limit = options.limit
    this.xrcDomain = options.xrcDomain as SimXrcDomain | undefined
    this.completionQueue = options.completionQueue as SimCompletionQueue | undefined
    const number = device.cluster.nextNumber()
    this.number = this.xrcDomain === undefined ? 0 : number
    this.label = `shared receive queue ${number}`
    this.xrcDomain?.addQueue(this)
    this.completionQueue?.sources.add(this)
  }

  query(): SharedReceiveQueueAttributes {
    return { maxRequests: this.#maxRequests, maxSegments: this.#maxSegments, limit: this.#limit }
  }

  modify(attributes: { readonly limit?: number; readonly maxRequests?: number }): void {
    const { limit, maxRequests } = attributes
    if (limit !== undefined) checkLimit(limit, maxRequests ?? this.#maxRequests)
    if (maxRequests !== undefined) this.#resize(maxRequests)
    if (limit !== undefined) this.#limit = limit
    this.#checkLimit()
  }

  postReceive(request: EncodedRequest): number {
    if (request.words[RequestSlot.SegmentCount]! > this.#maxSegments) return Errno.EINVAL
    if (this.#requests.length >= this.#maxRequests) return Errno.ENOMEM
    this.#requests.push(new ReceiveRequest(request, this.domain.id))
    return 0
  }

  postReceiveList(requests: readonly EncodedRequest[], count: number): number {
    for (let index = 0; index < count; index += 1) {
      this.lastErrno = this.postReceive(requests[index]!)
      if (this.lastErrno !== 0) return index
    }
    return count
  }

  peek(): ReceiveRequest | undefined {
    return this.#requests[0]
  }

  take(): ReceiveRequest | undefined {
    const request = this.#requests.shift()
    this.#checkLimit()
    return request
  }

  /**
   * The completion queue of XRC is overrun: completions are lost. The queue pairs belong to others and keep working.
   */
  overrun(): void {
    this.device.events.raise(AsyncEventType.SharedReceiveQueueError, { sharedReceiveQueue: this })
  }

  destroy(): void {
    refuseWhileUsed(this.users)
    this.completionQueue?.sources.delete(this)
    this.xrcDomain?.removeQueue(this)
    this.device.events.forget(this)
    this.domain.sharedReceiveQueues.delete(this)
  }

  #resize(maxRequests: number): void {
    checkSizes(maxRequests, this.#maxSegments)
    checkHolds(maxRequests, this.#requests.length)
    this.#maxRequests = maxRequests
  }

  /** If fewer are left than the limit, raise one event, and disarm the limit. */
  #checkLimit(): void {
    if (this.#limit === 0 || this.#requests.length >= this.#limit) return
    this.#limit = 0
    this.device.events.raise(AsyncEventType.SharedReceiveQueueLimitReached, { sharedReceiveQueue: this })
  }
}
