/**
 * How one axis is divided into parts. Pure: indices in, indices out. Within a part its elements lie in the order of
 * their indices, without gaps. A part may be of length zero.
 *
 * - `cuts`: part c has the indices from `cuts[c]` to before `cuts[c + 1]`: blocks, of any lengths.
 * - `cyclic`: blocks of `block` indices are dealt out in turn (High Performance Fortran's CYCLIC(block)).
 * - `whole`: one part, which every rank has.
 */
export type AxisPartition =
  | { readonly kind: 'cuts'; readonly extent: number; readonly parts: number; readonly cuts: readonly number[] }
  | { readonly kind: 'cyclic'; readonly extent: number; readonly parts: number; readonly block: number }
  | { readonly kind: 'whole'; readonly extent: number; readonly parts: 1 }

/** Neighbouring indices: from `begin` to before `end`. */
export interface Interval {
  readonly begin: number
  readonly end: number
}

export function wholeAxis(extent: number): AxisPartition {
  return { kind: 'whole', extent, parts: 1 }
}

/** Blocks whose lengths differ by one at most, and begin at multiples of `unit`. */
export function blockAxis(extent: number, parts: number, unit: number = 1): AxisPartition {
  const units = Math.ceil(extent / unit)
  const cuts = Array.from({ length: parts + 1 }, (_, part) =>
    Math.min(extent, unit * Math.floor((part * units) / parts)),
  )
  return { kind: 'cuts', extent, parts, cuts }
}

/** Blocks that end where `cuts` says: `parts + 1` indices that never fall, from 0 to the extent. */
export function cutAxis(cuts: readonly number[]): AxisPartition {
  return { kind: 'cuts', extent: cuts[cuts.length - 1]!, parts: cuts.length - 1, cuts: [...cuts] }
}

export function cyclicAxis(extent: number, parts: number, block: number = 1): AxisPartition {
  return { kind: 'cyclic', extent, parts, block }
}

export function lengthOfPart(axis: AxisPartition, part: number): number {
  if (axis.kind === 'whole') return axis.extent
  if (axis.kind === 'cuts') return axis.cuts[part + 1]! - axis.cuts[part]!
  const { extent, parts, block } = axis
  const round = parts * block
  const rounds = Math.floor(extent / round)
  return rounds * block + clamp(extent - rounds * round - part * block, 0, block)
}

export function partOf(axis: AxisPartition, index: number): number {
  if (axis.kind === 'whole') return 0
  if (axis.kind === 'cyclic') return Math.floor(index / axis.block) % axis.parts
  const { cuts } = axis
  // The last part that begins at or before the index; those of length zero begin there as well, and come before.
  let [low, high] = [0, axis.parts - 1]
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (cuts[middle]! <= index) low = middle
    else high = middle - 1
  }
  return low
}

/** The place of an index within the part that has it. */
export function placeInPart(axis: AxisPartition, index: number): number {
  if (axis.kind === 'whole') return index
  if (axis.kind === 'cuts') return index - axis.cuts[partOf(axis, index)]!
  const { parts, block } = axis
  return Math.floor(index / (parts * block)) * block + (index % block)
}

/** The index of an element of a part. */
export function indexOfPlace(axis: AxisPartition, part: number, place: number): number {
  if (axis.kind === 'whole') return place
  if (axis.kind === 'cuts') return axis.cuts[part]! + place
  const { parts, block } = axis
  return (Math.floor(place / block) * parts + part) * block + (place % block)
}

/** The number of intervals of a part; see {@link intervalOf}. */
export function intervalsOf(axis: AxisPartition, part: number): number {
  const length = lengthOfPart(axis, part)
  return axis.kind === 'cyclic' ? Math.ceil(length / axis.block) : Math.min(1, length)
}

/** Interval `turn` of a part, in the order of indices. */
export function intervalOf(axis: AxisPartition, part: number, turn: number): Interval {
  const begin = intervalBegin(axis, part, turn)
  return { begin, end: begin + intervalLength(axis, part, turn) }
}

/** Its first index. */
export function intervalBegin(axis: AxisPartition, part: number, turn: number): number {
  if (axis.kind === 'whole') return 0
  return axis.kind === 'cuts' ? axis.cuts[part]! : (turn * axis.parts + part) * axis.block
}

export function intervalLength(axis: AxisPartition, part: number, turn: number): number {
  if (axis.kind === 'whole') return axis.extent
  if (axis.kind === 'cuts') return axis.cuts[part + 1]! - axis.cuts[part]!
  return Math.min(axis.block, axis.extent - intervalBegin(axis, part, turn))
}

/** Which intervals of a part meet the indices from `begin` to before `end`: the first, and the next behind them. */
export function intervalsWithin(
  axis: AxisPartition,
  part: number,
  begin: number,
  end: number,
): readonly [first: number, next: number] {
  if (begin >= end) return [0, 0]
  if (axis.kind !== 'cyclic') return [0, intervalsOf(axis, part)]
  const { parts, block } = axis
  const round = parts * block
  const first = Math.floor((begin - (part + 1) * block) / round) + 1
  return [Math.max(0, first), Math.ceil((Math.min(end, axis.extent) - part * block) / round)]
}

/** How many elements of a part lie before interval `turn` of it. */
export function elementsBefore(axis: AxisPartition, turn: number): number {
  return axis.kind === 'cyclic' ? turn * axis.block : 0
}

/** An axis of another extent that is divided in the same way, among as many. */
export function likeAxis(axis: AxisPartition, extent: number): AxisPartition {
  if (axis.extent === extent) return axis
  if (axis.kind === 'whole') return wholeAxis(extent)
  return axis.kind === 'cuts' ? blockAxis(extent, axis.parts) : cyclicAxis(extent, axis.parts, axis.block)
}

export function sameAxis(one: AxisPartition, other: AxisPartition): boolean {
  if (one === other) return true
  if (one.kind !== other.kind || one.extent !== other.extent || one.parts !== other.parts) return false
  if (one.kind === 'cuts') return one.cuts.every((cut, part) => cut === (other as typeof one).cuts[part])
  return one.kind === 'whole' || one.block === (other as typeof one).block
}

/** For people, and for ranks to compare. */
export function axisText(axis: AxisPartition): string {
  if (axis.kind === 'whole') return 'replicated'
  if (axis.kind === 'cyclic') return axis.block === 1 ? 'cyclic' : `block-cyclic(${axis.block})`
  const { extent, parts } = axis
  return sameAxis(axis, blockAxis(extent, parts)) ? 'block' : `block(${axis.cuts.join(', ')})`
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}
