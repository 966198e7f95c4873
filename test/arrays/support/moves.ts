import fc from 'fast-check'
import { type Block, newBlock, sizeOf } from '../../../src/arrays/blocks/block.ts'
import { writeElement } from '../../../src/arrays/blocks/elements.ts'
import { bytesNeeded, redistribute, routeOf } from '../../../src/arrays/exchange/redistribution.ts'
import { runAwaiting, runBlocking } from '../../../src/arrays/exchange/steps.ts'
import type { Team } from '../../../src/arrays/exchange/team.ts'
import { type AxisDivision, type Division, divide, type Partition } from '../../../src/arrays/partitions/partition.ts'
import { DTYPES, type DType, type DTypeName, isComplex, isWide } from '../../../src/arrays/types/dtype.ts'

/** A redistribution. */
export interface Move {
  readonly shape: readonly number[]
  readonly from: Division
  readonly to: Division
  readonly dtype: DTypeName
}

const division: fc.Arbitrary<AxisDivision> = fc.oneof(
  fc.constantFrom('block' as const, 'cyclic' as const, 'replicated' as const),
  fc.integer({ min: 2, max: 4 }).map((blockCyclic) => ({ blockCyclic })),
)
const moves: fc.Arbitrary<Move> = fc.array(fc.integer({ min: 0, max: 11 }), { maxLength: 3 }).chain((shape) =>
  fc.record({
    shape: fc.constant(shape),
    from: fc.array(division, { minLength: shape.length, maxLength: shape.length }),
    to: fc.array(division, { minLength: shape.length, maxLength: shape.length }),
    dtype: fc.constantFrom(...(Object.keys(DTYPES) as DTypeName[])),
  }),
)

/** Some that the seed picks. */
export function someMoves(count: number, seed: number): Move[] {
  return fc.sample(moves, { numRuns: count, seed })
}

/** Does it at one rank; all ranks of the team do. Returns what is not as it should be. */
export async function faultsOf(team: Team, move: Move, isBlocking: boolean): Promise<string[]> {
  const dtype = DTYPES[move.dtype]
  const [from, to] = [divide(move.shape, move.from, team.ranks), divide(move.shape, move.to, team.ranks)]
  const before = team.moved.bytes
  const steps = redistribute(team, numbered(dtype, from, team.rank), from, to)
  const came = isBlocking ? runBlocking(steps) : await runAwaiting(steps)
  const moved = team.moved.bytes - before
  const { data } = numbered(dtype, to, team.rank)
  const text = `${JSON.stringify(move)} at rank ${team.rank} of ${team.size}`
  return [
    ...(String(came.data) === String(data) ? [] : [`${text}: ${came.data}, not ${data}`]),
    ...(moved === (from.equals(to) ? 0 : bytesNeeded(team.rank, routeOf(from, to), dtype))
      ? []
      : [`${text}: ${moved} bytes came`]),
  ]
}

/** A part whose elements say where they are in the array. */
function numbered(dtype: DType, partition: Partition, rank: number): Block {
  const block = newBlock(dtype, partition.shapeOf(rank))
  const { shape } = partition
  for (let at = 0; at < sizeOf(block.shape); at += 1) {
    const index = partition.index(rank, unravelled(at, block.shape))
    const value = index.reduce((flat, each, axis) => flat * shape[axis]! + each, 0) % 100
    if (isComplex(dtype)) writeElement(block.data, at, { re: value, im: -value })
    else writeElement(block.data, at, isWide(dtype) ? BigInt(value) : value)
  }
  return block
}

function unravelled(at: number, shape: readonly number[]): number[] {
  const index: number[] = []
  let rest = at
  for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
    index.unshift(rest % shape[axis]!)
    rest = Math.floor(rest / shape[axis]!)
  }
  return index
}
