import { checkOptions, shown } from '../../native/index.ts'
import { rowMajor } from '../blocks/block.ts'
import { ArrayError, shapeText } from '../errors.ts'
import {
  type AxisPartition,
  axisText,
  blockAxis,
  cyclicAxis,
  indexOfPlace,
  lengthOfPart,
  likeAxis,
  partOf,
  sameAxis,
  wholeAxis,
} from './axis-partition.ts'

/** How an axis is to be divided. */
export type AxisDivision = 'block' | 'cyclic' | 'replicated' | { readonly blockCyclic: number }

/**
 * How an array is to be divided: one division for the first axis, with the others whole; or one for each axis. Where
 * several axes are divided, the ranks form a grid over them.
 */
export type Division = AxisDivision | readonly AxisDivision[]

/**
 * Which rank has which elements of an array. The ranks form a grid over the axes, in row-major order, and each has the
 * part of each axis at which it stands. Along an axis that is whole, all of them have the same.
 */
export class Partition {
  readonly axes: readonly AxisPartition[]
  readonly shape: readonly number[]
  /** The ranks that share the elements, in the order of the grid. */
  readonly ranks: readonly number[]
  /** How many ranks stand along each axis: as many as the axis has parts, unless it is whole. */
  readonly grid: readonly number[]
  /** Does every rank have every element? */
  readonly isReplicated: boolean

  /**
   * The numbers of the grid multiply to that of the ranks, unless no axis is divided. If they come to less, the ranks
   * are several such grids one after another, each with all elements.
   */
  constructor(axes: readonly AxisPartition[], ranks: readonly number[], grid?: readonly number[]) {
    this.axes = axes
    this.ranks = ranks
    this.grid = grid ?? axes.map(({ parts }) => parts)
    this.shape = axes.map(({ extent }) => extent)
    this.isReplicated = axes.every(({ kind }) => kind === 'whole')
  }

  /** The same elements for every rank. */
  static replicated(shape: readonly number[], ranks: readonly number[]): Partition {
    return new Partition(shape.map(wholeAxis), ranks)
  }

  /** Does this rank have elements, or a part of length zero? Others have none. */
  has(rank: number): boolean {
    return this.ranks.includes(rank)
  }

  /** The part of each axis that a rank has. */
  partsOf(rank: number): number[] {
    const standing = this.standing(rank)
    return this.axes.map(({ kind }, axis) => (kind === 'whole' ? 0 : standing[axis]!))
  }

  /** The shape of a rank's part. */
  shapeOf(rank: number): number[] {
    const parts = this.partsOf(rank)
    return this.axes.map((axis, at) => lengthOfPart(axis, parts[at]!))
  }

  /** The ranks of which a rank takes what it needs: all parts are there once, and its own part is its own. */
  giversFor(taker: number): readonly number[] {
    if (this.isReplicated) return this.has(taker) ? [taker] : this.ranks.slice(0, 1)
    const standing = this.standing(taker)
    const gridSize = this.grid.reduce((product, count) => product * count, 1)
    const gridOf = (at: number): number => Math.floor(Math.max(0, at) / gridSize)
    const own = gridOf(this.ranks.indexOf(taker))
    return this.ranks.filter((rank, at) => {
      if (gridOf(at) !== own) return false
      const theirs = this.standing(rank)
      return this.axes.every(({ kind }, axis) => kind !== 'whole' || theirs[axis] === standing[axis])
    })
  }

  /** The indices of an element of a rank's part. */
  index(rank: number, place: readonly number[]): number[] {
    const parts = this.partsOf(rank)
    return this.axes.map((axis, at) => indexOfPlace(axis, parts[at]!, place[at]!))
  }

  equals(other: Partition): boolean {
    if (this === other) return true
    return (
      this.axes.length === other.axes.length &&
      this.axes.every((axis, at) => sameAxis(axis, other.axes[at]!)) &&
      (this.isReplicated || this.grid.every((count, at) => count === other.grid[at])) &&
      this.ranks.length === other.ranks.length &&
      this.ranks.every((rank, at) => rank === other.ranks[at])
    )
  }

  /** Where a rank stands along each axis of the grid. One that does not belong to it takes what the first ones have. */
  standing(rank: number): number[] {
    const standing = new Array<number>(this.axes.length).fill(0)
    let rest = Math.max(0, this.ranks.indexOf(rank))
    for (let axis = standing.length - 1; axis >= 0; axis -= 1) {
      const count = this.grid[axis]!
      standing[axis] = rest % count
      rest = Math.floor(rest / count)
    }
    return standing
  }

  /** For people, and for ranks to compare. */
  toString(): string {
    if (this.isReplicated) return 'replicated'
    return this.axes.map(axisText).join(' x ')
  }
}

/** The first rank that has an element. */
export function ownerAt({ axes, grid, ranks }: Partition, indices: readonly number[]): number {
  let position = 0
  for (const [at, axis] of axes.entries()) position = position * grid[at]! + partOf(axis, indices[at]!)
  return ranks[position]!
}

/** The partition with its axes in another order: each rank has what it had. */
export function permutedPartition({ axes, grid, ranks }: Partition, order: readonly number[]): Partition {
  const newGrid = order.map((axis) => grid[axis]!)
  const strides = rowMajor(grid)
  const places = ranks.map((_, position) => {
    let [rest, place] = [position, 0]
    for (let axis = order.length - 1; axis >= 0; axis -= 1) {
      const count = newGrid[axis]!
      place += (rest % count) * strides[order[axis]!]!
      rest = Math.floor(rest / count)
    }
    return ranks[place]!
  })
  const newAxes = order.map((axis) => axes[axis]!)
  return new Partition(newAxes, newAxes.every(({ kind }) => kind === 'whole') ? ranks : places, newGrid)
}

/**
 * The partition of an array that stretches to a larger shape by broadcasting. Its parts fit those of the larger one;
 * what has an extent of 1 is whole.
 */
export function broadcastBack(partition: Partition, shape: readonly number[]): Partition {
  const added = partition.axes.length - shape.length
  const axes = shape.map((extent, axis) => {
    const own = partition.axes[axis + added]!
    return own.extent === extent ? own : wholeAxis(extent)
  })
  return new Partition(axes, partition.ranks, partition.grid.slice(added))
}

/**
 * The partition of an array of as many axes, divided along the same ones. Those in `undivided` are whole in it; if one
 * of them was divided, the first of the others that is takes all ranks.
 */
export function likePartition(
  { axes, grid, ranks }: Partition,
  shape: readonly number[],
  undivided: readonly number[] = [],
): Partition {
  const isDivided = (axis: number): boolean => axes[axis]!.kind !== 'whole' || grid[axis] !== 1
  if (!undivided.some(isDivided)) {
    const alike = shape.map((extent, axis) => likeAxis(axes[axis]!, extent))
    return new Partition(alike, ranks, grid)
  }
  const first = axes.findIndex(({ kind }, axis) => kind !== 'whole' && !undivided.includes(axis))
  return new Partition(
    shape.map((extent, axis) => (axis === first ? blockAxis(extent, ranks.length) : wholeAxis(extent))),
    ranks,
  )
}

/** The partition of a new array of this shape. @throws ArrayError */
export function divide(shape: readonly number[], division: Division, ranks: readonly number[]): Partition {
  checkDivision(division)
  if (isPerAxis(division) && division.length !== shape.length)
    throw new ArrayError(
      'PARTITION',
      `a partition of ${division.length} axes does not fit shape ${shapeText(shape)}; give one for each axis, or one for the first`,
    )
  const divisions = shape.map((_, axis) => divisionOf(division, axis))
  const divided = divisions.map((each, axis) => (each === 'replicated' ? -1 : axis)).filter((axis) => axis >= 0)
  const grid = gridOf(
    ranks.length,
    divided.map((axis) => shape[axis]!),
  )
  const axes = shape.map((extent, axis) => {
    const each = divisions[axis]!
    const parts = grid[divided.indexOf(axis)] ?? 1
    if (each === 'replicated') return wholeAxis(extent)
    if (each === 'block') return blockAxis(extent, parts)
    return cyclicAxis(extent, parts, each === 'cyclic' ? 1 : each.blockCyclic)
  })
  return new Partition(axes, ranks)
}

/** Is it a division of some array? @throws ArrayError; ArgumentError */
export function checkDivision(division: Division): void {
  for (const one of isPerAxis(division) ? division : [division]) {
    if (one === 'block' || one === 'cyclic' || one === 'replicated') continue
    if (typeof one === 'object') checkOptions('partition', one ?? undefined, { blockCyclic: true }, 'partition')
    const block = (one as { readonly blockCyclic?: unknown } | null)?.blockCyclic
    if (Number.isSafeInteger(block) && (block as number) > 0) continue
    throw new ArrayError(
      'PARTITION',
      `an axis is divided as 'block', 'cyclic', 'replicated' or { blockCyclic: length }, not as ${shown(one)}`,
    )
  }
}

function divisionOf(division: Division, axis: number): AxisDivision {
  if (isPerAxis(division)) return division[axis] ?? 'replicated'
  return axis === 0 ? division : 'replicated'
}

function isPerAxis(division: Division): division is readonly AxisDivision[] {
  return Array.isArray(division)
}

/**
 * How many ranks stand along each divided axis. The prime factors of their number, the largest first, go where the
 * parts are longest.
 */
function gridOf(ranks: number, extents: readonly number[]): number[] {
  const grid = extents.map(() => 1)
  if (grid.length === 0) return grid
  for (const factor of primeFactors(ranks).reverse()) {
    let longest = 0
    for (const axis of grid.keys()) if (partLength(axis) > partLength(longest)) longest = axis
    grid[longest] = grid[longest]! * factor
  }
  return grid

  function partLength(axis: number): number {
    return extents[axis]! / grid[axis]!
  }
}

/** From the smallest on. */
function primeFactors(value: number): number[] {
  const factors: number[] = []
  let rest = value
  for (let factor = 2; rest > 1; factor += 1)
    while (rest % factor === 0) {
      factors.push(factor)
      rest /= factor
    }
  return factors
}
