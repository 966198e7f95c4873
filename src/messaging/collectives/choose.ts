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

/** Algorithms that combine in the order of ranks, by collective. */
export const rankOrderAlgorithms: Readonly<
  Record<'reduce' | 'allReduce' | 'reduceScatter' | 'scan', readonly string[]>
> = {
  reduce: ['rank-order', 'rank-order-blocks'],
  allReduce: ['rank-order', 'rank-order-blocks'],
  reduceScatter: ['rank-order'],
  scan: ['rank-order'],
}

/** What is known of a call when its algorithm is chosen; the same at every rank. */
export interface Call {
  readonly size: number
  /** Of what a rank gives, or, where ranks give parts of their own, of all parts together. */
  readonly bytes: number
  /** Combine in the order of ranks. */
  readonly rankOrder: boolean
}

/*
 * The thresholds. `aether bench collectives` measures both sides of each: every algorithm by length and number of processes, in messages and bytes (counted
 * in the schedules, `countTraffic`, so exact) and in processor time of all processes that sleep between messages. Time on a clock says nothing where there are more processes
 * than processors. They follow the rules of that paper (rounds below, bytes of the busiest rank above), and the counts bear them out; they are not tuned. The processor time beside them is of one run over `shm`, 4 and 8 processes,
 * 1 KiB to 256 KiB, at least 20 calls each, on two processors that others used as well; equal cells scattered widely there, so only large ratios are told:
 *
 * - `LONG_BYTES` for all-reduce: recursive doubling and Rabenseifner's take the same at 64 KiB (0.9 and 1.1 times, for 8 and 4) and below it the former takes less but for
 *   one cell; three quarters of the bytes of the busiest rank remain for 4 ranks, 7/12 for 8.
 * - `LONG_BYTES` and `FEW_RANKS` for broadcast: scattering spares the root 5/12 of its bytes for 8 ranks, and costs 63 messages instead of 7, with 3 times the processor
 *   time at 64 and 256 KiB. It is for networks; on one machine a program may name `binomial`.
 * - `SHORT_BLOCK_BYTES`: Bruck's sends 24 messages instead of 56 for 8 ranks, and was no cheaper in processor time. It gains with latency, not over `shm`.
 */

/** From here on a message is long: what counts is how often a byte is sent, and no longer the number of rounds. */
const LONG_BYTES = 64 * 1024
/** Blocks up to this length travel with others. */
const SHORT_BLOCK_BYTES = 256
/** Fewer ranks than this do better with everything in flight. */
const FEW_RANKS = 8

/** The algorithm that is taken where nobody names one. Source of the rules: Thakur, Rabenseifner and Gropp 2005; the thresholds are ours. */
export const defaultAlgorithms: { readonly [Name in CollectiveName]: (call: Call) => keyof (typeof algorithms)[Name] } =
  {
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
    reduce: ({ bytes, rankOrder }) =>
      bytes >= LONG_BYTES ? 'rank-order-blocks' : rankOrder ? 'rank-order' : 'binomial',
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

function isPowerOfTwo(size: number): boolean {
  return (size & (size - 1)) === 0
}
