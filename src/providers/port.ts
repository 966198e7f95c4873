import type { Gid } from './gid.ts'

/**
 * What a device's port is made of, and so how messages are addressed from it. `iwarp`: an RDMA device that speaks
 * iWARP; only `connect` and `listen` lead its queue pairs through their states.
 */
export type LinkLayer = 'shared-memory' | 'tcp' | 'ethernet' | 'infiniband' | 'iwarp'

/** ibv_query_port(3). */
export interface PortAttributes {
  readonly port: number
  readonly state: 'down' | 'init' | 'armed' | 'active' | 'active-defer' | 'unknown'
  readonly linkLayer: LinkLayer
  /** Bytes. */
  readonly maxMtu: number
  /** Bytes. */
  readonly activeMtu: number
  readonly gidCount: number
  readonly partitionKeyCount: number
  /** InfiniBand only; 0 elsewhere. */
  readonly localIdentifier: number
  readonly subnetManagerLocalIdentifier: number
  readonly localIdentifierMaskControl: number
  readonly maxMessageBytes: number
  /** Lanes × speed of each, as negotiated; 0 if that has no meaning. */
  readonly gigabitsPerSecond: number
  /** `LinkUp`, `Disabled`, `Polling`, …, as `ibv_devinfo -v` prints it. */
  readonly physicalState: string
}

/** One entry of a port's table of gids: ibv_query_gid_table(3). Entries of all zeros are left out. */
export interface GidEntry {
  readonly index: number
  readonly gid: Gid
  readonly type: 'shared-memory' | 'infiniband' | 'roce-v1' | 'roce-v2'
  /** The network interface of an Ethernet gid, if the provider knows it. */
  readonly interfaceName?: string
}
