import { type Block, blockOver, newBlock, newResult, rowMajor, sizeOf } from '../blocks/block.ts'
import { contiguous, copyInto } from '../blocks/copying.ts'
import { sameShape } from '../blocks/layout.ts'
import { type Picking, pick, pickingOf, putPicked } from '../blocks/picking.ts'
import { ArrayError } from '../errors.ts'
import type { AxisMap } from '../partitions/axis-map.ts'
import { sameAxis } from '../partitions/axis-partition.ts'
import { countShared, intersect, intersectRuns, type SharedRuns } from '../partitions/intersection.ts'
import type { Partition } from '../partitions/partition.ts'
import { runsOf } from '../partitions/runs.ts'
import { type DType, float64 } from '../types/dtype.ts'
import type { Steps } from './steps.ts'
import type { Team } from './team.ts'

/**
 * What goes where, so that each rank has its part of a result. It takes what it needs from those that have it: each
 * element once, and nothing that it has itself.
 */
export interface Route {
  /** How the elements lie that are given. */
  readonly from: Partition
  readonly to: Partition
  /** Has every rank what it needs? All ranks find the same. */
  readonly isLocal: boolean
  /** The shapes in which `runs` looks at what ranks give and take. */
  readonly givenShape: (rank: number) => readonly number[]
  readonly takenShape: (rank: number) => readonly number[]
  /** By axis, what a rank has for another. */
  readonly runs: (giver: number, taker: number) => SharedRuns[][]
}

/** To a result whose elements come from the same indices; or, where an axis has a map, from those that this says. */
export function routeOf(from: Partition, to: Partition, maps: readonly (AxisMap | undefined)[] = []): Route {
  const isMapped = (axis: number): boolean => maps[axis] !== undefined
  return {
    from,
    to,
    isLocal: from.axes.every(
      ({ kind }, axis) => kind === 'whole' || (!isMapped(axis) && isDividedAlike(from, to, axis)),
    ),
    givenShape: (rank) => from.shapeOf(rank),
    takenShape: (rank) => to.shapeOf(rank),
    runs: (giver, taker) => {
      const [mine, theirs] = [from.partsOf(giver), to.partsOf(taker)]
      return from.axes.map((axis, at) => intersect(axis, mine[at]!, to.axes[at]!, theirs[at]!, maps[at]))
    },
  }
}

/** To a result of another shape with the same elements in row-major order. */
export function flatRoute(from: Partition, to: Partition): Route {
  return {
    from,
    to,
    isLocal: from.isReplicated,
    givenShape: (rank) => [sizeOf(from.shapeOf(rank))],
    takenShape: (rank) => [sizeOf(to.shapeOf(rank))],
    runs: (giver, taker) => [intersectRuns(runsOf(from, giver), runsOf(to, taker))],
  }
}

/**
 * This rank's part of an array in another partition.
 * @throws ArrayError LOST, at every rank, if a rank with elements has died.
 */
export function* redistribute(team: Team, own: Block, from: Partition, to: Partition): Steps<Block> {
  return from.equals(to) ? own : yield* exchange(team, own, routeOf(from, to))
}

/**
 * This rank's part of the result of a route; elements that come from elsewhere stay as they are in `into`. What moves
 * begins with an agreement on `what`.
 */
export function* exchange(
  team: Team,
  own: Block,
  route: Route,
  { into, what }: { readonly into?: Block | undefined; readonly what?: string } = {},
): Steps<Block> {
  const { from, to } = route
  const given = reshaped(own, route.givenShape(team.rank))
  const target = (): Block => into ?? newResult(own.dtype, to.shapeOf(team.rank))
  const isHere = team.size === 1 || (route.isLocal && from.ranks.length === team.size) || hasAll(team, from)
  if (isHere) {
    const part = target()
    copyRuns(reshaped(part, route.takenShape(team.rank)), given, route.runs(team.rank, team.rank))
    return part
  }
  checkPresent(team, from)
  const text = what ?? `moves ${own.dtype} (${from.shape.join(', ')}) from ${from} to ${to}`
  return team.isMapped ? yield* fetch(team, given, route, target, text) : yield* deal(team, given, route, target, text)
}

/** How many bytes come to this rank from others on a route. */
export function bytesNeeded(rank: number, { from, runs }: Route, dtype: DType): number {
  let elements = 0
  for (const giver of from.giversFor(rank)) if (giver !== rank) elements += sizeOf(countsOf(runs(giver, rank)))
  return elements * dtype.bytes
}

function hasAll(team: Team, from: Partition): boolean {
  return from.isReplicated && team.ranks.every((rank) => from.has(rank))
}

/** Has each rank at least the part of this axis that it is to have? */
function isDividedAlike(from: Partition, to: Partition, axis: number): boolean {
  return (
    from.ranks.length === to.ranks.length &&
    sameAxis(from.axes[axis]!, to.axes[axis]!) &&
    from.ranks.every((rank, at) => rank === to.ranks[at] && from.partsOf(rank)[axis] === to.partsOf(rank)[axis])
  )
}

function reshaped(block: Block, shape: readonly number[]): Block {
  return sameShape(block.shape, shape) ? block : { ...contiguous(block), shape, strides: rowMajor(shape) }
}

/** Where all ranks map the parts of all, each copies what it needs from where it lies. */
function* fetch(team: Team, own: Block, route: Route, target: () => Block, what: string): Steps<Block> {
  let part: Block | undefined
  let giveBack = (): void => {}
  try {
    const places = yield* team.agree(what, () => {
      part = target()
      const published = team.publish(own)
      giveBack = published.giveBack
      return published.place
    })
    const taken = reshaped(part!, route.takenShape(team.rank))
    for (const giver of route.from.giversFor(team.rank)) {
      const runs = route.runs(giver, team.rank)
      const elements = sizeOf(countsOf(runs))
      if (elements === 0) continue
      if (giver === team.rank) copyRuns(taken, own, runs)
      else {
        const place = places[team.ranks.indexOf(giver)]!
        copyRuns(taken, team.mappedPart(giver, place, own.dtype, route.givenShape(giver))!, runs)
        team.countMoved(elements * own.dtype.bytes)
      }
    }
    yield* team.meet()
  } finally {
    giveBack()
  }
  return part!
}

/** Elsewhere each rank packs what the others need. */
function* deal(team: Team, own: Block, route: Route, target: () => Block, what: string): Steps<Block> {
  const { dtype } = own
  yield* team.agree(what)
  const { from } = route
  const givers = from.giversFor(team.rank)
  const packed = team.ranks.map((taker) => {
    const gives = from.giversFor(taker).includes(team.rank)
    const runs = gives ? route.runs(team.rank, taker) : []
    const block = newBlock(dtype, gives ? countsOf(runs) : [0])
    if (gives) copyRuns(block, own, runs.map(packedInto))
    return bytesOf(block)
  })
  const needs = team.ranks.map((giver) => (givers.includes(giver) ? route.runs(giver, team.rank) : [[]]))
  const expected = needs.map((runs) => sizeOf(countsOf(runs)) * dtype.bytes)
  const lengths = packed.map(({ length }) => length)
  const came = yield* team.deal(concatenated(packed), lengths, expected)
  const part = target()
  const taken = reshaped(part, route.takenShape(team.rank))
  let begin = 0
  for (const [at, runs] of needs.entries()) {
    const length = expected[at]!
    const block = newBlock(dtype, countsOf(runs))
    bytesOf(block).set(came.subarray(begin, begin + length))
    begin += length
    if (length > 0) copyRuns(taken, block, runs.map(packedFrom))
    if (team.ranks[at] !== team.rank) team.countMoved(length)
  }
  return part
}

/** @throws ArrayError if a rank with elements is not there any more. Every rank finds the same. */
function checkPresent(team: Team, from: Partition): void {
  for (const rank of from.ranks) {
    if (team.ranks.includes(rank) || (!from.isReplicated && sizeOf(from.shapeOf(rank)) === 0)) continue
    const first = from.index(
      rank,
      from.shape.map(() => 0),
    )
    const text = `elements of the array from [${first.join(', ')}] on were at rank ${rank}, which has ended; make the array again`
    throw new ArrayError('LOST', text)
  }
}

/** The shape of what is shared. */
function countsOf(runs: readonly (readonly SharedRuns[])[]): number[] {
  return runs.map(countShared)
}

/** The same runs, of which the second part is what is shared, without gaps. */
function packedInto(runs: readonly SharedRuns[]): SharedRuns[] {
  let into = 0
  return runs.map((run) => {
    const packed = { ...run, into, intoStep: run.length }
    into += run.count * run.length
    return packed
  })
}

/** The first part. */
function packedFrom(runs: readonly SharedRuns[]): SharedRuns[] {
  let from = 0
  return runs.map((run) => {
    const packed = { ...run, from, step: 1, fromStep: run.length }
    from += run.count * run.length
    return packed
  })
}

/** From this number of entries of an axis on, they are short ones that are copied as lists of places. */
const SCATTERED_MIN = 16

/** Copies what two parts share: for each choice of one entry an axis, a box of runs. */
function copyRuns(target: Block, source: Block, runs: readonly (readonly SharedRuns[])[]): void {
  if (runs.some((each) => each.length === 0)) return
  const listed = runs.findIndex((each) => each.length >= SCATTERED_MIN && countShared(each) < 8 * each.length)
  const places = listed < 0 ? undefined : placesOf(runs[listed]!)
  const chosen = new Array<number>(runs.length).fill(0)
  for (;;) {
    copyBox(
      target,
      source,
      chosen.map((entry, axis) => (axis === listed ? places! : runs[axis]![entry]!)),
    )
    let axis = chosen.length - 1
    while (axis >= 0 && (axis === listed || chosen[axis]! + 1 === runs[axis]!.length)) chosen[axis--] = 0
    if (axis < 0) return
    chosen[axis] = chosen[axis]! + 1
  }
}

/** Elements of an axis one by one: the places of each in two parts. */
interface Places {
  readonly from: Float64Array
  readonly into: Float64Array
}

function placesOf(runs: readonly SharedRuns[]): Places {
  const size = countShared(runs)
  const places = { from: new Float64Array(size), into: new Float64Array(size) }
  let at = 0
  for (const { from, into, length, step, count, fromStep, intoStep } of runs)
    for (let turn = 0; turn < count; turn += 1)
      for (let each = 0; each < length; each += 1) {
        places.from[at] = from + turn * fromStep + each * step
        places.into[at] = into + turn * intoStep + each
        at += 1
      }
  return places
}

/** A run of several entries has two axes in the boxes: its turns, and the neighbours in each, if there are several. */
function copyBox(target: Block, source: Block, runs: readonly (SharedRuns | Places)[]): void {
  const [into, from] = [boxOf(target), boxOf(source)]
  let listed: { readonly axis: number; readonly places: Places } | undefined
  for (const [axis, run] of runs.entries()) {
    const [intoStride, fromStride] = [target.strides[axis]!, source.strides[axis]!]
    if (!('count' in run)) {
      listed = { axis: into.shape.length, places: run }
      addAxis(into, target.shape[axis]!, intoStride)
      addAxis(from, source.shape[axis]!, fromStride)
      continue
    }
    into.offset += run.into * intoStride
    from.offset += run.from * fromStride
    if (run.count > 1) {
      addAxis(into, run.count, run.intoStep * intoStride)
      addAxis(from, run.count, run.fromStep * fromStride)
    }
    if (run.length > 1) {
      addAxis(into, run.length, intoStride)
      addAxis(from, run.length, run.step * fromStride)
    }
  }
  if (listed === undefined) copyInto(into, from)
  else {
    const pickingAt = (box: Block, places: Float64Array): Picking =>
      pickingOf(box, [listed.axis], [blockOver(places, float64, [places.length])], false)
    putPicked(into, pickingAt(into, listed.places.into), pick(from, pickingAt(from, listed.places.from)))
  }
}

/** A view of a block that has no axes yet. */
function boxOf(block: Block): Box {
  return { ...block, shape: [], strides: [] }
}

interface Box extends Block {
  readonly shape: number[]
  readonly strides: number[]
  offset: number
}

function addAxis(box: Box, extent: number, stride: number): void {
  box.shape.push(extent)
  box.strides.push(stride)
}

function bytesOf({ data }: Block): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
}

function concatenated(pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let begin = 0
  for (const piece of pieces) {
    all.set(piece, begin)
    begin += piece.length
  }
  return all
}
