import { type Block, newBlock, sizeOf } from '../blocks/block.ts'
import { copyInto } from '../blocks/copying.ts'
import { ArrayError } from '../errors.ts'
import { sameAxis } from '../partitions/axis-partition.ts'
import { countShared, intersect, type SharedRuns } from '../partitions/intersection.ts'
import type { Partition } from '../partitions/partition.ts'
import type { DType } from '../types/dtype.ts'
import type { Steps } from './steps.ts'
import type { Team } from './team.ts'

/**
 * This rank's part of an array in another partition. Each rank takes what it needs from those that have it: each
 * element once, and nothing that it has itself.
 * @throws ArrayError LOST, at every rank, if a rank with elements has died.
 */
export function* redistribute(team: Team, own: Block, from: Partition, to: Partition): Steps<Block> {
  if (from.equals(to)) return own
  if (isLocal(team, from, to)) return ownElements(team, own, from, to)
  checkPresent(team, from)
  const what = `moves ${own.dtype} (${from.shape.join(', ')}) from ${from} to ${to}`
  return team.isMapped ? yield* fetch(team, own, from, to, what) : yield* deal(team, own, from, to, what)
}

/** How many bytes come to this rank from others in a redistribution. */
export function bytesNeeded(rank: number, from: Partition, to: Partition, dtype: DType): number {
  if (from.equals(to)) return 0
  let elements = 0
  for (const giver of from.giversFor(rank))
    if (giver !== rank) elements += sizeOf(countsOf(sharedRuns(from, giver, to, rank)))
  return elements * dtype.bytes
}

/** Does every rank have what it needs? All ranks find the same. */
function isLocal(team: Team, from: Partition, to: Partition): boolean {
  if (from.isReplicated) return team.ranks.every((rank) => from.has(rank))
  return (
    team.size === 1 ||
    (from.ranks.length === to.ranks.length &&
      from.axes.every((axis, at) => axis.kind === 'whole' || isDividedAlike(from, to, at)))
  )
}

/** Has each rank at least the part of this axis that it is to have? */
function isDividedAlike(from: Partition, to: Partition, axis: number): boolean {
  return (
    sameAxis(from.axes[axis]!, to.axes[axis]!) &&
    from.ranks.every((rank, at) => rank === to.ranks[at] && from.partsOf(rank)[axis] === to.partsOf(rank)[axis])
  )
}

/** Nothing moves. */
function ownElements(team: Team, own: Block, from: Partition, to: Partition): Block {
  const part = newBlock(own.dtype, to.shapeOf(team.rank))
  copyRuns(part, own, sharedRuns(from, team.rank, to, team.rank))
  return part
}

/** Where all ranks map the parts of all, each copies what it needs from where it lies. */
function* fetch(team: Team, own: Block, from: Partition, to: Partition, what: string): Steps<Block> {
  let part = newBlock(own.dtype, [0])
  let giveBack = (): void => {}
  try {
    const places = yield* team.agree(what, () => {
      part = newBlock(own.dtype, to.shapeOf(team.rank))
      const published = team.publish(own)
      giveBack = published.giveBack
      return published.place
    })
    for (const giver of from.giversFor(team.rank)) {
      const runs = sharedRuns(from, giver, to, team.rank)
      const elements = sizeOf(countsOf(runs))
      if (elements === 0) continue
      if (giver === team.rank) copyRuns(part, own, runs)
      else {
        copyRuns(
          part,
          team.mappedPart(giver, places[team.ranks.indexOf(giver)]!, own.dtype, from.shapeOf(giver))!,
          runs,
        )
        team.countMoved(elements * own.dtype.bytes)
      }
    }
    yield* team.meet()
  } finally {
    giveBack()
  }
  return part
}

/** Elsewhere each rank packs what the others need. */
function* deal(team: Team, own: Block, from: Partition, to: Partition, what: string): Steps<Block> {
  const { dtype } = own
  yield* team.agree(what)
  const givers = from.giversFor(team.rank)
  const packed = team.ranks.map((taker) => {
    const gives = from.giversFor(taker).includes(team.rank)
    const runs = gives ? sharedRuns(from, team.rank, to, taker) : []
    const block = newBlock(dtype, gives ? countsOf(runs) : [0])
    if (gives) copyRuns(block, own, runs.map(packedInto))
    return bytesOf(block)
  })
  const needs = team.ranks.map((giver) => (givers.includes(giver) ? sharedRuns(from, giver, to, team.rank) : [[]]))
  const expected = needs.map((runs) => sizeOf(countsOf(runs)) * dtype.bytes)
  const lengths = packed.map(({ length }) => length)
  const came = yield* team.deal(concatenated(packed), lengths, expected)
  const part = newBlock(dtype, to.shapeOf(team.rank))
  let begin = 0
  for (const [at, runs] of needs.entries()) {
    const length = expected[at]!
    const block = newBlock(dtype, countsOf(runs))
    bytesOf(block).set(came.subarray(begin, begin + length))
    begin += length
    if (length > 0) copyRuns(part, block, runs.map(packedFrom))
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

/** By axis, what the parts of two ranks share. */
function sharedRuns(from: Partition, giver: number, to: Partition, taker: number): SharedRuns[][] {
  const [mine, theirs] = [from.partsOf(giver), to.partsOf(taker)]
  return from.axes.map((axis, at) => intersect(axis, mine[at]!, to.axes[at]!, theirs[at]!))
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
    const packed = { ...run, from, fromStep: run.length }
    from += run.count * run.length
    return packed
  })
}

/** Copies what two parts share: for each choice of one entry an axis, a box of runs. */
function copyRuns(target: Block, source: Block, runs: readonly (readonly SharedRuns[])[]): void {
  if (runs.some((each) => each.length === 0)) return
  const chosen = new Array<number>(runs.length).fill(0)
  for (;;) {
    copyBox(
      target,
      source,
      chosen.map((entry, axis) => runs[axis]![entry]!),
    )
    let axis = chosen.length - 1
    while (axis >= 0 && chosen[axis]! + 1 === (runs[axis] as SharedRuns[]).length) chosen[axis--] = 0
    if (axis < 0) return
    chosen[axis] = chosen[axis]! + 1
  }
}

/** A run of several entries has two axes in the boxes: its turns, and the neighbours in each. */
function copyBox(target: Block, source: Block, runs: readonly SharedRuns[]): void {
  const shape: number[] = []
  const [into, from] = [
    { offset: target.offset, strides: [] as number[] },
    { offset: source.offset, strides: [] as number[] },
  ]
  for (const [axis, run] of runs.entries()) {
    const [intoStride, fromStride] = [target.strides[axis]!, source.strides[axis]!]
    into.offset += run.into * intoStride
    from.offset += run.from * fromStride
    if (run.count > 1) {
      shape.push(run.count)
      into.strides.push(run.intoStep * intoStride)
      from.strides.push(run.fromStep * fromStride)
    }
    shape.push(run.length)
    into.strides.push(intoStride)
    from.strides.push(fromStride)
  }
  copyInto({ ...target, ...into, shape }, { ...source, ...from, shape })
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
