import type { Call, CollectiveName, Names } from './algorithms.ts'

/*
 * Algorithms for ranks on one machine whose links go through shared memory. Nothing travels there: a byte is copied by
 * a processor at either end, and a round costs the waking of threads. So the work of all processors decides, not the
 * traffic of the busiest link. The rules come from the table in docs/benchmarks.md (2, 4 and 8 processes on two
 * processors, 1 KiB to 1 MiB). If it shows no clear difference, and for scatter, gather and scan, whose rank 0 is done
 * before the others, the rules for networks hold.
 */

/** From here on an all-gather is long for the rules of networks. */
const LONG_BYTES = 64 * 1024
/**
 * Two ranks: exchanging everything costs one round and half as many wakings; from here on the copies and sums that both
 * make cost more.
 */
const PAIR_BYTES = 512 * 1024
/** All data at every rank, combined by each: cheap as long as it is short (16 KiB was, 64 KiB was not). */
const COMBINED_BY_ALL_BYTES = 32 * 1024
/** At the root alone it was cheaper up to here, the longest that was measured but once. */
const COMBINED_BY_ROOT_BYTES = 1024 * 1024
const FEW_RANKS = 8

/** The algorithm of a collective if it differs from that for networks, else undefined. */
export const oneMachineAlgorithms: {
  readonly [Name in CollectiveName]?: (call: Call) => Names[Name] | undefined
} = {
  broadcast: () => 'binomial',
  allGather: ({ bytes }) => (bytes >= LONG_BYTES ? 'concurrent' : undefined),
  reduce: ({ bytes, rankOrder }) =>
    rankOrder ? (bytes < COMBINED_BY_ROOT_BYTES ? 'rank-order' : 'rank-order-blocks') : 'binomial',
  allReduce: ({ size, bytes, rankOrder }) => {
    if (rankOrder) return bytes < COMBINED_BY_ALL_BYTES ? 'rank-order' : 'rank-order-blocks'
    if (size === 2) return bytes < PAIR_BYTES ? 'recursive-doubling' : 'ring'
    return size < FEW_RANKS && bytes >= LONG_BYTES ? 'ring' : undefined
  },
  reduceScatter: ({ size, rankOrder }) => (rankOrder ? 'rank-order' : size < FEW_RANKS ? 'pairwise' : 'ring'),
  allToAll: ({ size, bytes }) => (bytes / size >= LONG_BYTES ? 'concurrent' : undefined),
}
