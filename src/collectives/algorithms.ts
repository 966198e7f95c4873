import {
  type AllGatherAlgorithm,
  type AllGatherTask,
  allGatherBruck,
  allGatherConcurrent,
  allGatherRecursiveDoubling,
  allGatherRing,
} from './all-gather.ts'
import {
  type AllReduceAlgorithm,
  type AllReduceTask,
  allReduceRabenseifner,
  allReduceRankOrder,
  allReduceRankOrderBlocks,
  allReduceRecursiveDoubling,
  allReduceRing,
} from './all-reduce.ts'
import {
  type AllToAllAlgorithm,
  type AllToAllTask,
  type AllToAllVAlgorithm,
  type AllToAllVTask,
  allToAllBruck,
  allToAllConcurrent,
  allToAllPairwise,
  allToAllVConcurrent,
  allToAllVPairwise,
} from './all-to-all.ts'
import { type BarrierAlgorithm, type BarrierTask, barrierDissemination } from './barrier.ts'
import {
  type BroadcastAlgorithm,
  type BroadcastTask,
  broadcastBinomial,
  broadcastScatterAllGather,
} from './broadcast.ts'
import { type GatherAlgorithm, type GatherTask, gatherBinomial, gatherLinear } from './gather.ts'
import {
  type ReduceAlgorithm,
  type ReduceTask,
  reduceBinomial,
  reduceRankOrder,
  reduceRankOrderBlocks,
} from './reduce.ts'
import {
  type ReduceScatterAlgorithm,
  type ReduceScatterTask,
  reduceScatterPairwise,
  reduceScatterRankOrder,
  reduceScatterRing,
} from './reduce-scatter.ts'
import { type ScanAlgorithm, type ScanTask, scanRankOrder, scanRecursiveDoubling } from './scan.ts'
import { type ScatterAlgorithm, type ScatterTask, scatterBinomial, scatterLinear } from './scatter.ts'
import type { Schedule } from './schedule.ts'

type Table<Name extends string, Task> = Readonly<Record<Name, (task: Task) => Schedule>>

/** Every algorithm of every collective, by name. */
export const algorithms: {
  readonly broadcast: Table<BroadcastAlgorithm, BroadcastTask>
  readonly scatter: Table<ScatterAlgorithm, ScatterTask>
  readonly gather: Table<GatherAlgorithm, GatherTask>
  readonly allGather: Table<AllGatherAlgorithm, AllGatherTask>
  readonly reduce: Table<ReduceAlgorithm, ReduceTask>
  readonly allReduce: Table<AllReduceAlgorithm, AllReduceTask>
  readonly reduceScatter: Table<ReduceScatterAlgorithm, ReduceScatterTask>
  readonly scan: Table<ScanAlgorithm, ScanTask>
  readonly allToAll: Table<AllToAllAlgorithm, AllToAllTask>
  readonly allToAllV: Table<AllToAllVAlgorithm, AllToAllVTask>
  readonly barrier: Table<BarrierAlgorithm, BarrierTask>
} = {
  broadcast: { binomial: broadcastBinomial, 'scatter-all-gather': broadcastScatterAllGather },
  scatter: { binomial: scatterBinomial, linear: scatterLinear },
  gather: { binomial: gatherBinomial, linear: gatherLinear },
  allGather: {
    ring: allGatherRing,
    'recursive-doubling': allGatherRecursiveDoubling,
    bruck: allGatherBruck,
    concurrent: allGatherConcurrent,
  },
  reduce: { binomial: reduceBinomial, 'rank-order': reduceRankOrder, 'rank-order-blocks': reduceRankOrderBlocks },
  allReduce: {
    'recursive-doubling': allReduceRecursiveDoubling,
    ring: allReduceRing,
    rabenseifner: allReduceRabenseifner,
    'rank-order': allReduceRankOrder,
    'rank-order-blocks': allReduceRankOrderBlocks,
  },
  reduceScatter: { pairwise: reduceScatterPairwise, ring: reduceScatterRing, 'rank-order': reduceScatterRankOrder },
  scan: { 'recursive-doubling': scanRecursiveDoubling, 'rank-order': scanRankOrder },
  allToAll: { pairwise: allToAllPairwise, bruck: allToAllBruck, concurrent: allToAllConcurrent },
  allToAllV: { pairwise: allToAllVPairwise, concurrent: allToAllVConcurrent },
  barrier: { dissemination: barrierDissemination },
}

export type CollectiveName = keyof typeof algorithms

/** Names of algorithms by collective. */
export type Names = { readonly [Name in CollectiveName]: keyof (typeof algorithms)[Name] }

/** Algorithms that combine in the order of ranks, by collective. */
export const rankOrderAlgorithms: Readonly<
  Record<'reduce' | 'allReduce' | 'reduceScatter' | 'scan', readonly string[]>
> = {
  reduce: ['rank-order', 'rank-order-blocks'],
  allReduce: ['rank-order', 'rank-order-blocks'],
  reduceScatter: ['rank-order'],
  scan: ['rank-order'],
}

/** What is known of a call when its algorithm is chosen. It is the same at every rank. */
export interface Call {
  readonly size: number
  /** Of what a rank gives or, if ranks give different parts, of all parts together. */
  readonly bytes: number
  /** Combine in the order of ranks. */
  readonly rankOrder: boolean
  /** All links of the group go through shared memory. */
  readonly oneMachine: boolean
}
