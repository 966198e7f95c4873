import { modulo, Parts, whole, within } from './parts.ts'
import { type Range, type Schedule, ScheduleBuilder } from './schedule.ts'

export type AllToAllAlgorithm = 'pairwise' | 'bruck' | 'concurrent'
export type AllToAllVAlgorithm = 'pairwise' | 'concurrent'

/** Part j of the input of rank i, to part i of the output of rank j; all parts have `count` elements. */
export interface AllToAllTask {
  readonly rank: number
  readonly size: number
  readonly count: number
  /** The input is the output, at every rank. */
  readonly inPlace?: boolean
}

/** The same with parts of any length: what rank i sends to rank j is what rank j receives from rank i. */
export interface AllToAllVTask {
  readonly rank: number
  readonly size: number
  readonly sendCounts: readonly number[]
  readonly sendOffsets: readonly number[]
  readonly receiveCounts: readonly number[]
  readonly receiveOffsets: readonly number[]
  /** The output shares bytes with the input here, in any way: nothing is written to it before all parts have left. */
  readonly sharing?: boolean
}

function exchange(task: AllToAllVTask, inTurn: boolean): Schedule {
  const { rank, size } = task
  const builder = new ScheduleBuilder()
  const sends = new Parts('input', task.sendCounts, task.sendOffsets)
  const receives = new Parts('output', task.receiveCounts, task.receiveOffsets)
  const come = task.sharing ? staged(builder, task.receiveCounts) : receives
  builder.copy(sends.at(rank), come.at(rank)).nextRound()
  for (let step = 1; step < size; step += 1) {
    const [to, from] = [modulo(rank + step, size), modulo(rank - step, size)]
    builder.send(to, sends.at(to)).receive(from, come.at(from))
    if (inTurn) builder.nextRound()
  }
  if (task.sharing) for (let peer = 0; peer < size; peer += 1) builder.copy(come.at(peer), receives.at(peer))
  return builder.finish()
}

/** Room for parts of these lengths, one behind the other, in memory of the schedule's own. */
function staged(builder: ScheduleBuilder, counts: readonly number[]): Parts {
  const { offset } = builder.scratch(counts.reduce((sum, count) => sum + count, 0))
  return new Parts('scratch', counts, offset)
}

/**
 * In round k a rank sends to the k-th behind it and receives from the k-th before it: one message in flight each way.
 */
export function allToAllVPairwise(task: AllToAllVTask): Schedule {
  return exchange(task, true)
}

/** Everything in flight at once. */
export function allToAllVConcurrent(task: AllToAllVTask): Schedule {
  return exchange(task, false)
}

function withCounts({ rank, size, count }: AllToAllTask): AllToAllVTask {
  const counts = Array<number>(size).fill(count)
  const offsets = counts.map((_, part) => part * count)
  return { rank, size, sendCounts: counts, sendOffsets: offsets, receiveCounts: counts, receiveOffsets: offsets }
}

/**
 * Two ranks exchange their parts for each other, so that a part is sent before another takes its place. The rounds are
 * those of a tournament in which each meets each: in round k rank i meets rank k - i, modulo the size. In turn that
 * takes memory for one part, all at once for every part.
 */
function exchangeInPlace({ rank, size, count }: AllToAllTask, inTurn: boolean): Schedule {
  const builder = new ScheduleBuilder()
  const data = whole('output', size * count)
  const staging = builder.scratch(inTurn ? count : size * count)
  const part = (range: Range, index: number) => within(range, index * count, count)
  const others = Array.from({ length: size }, (_, round) => modulo(round - rank, size)).filter((peer) => peer !== rank)
  const come = (peer: number) => (inTurn ? staging : part(staging, peer))
  for (const peer of others) {
    builder.send(peer, part(data, peer)).receive(peer, come(peer))
    if (inTurn) builder.copy(staging, part(data, peer)).nextRound()
  }
  if (!inTurn) for (const peer of others) builder.copy(come(peer), part(data, peer))
  return builder.finish()
}

export function allToAllPairwise(task: AllToAllTask): Schedule {
  return task.inPlace ? exchangeInPlace(task, true) : allToAllVPairwise(withCounts(task))
}

export function allToAllConcurrent(task: AllToAllTask): Schedule {
  return task.inPlace ? exchangeInPlace(task, false) : allToAllVConcurrent(withCounts(task))
}

/**
 * Bruck's index algorithm: log2(size) rounds; in round k a block whose distance to its destination has bit k set moves
 * 2^k ranks on. For many ranks and small blocks. Works in place, since blocks are copied first and last. Source: Bruck,
 * Ho, Kipnis, Upfal and Weathersby 1997, section 3.1, with radix 2.
 */
export function allToAllBruck({ rank, size, count }: AllToAllTask): Schedule {
  const builder = new ScheduleBuilder()
  const block = (range: Range, index: number) => within(range, index * count, count)
  const [input, output] = [whole('input', size * count), whole('output', size * count)]
  const moving = builder.scratch(size * count)
  const come = builder.scratch(Math.ceil(size / 2) * count)
  // Blocks by how far they have to go.
  for (let distance = 0; distance < size; distance += 1) {
    builder.copy(block(input, (rank + distance) % size), block(moving, distance))
  }
  builder.nextRound()
  for (let bit = 1; bit < size; bit *= 2) {
    const places = Array.from({ length: size }, (_, place) => place).filter((place) => (place & bit) !== 0)
    for (const [index, place] of places.entries()) {
      builder.send(modulo(rank + bit, size), block(moving, place))
      builder.receive(modulo(rank - bit, size), block(come, index))
    }
    for (const [index, place] of places.entries()) builder.copy(block(come, index), block(moving, place))
    builder.nextRound()
  }
  for (let distance = 0; distance < size; distance += 1) {
    builder.copy(block(moving, distance), block(output, modulo(rank - distance, size)))
  }
  return builder.finish()
}
