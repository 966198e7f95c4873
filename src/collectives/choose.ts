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
import { oneMachineAlgorithms } from './one-machine.ts'
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

/*
 * The thresholds for networks follow the rules of that paper (rounds below, bytes of the busiest rank above), and
 * messages and bytes counted in the schedules (`countTraffic`, so exact) bear them out; they are not tuned on a
 * network. For one machine they are, by measurement: one-machine.ts.
 */

/** From here on a message is long: what counts is how often a byte is sent, and no longer the number of rounds. */
const LONG_BYTES = 64 * 1024
/** Blocks up to this length travel with others. */
const SHORT_BLOCK_BYTES = 256
/** Fewer ranks than this do better with everything in flight. */
const FEW_RANKS = 8

/** For networks. Source of the rules: Thakur, Rabenseifner and Gropp 2005; the thresholds are ours. */
const networkAlgorithms: { readonly [Name in CollectiveName]: (call: Call) => Names[Name] } = {
  broadcast: ({ size, bytes }) => (bytes < LONG_BYTES || size < FEW_RANKS ? 'binomial' : 'scatter-all-gather'),
  scatter: ({ size, bytes }) => (bytes / size < LONG_BYTES && size >= FEW_RANKS ? 'binomial' : 'linear'),
  gather: ({ size, bytes }) => (bytes / size < LONG_BYTES && size >= FEW_RANKS ? 'binomial' : 'linear'),
  allGather: ({ size, bytes }) =>
    bytes >= LONG_BYTES
      ? 'ring'
      : size < FEW_RANKS
        ? 'concurrent'
        : isPowerOfTwo(size)
          ? 'recursive-doubling'
          : 'bruck',
  reduce: ({ bytes, rankOrder }) => (bytes >= LONG_BYTES ? 'rank-order-blocks' : rankOrder ? 'rank-order' : 'binomial'),
  allReduce: ({ size, bytes, rankOrder }) =>
    rankOrder
      ? bytes >= SHORT_BLOCK_BYTES * size
        ? 'rank-order-blocks'
        : 'rank-order'
      : bytes < LONG_BYTES
        ? 'recursive-doubling'
        : isPowerOfTwo(size)
          ? 'rabenseifner'
          : 'ring',
  reduceScatter: ({ bytes, rankOrder }) => (rankOrder ? 'rank-order' : bytes >= LONG_BYTES ? 'ring' : 'pairwise'),
  scan: ({ rankOrder }) => (rankOrder ? 'rank-order' : 'recursive-doubling'),
  allToAll: ({ size, bytes }) =>
    size >= FEW_RANKS && bytes / size <= SHORT_BLOCK_BYTES
      ? 'bruck'
      : bytes / size >= LONG_BYTES
        ? 'pairwise'
        : 'concurrent',
  // Only the parts' own pair of ranks knows how long they are, so the choice must not depend on that.
  allToAllV: () => 'concurrent',
  barrier: () => 'dissemination',
}

/** The algorithm for calls that name none. */
export function defaultAlgorithm<Name extends CollectiveName>(collective: Name, call: Call): Names[Name] {
  const near = call.oneMachine ? oneMachineAlgorithms[collective]?.(call) : undefined
  return near ?? networkAlgorithms[collective](call)
}

function isPowerOfTwo(size: number): boolean {
  return (size & (size - 1)) === 0
}
