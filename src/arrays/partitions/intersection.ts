import { type AxisMap, type MappedRun, shiftedMap } from './axis-map.ts'
import {
  type AxisPartition,
  elementsBefore,
  intervalBegin,
  intervalLength,
  intervalsWithin,
  wholeAxis,
} from './axis-partition.ts'
import type { Run } from './runs.ts'

/**
 * Elements that a giver's part of one axis has for a taker's: `count` runs of `length` elements each. Run k lies from
 * place `from + k * fromStep` on in the first part, its elements `step` apart, and from place `into + k * intoStep` on
 * in the second, as neighbours.
 */
export interface SharedRuns {
  from: number
  into: number
  length: number
  step: number
  count: number
  fromStep: number
  intoStep: number
}

/**
 * What part `giver` of a source's axis has for part `taker` of a result's, in the order of the map. Without a map the
 * indices are the same. Runs that continue each other in both are one. Runs at equal distances are one entry, so that
 * the parts of a cyclic axis take few.
 */
export function intersect(
  source: AxisPartition,
  giver: number,
  result: AxisPartition,
  taker: number,
  map: AxisMap = shiftedMap(result.extent, 0, 0),
): SharedRuns[] {
  const [from, into] = [undivided(source), undivided(result)]
  const shared: SharedRuns[] = []
  for (const run of map) {
    // A slice of a long cyclic axis has many intervals: no object is made for each.
    const [start, end] = positionsNear(run, from, giver)
    const [first, next] = intervalsWithin(into, taker, run.into + start, run.into + end)
    for (let turn = first; turn < next; turn += 1) {
      const position = intervalBegin(into, taker, turn)
      const begin = Math.max(start, position - run.into)
      const until = Math.min(end, position + intervalLength(into, taker, turn) - run.into)
      if (begin >= until) continue
      appendPositions(shared, from, giver, run, begin, until, elementsBefore(into, turn) - position)
      if (into.kind !== 'cyclic' || from.kind === 'cyclic' || turn === first) continue
      // All but those at the ends have a whole block each.
      turn += appendAlike(shared, into.block * into.parts * run.step, into.block, next - 2 - turn)
    }
  }
  return shared
}

/** What is dealt out to one part is no row of intervals. */
function undivided(axis: AxisPartition): AxisPartition {
  return axis.kind === 'cyclic' && axis.parts === 1 ? wholeAxis(axis.extent) : axis
}

/** The positions of a run, without those at its ends whose indices the giver cannot have. */
function positionsNear(run: MappedRun, axis: AxisPartition, giver: number): readonly [start: number, end: number] {
  if (axis.kind !== 'cuts') return [0, run.count]
  const [begin, next] = [axis.cuts[giver]!, axis.cuts[giver + 1]!]
  const start = Math.max(0, firstWithin(run, begin, next))
  return [start, Math.max(start, Math.min(run.count, firstBehind(run, begin, next)))]
}

/**
 * Appends positions of a run from `start` to before `end`, if the giver has their indices. Position p of the taker's
 * axis is at place `p + offset` of its part.
 */
function appendPositions(
  shared: SharedRuns[],
  axis: AxisPartition,
  giver: number,
  run: MappedRun,
  start: number,
  end: number,
  offset: number,
): void {
  const { from, step } = run
  const [one, other] = [from + start * step, from + (end - 1) * step]
  const [first, next] = intervalsWithin(axis, giver, Math.min(one, other), Math.max(one, other) + 1)
  for (let each = first; each < next; each += 1) {
    // A negative step meets the intervals from the last on.
    const turn = step < 0 ? first + next - 1 - each : each
    const index = intervalBegin(axis, giver, turn)
    const behind = index + intervalLength(axis, giver, turn)
    const begin = Math.max(start, firstWithin(run, index, behind))
    const until = Math.min(end, firstBehind(run, index, behind))
    const place = elementsBefore(axis, turn) + from + begin * step - index
    if (begin >= until) continue
    append(shared, place, run.into + begin + offset, until - begin, step)
    if (axis.kind !== 'cyclic' || each === first || step === 0) continue
    const positions = (axis.block * axis.parts) / Math.abs(step)
    if (Number.isInteger(positions))
      each += appendAlike(shared, axis.block * Math.sign(step), positions, next - 2 - each)
  }
}

/** The first position of a run, however long, whose index lies in an interval; at least 0 for a step of 0. */
function firstWithin({ from, step }: MappedRun, begin: number, next: number): number {
  if (step === 0) return from >= begin && from < next ? 0 : Number.POSITIVE_INFINITY
  return step > 0 ? Math.ceil((begin - from) / step) : Math.ceil((from - next + 1) / -step)
}

/** The first position behind them. */
function firstBehind({ from, step }: MappedRun, begin: number, next: number): number {
  if (step === 0) return Number.POSITIVE_INFINITY
  return step > 0 ? Math.ceil((next - from) / step) : Math.ceil((from - begin + 1) / -step)
}

/** What two lists of runs of one array in row-major order have in common, by the places in their parts. */
export function intersectRuns(given: Iterable<Run>, taken: Iterable<Run>): SharedRuns[] {
  const shared: SharedRuns[] = []
  const [mine, theirs] = [given, taken].map((runs) => runs[Symbol.iterator]()) as [Iterator<Run>, Iterator<Run>]
  let [one, other] = [mine.next(), theirs.next()]
  let [beforeMine, beforeTheirs] = [0, 0]
  while (one.done !== true && other.done !== true) {
    const [a, b] = [one.value, other.value]
    const begin = Math.max(a.start, b.start)
    const [endOfA, endOfB] = [a.start + a.length, b.start + b.length]
    const length = Math.min(endOfA, endOfB) - begin
    if (length > 0) append(shared, beforeMine + begin - a.start, beforeTheirs + begin - b.start, length, 1)
    if (endOfA <= endOfB) {
      beforeMine += a.length
      one = mine.next()
    }
    if (endOfB <= endOfA) {
      beforeTheirs += b.length
      other = theirs.next()
    }
  }
  return shared
}

export function countShared(runs: readonly SharedRuns[]): number {
  let count = 0
  for (const run of runs) count += run.count * run.length
  return count
}

function append(shared: SharedRuns[], from: number, into: number, length: number, step: number): void {
  const last = shared[shared.length - 1]
  if (last === undefined || last.step !== step) {
    shared.push({ from, into, length, step, count: 1, fromStep: 0, intoStep: 0 })
    return
  }
  const { count } = last
  const isNext = count === 1 && from === last.from + last.length * step && into === last.into + last.length
  if (isNext) last.length += length
  else if (length === last.length && continues(last, from, into)) {
    if (count === 1) [last.fromStep, last.intoStep] = [from - last.from, into - last.into]
    last.count += 1
  } else shared.push({ from, into, length, step, count: 1, fromStep: 0, intoStep: 0 })
}

/**
 * Appends up to `count` runs that follow the last ones at the same distances, if these have such. Returns how many: a
 * cyclic axis has as many as elements, and is not walked.
 */
function appendAlike(shared: readonly SharedRuns[], fromStep: number, intoStep: number, count: number): number {
  const last = shared[shared.length - 1]
  if (last === undefined || last.count < 2 || last.fromStep !== fromStep || last.intoStep !== intoStep) return 0
  const alike = Math.max(0, count)
  last.count += alike
  return alike
}

/** Does a run that begins here lie as far behind the last as that behind the one before? */
function continues({ from, into, count, fromStep, intoStep }: SharedRuns, nextFrom: number, nextInto: number): boolean {
  return count === 1 || (nextFrom === from + count * fromStep && nextInto === into + count * intoStep)
}
