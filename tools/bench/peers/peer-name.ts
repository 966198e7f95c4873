/** What is measured beside messages, calls and coherent memory: each beside what does the like. */
export const peerNames = [
  'child_process',
  'socket',
  'gRPC',
  'Redis',
  'lmdb',
  'SQLite',
  'UCX',
  'libfabric',
  'etcd',
  'NumPy',
  'C',
] as const
export type PeerName = (typeof peerNames)[number]

/** Peers that connect programs in JavaScript, beside what is measured: `aether`. */
export type WayName = 'aether' | Exclude<PeerName, 'UCX' | 'libfabric' | 'lmdb' | 'SQLite' | 'etcd' | 'NumPy' | 'C'>

/** Said of a peer that is not here: why, and what to type. */
export type OnMissing = (peer: PeerName, why: string) => void
