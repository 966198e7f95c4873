import { fastAndRobust, nonEquivocatingBroadcast, robustBackup } from './byzantine/algorithms.ts'
import type { Algorithm } from './model/algorithm.ts'
import { alignedPaxos, diskPaxos, messagePaxos, protectedMemoryPaxos } from './paxos/algorithms.ts'

/** Every algorithm of this room. */
export const algorithms: readonly Algorithm[] = [
  messagePaxos,
  diskPaxos,
  protectedMemoryPaxos,
  alignedPaxos,
  nonEquivocatingBroadcast,
  robustBackup,
  fastAndRobust,
]
