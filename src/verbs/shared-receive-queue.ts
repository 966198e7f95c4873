import { ArgumentError } from '../native/index.ts'
import {
  type EncodedRequest,
  errnoName,
  type ProviderSharedReceiveQueue,
  type SharedReceiveQueueAttributes,
  VerbsError,
} from '../providers/index.ts'
import type { CompletionQueue } from './completion-queue.ts'
import { Closable } from './lifetime.ts'
import { PreparedReceive, type ReceiveTarget, type Segments } from './prepared-request.ts'
import type { ProtectionDomain } from './protection-domain.ts'
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

/** Receive requests shared by several queue pairs: ibv_create_srq(3). */
export class SharedReceiveQueue extends Closable implements ReceiveTarget {
  readonly label = 'shared receive queue'
  readonly domain: ProtectionDomain
  /** @internal */
  readonly provider: ProviderSharedReceiveQueue

  private constructor(domain: ProtectionDomain, provider: ProviderSharedReceiveQueue) {
    super()
    this.domain = domain
    this.provider = provider
  }

  /** @internal */
  static create(domain: ProtectionDomain, options: SharedReceiveQueueOptions): SharedReceiveQueue {
    const { maxRequests = 64, maxSegments = 1, limit = 0, xrcDomain, completionQueue } = options
    if ((xrcDomain === undefined) !== (completionQueue === undefined))
      throw new ArgumentError(
        'xrcDomain',
        'a queue for XRC needs both xrcDomain and completionQueue; for other queues leave both out',
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
  modify(attributes: { readonly limit?: number; readonly maxRequests?: number }): void {
    this.assertOpen()
    this.provider.modify(attributes)
  }

  prepareReceive(fields: { readonly local: Segments }): PreparedReceive {
    this.assertOpen()
    return new PreparedReceive(this, fields.local)
  }

  /**
   * Post many receives in one call, in order. If some are not taken it throws and says how many were; those may be
   * used.
   */
  postReceiveList(requests: readonly PreparedReceive[]): void {
    this.assertOpen()
    const taken = this.provider.postReceiveList(
      requests.map((request) => request.encoded),
      requests.length,
    )
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
