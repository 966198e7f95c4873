import { fastAndRobust, nonEquivocatingBroadcast, robustBackup } from './byzantine/algorithms.ts'
import { hbo } from './graph/hbo.ts'
import { omegaFairLossy, omegaReliable } from './graph/omega.ts'
import type { Algorithm } from './model/algorithm.ts'
import { alignedPaxos, diskPaxos, messagePaxos, protectedMemoryPaxos } from './paxos/algorithms.ts'

/** The algorithms over messages and memories that all processes share. */
export const algorithms: readonly Algorithm[] = [
  messagePaxos,
  diskPaxos,
  protectedMemoryPaxos,
  alignedPaxos,
  nonEquivocatingBroadcast,
  robustBackup,
  fastAndRobust,
]

/** The algorithms over messages and memories that processes share with their neighbours. */
export const graphAlgorithms: readonly Algorithm[] = [hbo, omegaReliable, omegaFairLossy]
