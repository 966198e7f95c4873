import type { Gid } from '../gid.ts'
import type { SoftAsyncEvents } from '../soft/async-events.ts'
import type { Dma } from './dma.ts'
import type { Host } from './host.ts'
import type { KeyTable } from './key-table.ts'
import type { Network } from './network.ts'
import type { Piece } from './piece-list.ts'

/** A queue pair somewhere. */
export interface Place {
  readonly gid: Gid
  readonly number: number
}

/** The cluster of a device, as its objects need it. */
export interface SimClusterContext {
  /** Numbers of queue pairs, protection domains and shared receive queues: never reused. */
  nextNumber(): number
  join(group: Gid, member: Place): void
  leave(group: Gid, member: Place): void
  multicastMembers(group: Gid): readonly Place[]
}

/** An open device, as its objects need it. */
export interface SimContext {
  readonly cluster: SimClusterContext
  readonly gid: Gid
  readonly host: Host
  readonly network: Network
  readonly dma: Dma
  readonly keys: KeyTable
  readonly events: SoftAsyncEvents
  /**
   * Change one word, not before `fromNs`, when no other atomic of the device is under way. Returns when it is done.
   */
  atomically(fromNs: number, piece: Piece, change: (old: bigint) => bigint): number
}
