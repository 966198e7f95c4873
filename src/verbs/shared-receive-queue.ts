import { ArgumentError, checkOptions, checkWhole, type OptionNames } from '../native/index.ts'
import {
  type EncodedRequest,
  errnoName,
  type ProviderSharedReceiveQueue,
  type SharedReceiveQueueAttributes,
  VerbsError,
} from '../providers/index.ts'
import type { CompletionQueue } from './completion-queue.ts'
import { type Children, Closable, checkNoun } from './lifetime.ts'
import type { MemoryDomain } from './memory-region.ts'
import { checkReceive, encodedOf, PreparedReceive, type ReceiveTarget, type Segments } from './prepared-request.ts'
import type { XrcDomain } from './xrc-domain.ts'

export interface SharedReceiveQueueOptions {
  /** Default 64. */
  readonly maxRequests?: number
  /** Default 1. */
  readonly maxSegments?: number
  /** When fewer requests than this are left, one SharedReceiveQueueLimitReached event follows. Default 0: none. */
  readonly limit?: number
  /** Makes it a queue for XRC; pass `completionQueue`, too. */
  readonly xrcDomain?: XrcDomain
  /** XRC only: where its receives complete. Other shared queues complete where their queue pair says. */
  readonly completionQueue?: CompletionQueue
}

const names: OptionNames<SharedReceiveQueueOptions> = {
  maxRequests: true,
  maxSegments: true,
  limit: true,
  xrcDomain: true,
  completionQueue: true,
}

/** What can be changed later. */
interface Modification {
  readonly limit?: number
  readonly maxRequests?: number
}

const modifyNames: OptionNames<Modification> = { limit: true, maxRequests: true }
/** Devices take fewer, and say how many. */
const REQUESTS_MAX = 0x7fffffff

/** A protection domain, as its shared receive queues know it. */
export interface ReceiveDomain extends MemoryDomain {
  /** @internal */
  readonly sharedReceiveQueues: Children<SharedReceiveQueue>
  createSharedReceiveQueue(options?: SharedReceiveQueueOptions): SharedReceiveQueue
}

/** Receive requests shared by several queue pairs: ibv_create_srq(3). */
export class SharedReceiveQueue extends Closable implements ReceiveTarget {
  readonly label = 'shared receive queue'
  readonly domain: ReceiveDomain
  /** @internal */
  readonly provider: ProviderSharedReceiveQueue

  private constructor(domain: ReceiveDomain, provider: ProviderSharedReceiveQueue) {
    super()
    this.domain = domain
    this.provider = provider
  }

  /** @internal */
  static create(domain: ReceiveDomain, options: SharedReceiveQueueOptions): SharedReceiveQueue {
    checkOptions('createSharedReceiveQueue', options, names)
    const { maxRequests = 64, maxSegments = 1, limit = 0, xrcDomain, completionQueue } = options
    checkWhole('options.maxRequests', maxRequests, 1, REQUESTS_MAX)
    checkWhole('options.maxSegments', maxSegments, 1, REQUESTS_MAX)
    checkWhole('options.limit', limit, 0, REQUESTS_MAX)
    if (xrcDomain !== undefined)
      checkNoun('options.xrcDomain', xrcDomain, 'XRC domain', 'device.openXrcDomain() returns')
    if (completionQueue !== undefined)
      checkNoun('options.completionQueue', completionQueue, 'completion queue', 'device.createCompletionQueue() makes')
    if ((xrcDomain === undefined) !== (completionQueue === undefined))
      throw new ArgumentError(
        'xrcDomain',
        'options: a queue for XRC needs both xrcDomain and completionQueue; for other queues leave both out',
      )
    xrcDomain?.assertOpen()
    completionQueue?.assertOpen()
    const provider = domain.provider.createSharedReceiveQueue({
      maxRequests,
      maxSegments,
      limit,
      xrcDomain: xrcDomain?.provider,
      completionQueue: completionQueue?.provider,
    })
    return new SharedReceiveQueue(domain, provider)
  }

  /** The number that XRC senders name: ibv_get_srq_num(3). 0 for other queues. */
  get number(): number {
    return this.provider.number
  }

  /** @internal */
  get maxReceiveSegments(): number {
    return this.query().maxSegments
  }

  /** Return the current attributes: ibv_query_srq(3). */
  query(): SharedReceiveQueueAttributes {
    this.assertOpen()
    return this.provider.query()
  }

  /** Arm the limit event again, or change the size: ibv_modify_srq(3). */
  modify(attributes: Modification): void {
    this.assertOpen()
    checkOptions('modify', attributes, modifyNames, 'attributes')
    const { limit, maxRequests } = (attributes ?? {}) as Modification
    if (limit !== undefined) checkWhole('attributes.limit', limit, 0, REQUESTS_MAX)
    if (maxRequests !== undefined) checkWhole('attributes.maxRequests', maxRequests, 1, REQUESTS_MAX)
    this.provider.modify({ ...attributes })
  }

  prepareReceive(fields: { readonly local: Segments }): PreparedReceive {
    this.assertOpen()
    checkReceive(fields)
    return new PreparedReceive(this, fields?.local)
  }

  /**
   * Post many receives in one call, in order. If some are not taken it throws and says how many were; those may be
   * used.
   */
  postReceiveList(requests: readonly PreparedReceive[]): void {
    this.assertOpen()
    const taken = this.provider.postReceiveList(encodedOf(requests), requests.length)
    if (taken < requests.length)
      this.#refuse(this.provider.lastErrno, `${taken} of ${requests.length} requests were taken; `)
  }

  /** @internal */
  postReceive(encoded: EncodedRequest): void {
    this.assertOpen()
    const errno = this.provider.postReceive(encoded)
    if (errno !== 0) this.#refuse(errno, '')
  }

  protected release(): void {
    this.provider.destroy()
    this.domain.sharedReceiveQueues.remove(this)
  }

  #refuse(errno: number, prefix: string): never {
    const why =
      errnoName(errno) === 'ENOMEM'
        ? 'the shared receive queue is full; wait for receives to complete'
        : 'the request was refused; check the number of segments'
    throw new VerbsError('ibv_post_srq_recv', errno, `${prefix}${why}`)
  }
}
