import { type AxisPartition, intervalOf, intervalsOf } from './axis-partition.ts'

/**
 * Elements that two parts of one axis share: `count` runs of `length` neighbours each. Run k lies from place
 * `from + k * fromStep` on in the first part, and from place `into + k * intoStep` on in the second.
 */
export interface SharedRuns {
  from: number
  into: number
  length: number
  count: number
  fromStep: number
  intoStep: number
}

/**
 * What part `giver` of an axis shares with part `taker` of another partition of it, in the order of indices. Runs that
 * lie next to each other in both are one. Runs at equal distances are one entry, so that the parts of a cyclic axis
 * take few.
 */
export function intersect(from: AxisPartition, giver: number, into: AxisPartition, taker: number): SharedRuns[] {
  const shared: SharedRuns[] = []
  const [ofGiver, ofTaker] = [intervalsOf(from, giver), intervalsOf(into, taker)]
  // How many elements of the part lie before the present interval.
  let [beforeGiver, beforeTaker] = [0, 0]
  for (let [one, other] = [0, 0]; one < ofGiver && other < ofTaker; ) {
    const [mine, theirs] = [intervalOf(from, giver, one), intervalOf(into, taker, other)]
    const begin = Math.max(mine.begin, theirs.begin)
    const end = Math.min(mine.end, theirs.end)
    if (begin < end) append(shared, beforeGiver + begin - mine.begin, beforeTaker + begin - theirs.begin, end - begin)
    if (mine.end <= theirs.end) {
      beforeGiver += mine.end - mine.begin
      one += 1
    }
    if (theirs.end <= mine.end) {
      beforeTaker += theirs.end - theirs.begin
      other += 1
    }
  }
  return shared
}

export function countShared(runs: readonly SharedRuns[]): number {
  let count = 0
  for (const run of runs) count += run.count * run.length
  return count
}

function append(shared: SharedRuns[], from: number, into: number, length: number): void {
  const last = shared[shared.length - 1]
  if (last === undefined) {
    shared.push({ from, into, length, count: 1, fromStep: 0, intoStep: 0 })
    return
  }
  const { count } = last
  const isNext = count === 1 && from === last.from + last.length && into === last.into + last.length
  if (isNext) last.length += length
  else if (length === last.length && continues(last, from, into)) {
    if (count === 1) [last.fromStep, last.intoStep] = [from - last.from, into - last.into]
    last.count += 1
  } else shared.push({ from, into, length, count: 1, fromStep: 0, intoStep: 0 })
}

/** Does a run that begins here lie as far behind the last as that behind the one before? */
function continues({ from, into, count, fromStep, intoStep }: SharedRuns, nextFrom: number, nextInto: number): boolean {
  return count === 1 || (nextFrom === from + count * fromStep && nextInto === into + count * intoStep)
}
