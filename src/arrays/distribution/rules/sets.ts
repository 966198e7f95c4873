import { type Block, blockOver, sizeOf } from '../../blocks/block.ts'
import { elementsOf } from '../../blocks/copying.ts'
import { runBlocking, type Steps } from '../../exchange/steps.ts'
import { nodeOf } from '../../functions/as-node.ts'
import { demand, exchangeFor } from '../../graph/demand.ts'
import { ArrayNode } from '../../graph/node.ts'
import { type UniqueAll, uniqueAll } from '../../local/sets.ts'
import { indexBlock } from '../../local/sorting.ts'
import { int64 } from '../../types/dtype.ts'
import { moved, nodeOfPart, partitionOf } from '../distribution.ts'
import { checkGathered, type Rule, rowsOf } from './rule.ts'

type Result = Partial<Record<keyof UniqueAll, ArrayNode>>

/**
 * Each rank finds the different elements of its rows, and tells all of them. The first of equal ones is that of the
 * first rank, and so the first of all: the rows lie in the order of the ranks.
 */
const unique =
  (wanted: readonly (keyof UniqueAll)[]): Rule =>
  (sharing, entry, [x], isGatherWanted = false) => {
    if (!(x instanceof ArrayNode) || 'build' in entry || x.shape.length === 0) return undefined
    const { team } = sharing
    const rows = rowsOf(sharing, x)
    const from = partitionOf(sharing, rows)
    const steps = function* (): Steps<ArrayNode | Result> {
      yield* exchangeFor(rows)
      yield* team.agree(`${entry.name} of (${x.shape.join(', ')})`)
      const own = uniqueAll(demand(rows))
      const counts = yield* team.collect(
        Float64Array.of(own.values.shape[0]!),
        team.ranks.map(() => 1),
      )
      const total = counts.reduce((sum, count) => sum + count, 0)
      checkGathered(entry.name, total * x.dtype.bytes, isGatherWanted)
      const told = yield* team.collect(
        elementsOf(own.values),
        Array.from(counts, (count) => count * x.dtype.lanes),
      )
      const all = uniqueAll(blockOver(told, x.dtype, [total]))
      const places = placesIn(all.inverseIndices)
      const before = counts.subarray(0, team.ranks.indexOf(team.rank)).reduce((sum, count) => sum + count, 0)
      const result: Result = { values: nodeOf(all.values) }
      if (wanted.includes('indices')) {
        const start =
          from.index(
            team.rank,
            from.shape.map(() => 0),
          )[0]! * sizeOf(from.shape.slice(1))
        const firsts = Float64Array.from(placesIn(own.indices), (place) => start + place)
        const toldFirsts = yield* team.collect(firsts, [...counts])
        const chosen = placesIn(all.indices)
        result.indices = nodeOf(int64Block(Float64Array.from(chosen, (place) => toldFirsts[place]!)))
      }
      if (wanted.includes('inverseIndices')) {
        const inverse = placesIn(own.inverseIndices).map((place) => places[before + place]!)
        const part = nodeOfPart(sharing, indexBlock(inverse, own.inverseIndices.shape), from)
        result.inverseIndices = moved(sharing, part, partitionOf(sharing, x))
      }
      if (wanted.includes('counts')) {
        const toldCounts = yield* team.collect(Float64Array.from(placesIn(own.counts)), [...counts])
        const sums = new Float64Array(all.values.shape[0]!)
        for (const [at, count] of toldCounts.entries()) sums[places[at]!]! += count
        result.counts = nodeOf(int64Block(sums))
      }
      return wanted.length === 1 ? result.values! : result
    }
    return runBlocking(steps())
  }

/** Places as numbers: those of a block of int64 are below 2**32 here. */
function placesIn(block: Block): Uint32Array {
  const { buffer, byteOffset, length } = elementsOf(block)
  const halves = new Uint32Array(buffer, byteOffset, 2 * length)
  return Uint32Array.from({ length }, (_, at) => halves[2 * at]!)
}

function int64Block(numbers: Float64Array): Block {
  return blockOver(BigInt64Array.from(numbers, BigInt), int64, [numbers.length])
}

export const sets: readonly (readonly [string, Rule])[] = [
  ['unique_all', unique(['values', 'indices', 'inverseIndices', 'counts'])],
  ['unique_counts', unique(['values', 'counts'])],
  ['unique_inverse', unique(['values', 'inverseIndices'])],
  ['unique_values', unique(['values'])],
]
