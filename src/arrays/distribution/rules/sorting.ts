import { type Block, blockOver, newBlock, sizeOf } from '../../blocks/block.ts'
import { contiguous, elementsOf } from '../../blocks/copying.ts'
import { pick, pickingOf } from '../../blocks/picking.ts'
import { redistribute } from '../../exchange/redistribution.ts'
import type { Steps } from '../../exchange/steps.ts'
import type { Team } from '../../exchange/team.ts'
import { ArrayNode } from '../../graph/node.ts'
import { keysOf, reverseKeys } from '../../local/ordering.ts'
import { placesOf } from '../../local/searching.ts'
import { argsort, type SortOptions, sort } from '../../local/sorting.ts'
import { cutAxis } from '../../partitions/axis-partition.ts'
import { Partition } from '../../partitions/partition.ts'
import { type DType, type Elements, float64, int64 } from '../../types/dtype.ts'
import { exchanged, partitionOf } from '../distribution.ts'
import { alongAxis } from './along-axis.ts'
import { optionsOf, type Rule, rowsOf } from './rule.ts'

/**
 * Sorting along a divided axis by regular samples: Shi and Schaeffer, "Parallel sorting by regular sampling" (Journal
 * of Parallel and Distributed Computing 14, 1992). Each rank sorts its part, and tells samples. These cut the order of
 * all elements into ranges, of which each rank gets one. No range has more than twice its share, since equal elements
 * are told apart by where they were. That keeps the sort stable as well: the bits are those of one process.
 */
const sorted =
  (isOrder: boolean): Rule =>
  (sharing, entry, operands) => {
    const [x, ...others] = operands
    if (!(x instanceof ArrayNode) || 'build' in entry) return undefined
    if (x.shape.length !== 1) return alongAxis(-1)(sharing, entry, operands)
    const { dtype } = entry.result!(x, ...others)
    const options = optionsOf(others) as SortOptions
    const source = rowsOf(sharing, x)
    const from = partitionOf(sharing, source)
    const { team } = sharing
    return exchanged(sharing, dtype, from, [source], function* ([own]) {
      yield* team.agree(`${entry.name} of (${x.shape.join(', ')})`)
      return yield* sortParts(team, contiguous(own!), from, options, isOrder)
    })
  }

function* sortParts(
  team: Team,
  own: Block,
  from: Partition,
  { descending = false }: SortOptions,
  isOrder: boolean,
): Steps<Block> {
  const { cuts: given } = from.axes[0] as { readonly cuts: readonly number[] }
  const order = isOrder ? argsort(own, { descending }) : undefined
  const values = order === undefined ? sort(own, { descending }) : taken(own, order)
  const bounds = yield* boundsOf(team, values, given, descending)
  const came = yield* dealt(team, values, bounds)
  const received = came.counts.reduce((sum, count) => sum + count, 0)
  let result: Block
  if (order === undefined) result = sort(came.block, { descending })
  else {
    const start = given[team.ranks.indexOf(team.rank)]!
    const indices = blockOver(
      Float64Array.from(order.data as BigInt64Array, (at) => start + Number(at)),
      float64,
      own.shape,
    )
    // Runs of the ranks lie in the order of the indices, and each was sorted stably.
    const places = argsort(came.block, { descending })
    const { data } = taken((yield* dealt(team, indices, bounds)).block, places)
    result = blockOver(BigInt64Array.from(data as Float64Array, BigInt), int64, [received])
  }
  const lengths = yield* team.collect(
    Float64Array.of(received),
    team.ranks.map(() => 1),
  )
  const cuts = [0]
  for (const length of lengths) cuts.push(cuts.at(-1)! + length)
  return yield* redistribute(team, result, new Partition([cutAxis(cuts)], team.ranks), from)
}

function taken(block: Block, positions: Block): Block {
  return pick(block, pickingOf(block, [0], [positions], false))
}

/** How many samples a rank tells: as many as there are ranks, or all its elements if these are fewer. */
function sampleCount(team: Team, length: number): number {
  return Math.min(team.size, length)
}

/** Where in a sorted part of this length a sample is. */
function samplePlace(sample: number, samples: number, length: number): number {
  return Math.floor(((2 * sample + 1) * length) / (2 * samples))
}

/** Where this rank's sorted part is cut into what each rank gets: the first of each, and the end. */
function* boundsOf(team: Team, values: Block, cuts: readonly number[], descending: boolean): Steps<number[]> {
  const { dtype } = values
  const lengths = team.ranks.map((_, at) => cuts[at + 1]! - cuts[at]!)
  const counts = lengths.map((length) => sampleCount(team, length))
  const own = team.ranks.indexOf(team.rank)
  const places = Float64Array.from({ length: counts[own]! }, (_, at) => samplePlace(at, counts[own]!, lengths[own]!))
  const samples = taken(values, blockOver(places, float64, [places.length]))
  const all = yield* team.collect(
    elementsOf(samples),
    counts.map((count) => count * dtype.lanes),
  )
  const total = counts.reduce((sum, count) => sum + count, 0)
  const block = blockOver(all, dtype, [total])
  const tellers = counts.flatMap((count, rank) => Array.from({ length: count }, (_, at) => ({ rank, at })))
  // Samples of equal elements are in the order of ranks, then of places: so were the elements.
  const inOrder = argsort(block, { descending }).data as BigInt64Array
  const chosen = team.ranks.slice(1).map((_, at) => Number(inOrder[Math.floor(((at + 1) * total) / team.size)] ?? 0))
  if (total === 0) return [...team.ranks.map(() => 0), 0]
  const wanted = keysFor(taken(block, blockOver(Float64Array.from(chosen), float64, [chosen.length])), descending)
  const within = keysFor(values, descending)
  const [before, behind] = (['left', 'right'] as const).map((side) => placesOf(within, wanted, side))
  const bounds = chosen.map((sample, at) => {
    const { rank, at: number } = tellers[sample]!
    if (rank === own) return samplePlace(number, counts[own]!, lengths[own]!)
    return rank < own ? before![at]! : behind![at]!
  })
  return [0, ...bounds, sizeOf(values.shape)]
}

function keysFor(block: Block, descending: boolean): ReturnType<typeof keysOf> {
  const keys = keysOf(block)
  return descending ? reverseKeys(keys) : keys
}

/** What the ranks have for this one, in their order, and how much of each. */
function* dealt(
  team: Team,
  block: Block,
  bounds: readonly number[],
): Steps<{ readonly block: Block; readonly counts: readonly number[] }> {
  const { dtype } = block
  const gives = team.ranks.map((_, at) => bounds[at + 1]! - bounds[at]!)
  const told = yield* team.collect(
    Float64Array.from(gives),
    team.ranks.map(() => team.size),
  )
  const own = team.ranks.indexOf(team.rank)
  const counts = team.ranks.map((_, at) => told[at * team.size + own]!)
  const inBytes = (count: number): number => count * dtype.bytes
  const { buffer, byteOffset, byteLength } = elementsOf(block)
  const bytes = new Uint8Array(buffer, byteOffset, byteLength)
  const came = yield* team.deal(bytes, gives.map(inBytes), counts.map(inBytes))
  team.countMoved(inBytes(counts.reduce((sum, count, at) => (at === own ? sum : sum + count), 0)))
  const total = counts.reduce((sum, count) => sum + count, 0)
  return { block: blockOver(elementsIn(came, dtype), dtype, [total]), counts }
}

function elementsIn(bytes: Uint8Array, dtype: DType): Elements {
  const { data } = newBlock(dtype, [bytes.length / dtype.bytes])
  new Uint8Array(data.buffer).set(bytes)
  return data
}

export const sortings: readonly (readonly [string, Rule])[] = [
  ['sort', sorted(false)],
  ['argsort', sorted(true)],
]
