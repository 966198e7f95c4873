import { algorithms, type CollectiveName, defaultAlgorithm } from './choose.ts'
import type { Schedule } from './schedule.ts'

/** What a collective sends by an algorithm, counted in the schedules of all ranks. */
export interface CollectiveTraffic {
  readonly collective: CollectiveName
  readonly algorithm: string
  /** Elements of what a rank gives, or, where ranks give or get parts of their own, of one part. */
  readonly count: number
  /**
   * By which algorithms are chosen: of what a rank gives, or, where ranks give or get parts of their own, of all parts
   * together.
   */
  readonly bytes: number
  /** It is the one that is taken where nobody names one. */
  readonly chosen: boolean
  /**
   * One that combines in the order of ranks can be chosen only where that is asked for; this says whether it would be.
   */
  readonly chosenInRankOrder: boolean
  /** Rounds of exchanges that wait for each other at the rank that has most of them. */
  readonly rounds: number
  /** Messages of all ranks: what goes to a rank in a round is one. */
  readonly messages: number
  /** Elements that all ranks send, and that the busiest sends or receives, whichever is more. */
  readonly elements: number
  readonly busiestElements: number
}

/** The shape of a call in which all parts are equally long; root is rank 0. */
export interface TrafficCall {
  readonly collective: CollectiveName
  readonly size: number
  /** About as many as the call shall have: see {@link CollectiveTraffic.bytes}. Each part has at least one element. */
  readonly bytes: number
  readonly elementBytes: number
  /** Whether the choice is that for links through shared memory; default false. */
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

/** Every algorithm of a collective, counted. */
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

/** Names of all collectives. */
export const collectiveNames: readonly CollectiveName[] = Object.keys(algorithms) as CollectiveName[]
