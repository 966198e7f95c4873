import type { Gid } from './gid.ts'

/** Where a queue pair is reached: `struct ibv_ah_attr` (ibv_create_ah(3)). */
export interface AddressVector {
  readonly gid: Gid
  /**
   * Send a global route header; default true. False is for InfiniBand within one subnet, where `localIdentifier` alone
   * is the address; other link layers refuse it.
   */
  readonly global?: boolean
  /** Local identifier, InfiniBand only. */
  readonly localIdentifier?: number
  /** Index of the local gid to send from. */
  readonly sourceGidIndex?: number
  readonly hopLimit?: number
  readonly serviceLevel?: number
  /** 20 bits, for routers. */
  readonly flowLabel?: number
  readonly trafficClass?: number
  readonly sourcePathBits?: number
  readonly staticRate?: number
  /** The local port to send from; default 1. */
  readonly port?: number
}

/** Where a datagram goes: ibv_create_ah(3). */
export interface ProviderAddressHandle {
  /** The value for RequestSlot.AddressHandle. */
  readonly token: number
  /** Destroy the handle. Requests that were posted before are not affected. */
  destroy(): void
}
