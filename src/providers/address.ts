import type { Gid } from './gid.ts'

/** Where a queue pair is reached: `struct ibv_ah_attr` (ibv_create_ah(3)). */
export interface AddressVector {
  readonly gid: Gid
  /**
   * Send a global route header; default true. False is for InfiniBand within one subnet, by `localIdentifier` alone,
   * and refused elsewhere.
   */
  readonly global?: boolean
  /** Local identifier, InfiniBand only. */
  readonly localIdentifier?: number
  /** Index of the own gid to send from. */
  readonly sourceGidIndex?: number
  readonly hopLimit?: number
  readonly serviceLevel?: number
  /** 20 bits, for routers. */
  readonly flowLabel?: number
  readonly trafficClass?: number
  readonly sourcePathBits?: number
  readonly staticRate?: number
  /** The own port to send from; default 1. */
  readonly port?: number
}

/** Where a datagram goes: ibv_create_ah(3). */
export interface ProviderAddressHandle {
  /** For RequestSlot.AddressHandle. */
  readonly token: number
  /** Requests posted before are not affected. */
  destroy(): void
}
