/** Byte 0 of every message of the mesh: which part receives it. */
export const MeshChannel = {
  /** No content: sent for its completion. */
  Nothing: 0,
  /** Binary, see barrier-machine.ts. */
  Barrier: 1,
  /** JSON from byte 1 on: departures and the registry of regions. */
  Control: 2,
  /** Binary, see dsm/coherent/coherence-channel.ts. */
  Coherence: 3,
  /** Binary, see membership-message.ts; also the sign of life of ranks that have nothing else to send. */
  Membership: 6,
  /** Binary, see dsm/coherent/home-claims.ts. */
  Homes: 4,
  /** JSON from byte 1 on, see locks/lock-message.ts. */
  Locks: 5,
  /** Binary, see dsm/coherent/recovery-channel.ts. */
  Recovery: 7,
  /** Binary, see dsm/coherent/replica-channel.ts. */
  Replicas: 8,
  /** Binary, see dsm/coherent/closing-regions.ts. */
  Closings: 9,
} as const
