/** What calls and messages are measured beside. */
export const peerNames = ['child_process', 'socket', 'gRPC', 'Redis', 'UCX'] as const
export type PeerName = (typeof peerNames)[number]

/** Peers that connect programs in JavaScript, beside what is measured: `aether`. */
export type WayName = 'aether' | Exclude<PeerName, 'UCX'>

/** Said of a peer that is not here: why, and what to type. */
export type OnMissing = (peer: PeerName, why: string) => void
