import type { Neighbours } from './graphs.ts'

/** Sets of processes are bits of an integer of 32 bits. */
export const EXPANSION_PROCESSES_MAX = 30

const bitsOf = (set: number): number => {
  let count = 0
  for (let left = set; left !== 0; left &= left - 1) count += 1
  return count
}

const membersOf = (set: number): number[] =>
  Array.from({ length: EXPANSION_PROCESSES_MAX }, (_, process) => process).filter(
    (process) => ((set >> process) & 1) === 1,
  )

/** Each process with its neighbours, as a set. */
function closedSets(neighbours: Neighbours): number[] {
  if (neighbours.length > EXPANSION_PROCESSES_MAX)
    throw new RangeError(
      `sets are enumerated up to ${EXPANSION_PROCESSES_MAX} processes, and this graph has ${neighbours.length}`,
    )
  return neighbours.map((each, process) => each.reduce((set, other) => set | (1 << other), 1 << process))
}

/** The processes that a set represents: its members and their neighbours (PODC'18, section 4). */
export function representedBy(neighbours: Neighbours, processes: readonly number[]): number[] {
  const closed = closedSets(neighbours)
  return membersOf(processes.reduce((set, process) => set | closed[process]!, 0))
}

/**
 * The vertex expansion h of a graph, exactly (PODC'18, section 4). That is how many neighbours outside it a set has
 * for each member, in the worst set of at most half of the processes. A graph of one process has no such set: its
 * expansion is infinite.
 *
 * All sets are enumerated. Each grows from one without its highest member, of which the represented set is known.
 */
export function vertexExpansion(neighbours: Neighbours): number {
  const closed = closedSets(neighbours)
  const half = Math.floor(neighbours.length / 2)
  let least = Infinity
  const grow = (next: number, size: number, represented: number): void => {
    if (size > 0) least = Math.min(least, (bitsOf(represented) - size) / size)
    if (size === half) return
    for (let process = next; process < closed.length; process += 1)
      grow(process + 1, size + 1, represented | closed[process]!)
  }
  grow(0, 0, 0)
  return least
}

/**
 * The most crashes that are below (1 - 1 / (2 * (1 + h))) * n, which any graph of expansion h withstands (PODC'18,
 * section 4). {@link exactTolerance} may be higher.
 */
export function toleranceByExpansion(processes: number, expansion: number): number {
  if (expansion === Infinity) return processes - 1
  const limit = processes - processes / (2 * (1 + expansion))
  // A ratio of integers below 31 is never this near to an integer without being one.
  const nearest = Math.round(limit)
  return Math.min(processes - 1, Math.abs(limit - nearest) < 1e-9 ? nearest - 1 : Math.floor(limit))
}

/**
 * The most crashes after which the correct processes represent a majority, whichever they are: what HBO withstands. One
 * process is always correct.
 */
export function exactTolerance(neighbours: Neighbours): number {
  return neighbours.length - largestUnrepresentative(neighbours).length - 1
}

/** A largest set of processes that represents no majority. If all others crash, HBO does not terminate. */
export function largestUnrepresentative(neighbours: Neighbours): number[] {
  const closed = closedSets(neighbours)
  const half = Math.floor(neighbours.length / 2)
  let best = 0
  let bestSize = 0
  /** Grows a set by members from `next` on, while it represents at most half. */
  const grow = (next: number, set: number, size: number, represented: number): void => {
    if (size > bestSize) [best, bestSize] = [set, size]
    // A set is part of what it represents, so none is larger than half.
    if (bestSize === half) return
    const candidates: number[] = []
    for (let process = next; process < closed.length; process += 1)
      if (bitsOf(represented | closed[process]!) <= half) candidates.push(process)
    for (const [index, process] of candidates.entries()) {
      if (size + candidates.length - index <= bestSize) return
      grow(process + 1, set | (1 << process), size + 1, represented | closed[process]!)
    }
  }
  grow(0, 0, 0, 0)
  return membersOf(best)
}

/**
 * An SM-cut (PODC'18, section 4). Nothing is shared between `one` and `other`, and each process between them shares
 * memory with one of the two sides at most.
 */
export interface SharedMemoryCut {
  readonly one: readonly number[]
  readonly other: readonly number[]
  /** The rest, by the side that it does not share memory with: B1 shares none with `other`, B2 none with `one`. */
  readonly between: readonly [readonly number[], readonly number[]]
}

/**
 * An SM-cut of which both sides have n - f processes at least, if there is one. No algorithm then withstands f crashes:
 * each side has to decide without the other, which may have crashed or may be slow.
 *
 * Two sides make an SM-cut exactly if no process is represented by both. So `one` is enumerated, with n - f processes,
 * and `other` is all who represent nothing that `one` does.
 */
export function sharedMemoryCut(neighbours: Neighbours, crashes: number): SharedMemoryCut | undefined {
  const closed = closedSets(neighbours)
  const { length } = closed
  const side = length - crashes
  if (side < 1 || 2 * side > length) return undefined
  const apartFrom = (represented: number): number =>
    closed.reduce((set, each, process) => ((each & represented) === 0 ? set | (1 << process) : set), 0)
  const grow = (next: number, set: number, size: number, represented: number): number | undefined => {
    if (bitsOf(apartFrom(represented)) < side) return undefined
    if (size === side) return set
    for (let process = next; process <= length - (side - size); process += 1) {
      const found = grow(process + 1, set | (1 << process), size + 1, represented | closed[process]!)
      if (found !== undefined) return found
    }
    return undefined
  }
  const one = grow(0, 0, 0, 0)
  return one === undefined ? undefined : cutOf(closed, one, apartFrom)
}

function cutOf(closed: readonly number[], one: number, apartFrom: (represented: number) => number): SharedMemoryCut {
  const represented = membersOf(one).reduce((set, process) => set | closed[process]!, 0)
  const other = apartFrom(represented)
  const rest = (2 ** closed.length - 1) & ~(one | other)
  const sharesWithOther = membersOf(rest).reduce(
    (set, process) => ((closed[process]! & other) === 0 ? set : set | (1 << process)),
    0,
  )
  return {
    one: membersOf(one),
    other: membersOf(other),
    between: [membersOf(rest & ~sharesWithOther), membersOf(sharesWithOther)],
  }
}
