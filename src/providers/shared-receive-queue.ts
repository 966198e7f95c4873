import type { ProviderCompletionQueue } from './contract.ts'
import type { EncodedRequest } from './encoded-request.ts'
import type { ProviderXrcDomain } from './xrc-domain.ts'

export interface ProviderSharedReceiveQueueOptions {
  readonly maxRequests: number
  readonly maxSegments: number
  /** Fewer requests than this left: one SharedReceiveQueueLimitReached event. 0: none. */
  readonly limit: number
  /**
   * Both make it a queue for XRC (ibv_create_srq_ex(3), IBV_SRQT_XRC): completions of its receives go to
   * `completionQueue`.
   */
  readonly xrcDomain: ProviderXrcDomain | undefined
  readonly completionQueue: ProviderCompletionQueue | undefined
}

/** What ibv_query_srq(3) gives. `limit` falls to 0 once the event was raised. */
export interface SharedReceiveQueueAttributes {
  readonly maxRequests: number
  readonly maxSegments: number
  readonly limit: number
}

/** Receive requests that several queue pairs use up: ibv_create_srq(3). */
export interface ProviderSharedReceiveQueue {
  /** By which senders of XRC name it (ibv_get_srq_num(3)); 0 for others. */
  readonly number: number
  query(): SharedReceiveQueueAttributes
  /** Arm the limit, or change the size: ibv_modify_srq(3). EINVAL where more is posted than the new size holds. */
  modify(attributes: { readonly limit?: number; readonly maxRequests?: number }): void
  /** 0, or the errno: ENOMEM (full), EINVAL (segments). */
  postReceive(request: EncodedRequest): number
  postReceiveList(requests: readonly EncodedRequest[], count: number): number
  readonly lastErrno: number
  /** EBUSY while a queue pair uses it. */
  destroy(): void
}
