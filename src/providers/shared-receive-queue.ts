import type { ProviderCompletionQueue } from './completion-contract.ts'
import type { EncodedRequest } from './encoded-request.ts'
import type { ProviderXrcDomain } from './xrc-domain.ts'

/** If fewer requests than `limit` are left, one SharedReceiveQueueLimitReached event is raised. 0: none. */
export interface ProviderSharedReceiveQueueOptions extends SharedReceiveQueueAttributes {
  /** Both make it a queue for XRC (ibv_create_srq_ex(3), IBV_SRQT_XRC): its receives complete in `completionQueue`. */
  readonly xrcDomain: ProviderXrcDomain | undefined
  readonly completionQueue: ProviderCompletionQueue | undefined
}

/** What ibv_query_srq(3) returns. `limit` falls to 0 once the event was raised. */
export interface SharedReceiveQueueAttributes {
  readonly maxRequests: number
  readonly maxSegments: number
  readonly limit: number
}

/** Receive requests that several queue pairs consume: ibv_create_srq(3). */
export interface ProviderSharedReceiveQueue {
  /** The number by which XRC senders name it (ibv_get_srq_num(3)); 0 for others. */
  readonly number: number
  query(): SharedReceiveQueueAttributes
  /** Arm the limit, or change the size: ibv_modify_srq(3). EINVAL if more is posted than the new size holds. */
  modify(attributes: { readonly limit?: number; readonly maxRequests?: number }): void
  /** Returns 0 or an errno: ENOMEM (full), EINVAL (segments). */
  postReceive(request: EncodedRequest): number
  postReceiveList(requests: readonly EncodedRequest[], count: number): number
  readonly lastErrno: number
  /** EBUSY while a queue pair uses it. */
  destroy(): void
}
