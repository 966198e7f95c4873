import { algorithms, type CollectiveName } from './algorithms.ts'
import { defaultAlgorithm } from './choose.ts'
import type { Schedule } from './schedule.ts'

/** What a collective sends with one algorithm, counted in the schedules of all ranks. */
export interface CollectiveTraffic {
  readonly collective: CollectiveName
  readonly algorithm: string
  /** Elements of what a rank gives or, if ranks give or receive different parts, of one part. */
  readonly count: number
  /**
   * The bytes by which algorithms are chosen: of what a rank gives or, if ranks give or receive different parts, of all
   * parts together.
   */
  readonly bytes: number
  /** True if it is the default algorithm for this call. */
  readonly chosen: boolean
  /** True if it is the default algorithm for a call that asks for the order of ranks. */
  readonly chosenInRankOrder: boolean
  /** Rounds of exchanges that wait for each other, at the rank with the most. */
  readonly rounds: number
  /** Messages of all ranks; what goes to one rank in a round is one message. */
  readonly messages: number
  /** Elements that all ranks send, and that the busiest rank sends or receives, whichever is more. */
  readonly elements: number
  readonly busiestElements: number
}

/** The shape of a call whose parts are equally long; the root is rank 0. */
export interface TrafficCall {
  readonly collective: CollectiveName
  readonly size: number
  /** About how many bytes the call has: see {@link CollectiveTraffic.bytes}. Each part has at least one element. */
  readonly bytes: number
  readonly elementBytes: number
  /** Choose as for links through shared memory. Default false. */
  readonly oneMachine?: boolean
}

/** A schedule by any algorithm of a collective, for parts of the same length. */
type Draw = (algorithm: never, rank: number, size: number, count: number) => Schedule

const filled = (size: number, count: number): number[] => Array<number>(size).fill(count)
const placed = (size: number, count: number): number[] => Array.from({ length: size }, (_, part) => part * count)

const draws: { readonly [Name in CollectiveName]: Draw } = {
  broadcast: (algorithm: keyof typeof algorithms.broadcast, rank, size, count) =>
    algorithms.broadcast[algorithm]({ rank, size, root: 0, count }),
  scatter: (algorithm: keyof typeof algorithms.scatter, rank, size, count) =>
    algorithms.scatter[algorithm]({ rank, size, root: 0, counts: filled(size, count) }),
  gather: (algorithm: keyof typeof algorithms.gather, rank, size, count) =>
    algorithms.gather[algorithm]({ rank, size, root: 0, counts: filled(size, count) }),
  allGather: (algorithm: keyof typeof algorithms.allGather, rank, size, count) =>
    algorithms.allGather[algorithm]({ rank, size, counts: filled(size, count) }),
  reduce: (algorithm: keyof typeof algorithms.reduce, rank, size, count) =>
    algorithms.reduce[algorithm]({ rank, size, root: 0, count }),
  allReduce: (algorithm: keyof typeof algorithms.allReduce, rank, size, count) =>
    algorithms.allReduce[algorithm]({ rank, size, count }),
  reduceScatter: (algorithm: keyof typeof algorithms.reduceScatter, rank, size, count) =>
    algorithms.reduceScatter[algorithm]({ rank, size, counts: filled(size, count) }),
  scan: (algorithm: keyof typeof algorithms.scan, rank, size, count) =>
    algorithms.scan[algorithm]({ rank, size, count, exclusive: false }),
  allToAll: (algorithm: keyof typeof algorithms.allToAll, rank, size, count) =>
    algorithms.allToAll[algorithm]({ rank, size, count }),
  allToAllV: (algorithm: keyof typeof algorithms.allToAllV, rank, size, count) =>
    algorithms.allToAllV[algorithm]({
      rank,
      size,
      sendCounts: filled(size, count),
      sendOffsets: placed(size, count),
      receiveCounts: filled(size, count),
      receiveOffsets: placed(size, count),
    }),
  barrier: (algorithm: keyof typeof algorithms.barrier, rank, size) => algorithms.barrier[algorithm]({ rank, size }),
}

/** Collectives in which ranks give or get parts of their own, and whose length is that of all parts together. */
const ofParts: ReadonlySet<CollectiveName> = new Set([
  'scatter',
  'gather',
  'allGather',
  'reduceScatter',
  'allToAll',
  'allToAllV',
])

/** Count the traffic of every algorithm of a collective. */
export function countTraffic(call: TrafficCall): CollectiveTraffic[] {
  const { collective, size, bytes: about, elementBytes, oneMachine = false } = call
  const parts = ofParts.has(collective) ? size : 1
  const count = Math.max(1, Math.floor(about / elementBytes / parts))
  const bytes = collective === 'barrier' ? 0 : count * elementBytes * parts
  const [chosen, ordered] = [false, true].map((rankOrder) =>
    defaultAlgorithm(collective, { size, bytes, rankOrder, oneMachine }),
  )
  return Object.keys(algorithms[collective]).map((algorithm) => {
    const schedules = Array.from({ length: size }, (_, rank) =>
      draws[collective](algorithm as never, rank, size, count),
    )
    const counted = schedules.map(countSchedule)
    const sum = (of: (rank: (typeof counted)[number]) => number): number =>
      counted.reduce((total, rank) => total + of(rank), 0)
    return {
      collective,
      algorithm,
      count,
      bytes,
      chosen: algorithm === chosen,
      chosenInRankOrder: algorithm === ordered,
      rounds: Math.max(...counted.map(({ rounds }) => rounds)),
      messages: sum(({ messages }) => messages),
      elements: sum(({ sent }) => sent),
      busiestElements: Math.max(...counted.map(({ sent, received }) => Math.max(sent, received))),
    }
  })
}

function countSchedule(schedule: Schedule): { rounds: number; messages: number; sent: number; received: number } {
  const counted = { rounds: 0, messages: 0, sent: 0, received: 0 }
  for (const { exchanges } of schedule.rounds) {
    if (exchanges.length > 0) counted.rounds += 1
    counted.messages += new Set(exchanges.filter(({ kind }) => kind === 'send').map(({ peer }) => peer)).size
    for (const { kind, range } of exchanges) counted[kind === 'send' ? 'sent' : 'received'] += range.count
  }
  return counted
}

/** The names of all collectives. */
export const collectiveNames: readonly CollectiveName[] = Object.keys(algorithms) as CollectiveName[]
