import type { Call, CollectiveName, Names } from './algorithms.ts'
import { oneMachineAlgorithms } from './one-machine.ts'

/*
 * The thresholds for networks follow the rules of Thakur et al. (rounds below, bytes of the busiest rank above), and
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
