import type { VerbsToken } from '../../native/index.ts'
import type { EncodedRequest } from '../encoded-request.ts'
import type {
  ProviderSharedReceiveQueue,
  ProviderSharedReceiveQueueOptions,
  SharedReceiveQueueAttributes,
} from '../shared-receive-queue.ts'
import type { IbverbsCompletionQueue } from './completion-queue.ts'
import type { IbverbsContext, IbverbsDomain } from './context.ts'
import { errnoOf, PostBuffer, takenOf } from './post-buffer.ts'
import { attempt, check } from './verb.ts'
import type { IbverbsXrcDomain } from './xrc-domain.ts'

/** A device with its shared receive queues by token. */
export interface SharedReceiveDevice extends IbverbsContext {
  readonly sharedReceives: Map<VerbsToken, IbverbsSharedReceiveQueue>
}

interface SharedReceiveDomain extends IbverbsDomain {
  readonly device: SharedReceiveDevice
  readonly sharedReceives: Set<IbverbsSharedReceiveQueue>
}

/** ibv_create_srq(3). */
export class IbverbsSharedReceiveQueue implements ProviderSharedReceiveQueue {
  readonly number: number
  readonly handle: VerbsToken
  lastErrno = 0
  readonly #domain: SharedReceiveDomain
  readonly #receives = new PostBuffer(0)

  constructor(domain: SharedReceiveDomain, options: ProviderSharedReceiveQueueOptions) {
    const { verbs } = domain.device
    const xrcDomain = (options.xrcDomain as IbverbsXrcDomain | undefined)?.handle ?? 0
    const completionQueue = (options.completionQueue as IbverbsCompletionQueue | undefined)?.handle ?? 0
    const { maxRequests, maxSegments, limit } = options
    const made = attempt(() =>
      verbs.createSharedReceiveQueue(domain.handle, xrcDomain, completionQueue, maxRequests, maxSegments),
    )
    this.#domain = domain
    this.handle = made.handle
    this.number = made.number
    // Not every provider applies the limit at creation.
    if (limit > 0) this.#limitOrDestroy(limit)
  }

  query(): SharedReceiveQueueAttributes {
    return attempt(() => this.#domain.device.verbs.querySharedReceiveQueue(this.handle))
  }

  modify(attributes: { readonly limit?: number; readonly maxRequests?: number }): void {
    const { limit = -1, maxRequests = -1 } = attributes
    const errno = this.#domain.device.verbs.modifySharedReceiveQueue(this.handle, maxRequests, limit)
    check('ibv_modify_srq', errno, () => 'the device refuses that size or limit')
  }

  postReceive(request: EncodedRequest): number {
    return errnoOf(this.#domain.device.verbs.postSharedReceive(this.handle, request.buffer))
  }

  postReceiveList(requests: readonly EncodedRequest[], count: number): number {
    const receives = this.#receives
    if (receives.encode(requests, count) === 0) return 0
    const { verbs } = this.#domain.device
    const result = verbs.postSharedReceive(this.handle, receives.buffer, count, receives.stride)
    this.lastErrno = errnoOf(result)
    return takenOf(result)
  }

  destroy(): void {
    const { device } = this.#domain
    check('ibv_destroy_srq', device.verbs.destroy(this.handle), () => 'queue pairs still use it')
    this.#domain.sharedReceives.delete(this)
    device.sharedReceives.delete(this.handle)
  }

  #limitOrDestroy(limit: number): void {
    try {
      this.modify({ limit })
    } catch (error) {
      this.#domain.device.verbs.destroy(this.handle)
      throw error
    }
  }
}
