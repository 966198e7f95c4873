import { type Block, newBlock, sizeOf } from '../../blocks/block.ts'
import { elementsOf } from '../../blocks/copying.ts'
import { runBlocking, type Steps } from '../../exchange/steps.ts'
import { compress, gathered } from '../../functions/indexing.ts'
import { demand, exchangeFor } from '../../graph/demand.ts'
import { ArrayNode } from '../../graph/node.ts'
import { cutAxis, wholeAxis } from '../../partitions/axis-partition.ts'
import { Partition } from '../../partitions/partition.ts'
import { bool, int64 } from '../../types/dtype.ts'
import { computedByPart, exchanged, moved, nodeOfPart, partitionOf, type Sharing } from '../distribution.ts'
import { takenAlong } from './moving.ts'
import { optionsOf, type Rule, rowsOf } from './rule.ts'

/** Where elements belong in a sorted array. It goes to every rank if it is small, else each counts in its part. */
const searched: Rule = (sharing, entry, [x1, x2, ...others]) => {
  const options = optionsOf(others) as { readonly sorter?: unknown }
  const isPlain = options.sorter === undefined || options.sorter === null
  if (!(x1 instanceof ArrayNode && x2 instanceof ArrayNode && isPlain) || 'build' in entry) return undefined
  const { dtype, shape } = entry.result!(x1, x2, ...others)
  const { team } = sharing
  const to = partitionOf(sharing, x2)
  if (x1.spread === undefined || sizeOf(x1.shape) <= sizeOf(x2.shape) * team.size)
    return computedByPart(
      sharing,
      dtype,
      to,
      [gathered(x1), x2],
      ([sorted, wanted]) => entry.compute(sorted, wanted, ...others) as Block,
    )
  // The part of a rank is sorted as well. How many are before an element is the sum of how many each has.
  const from = partitionOf(sharing, x1)
  const whole = Partition.replicated(shape, team.ranks)
  const counted = exchanged(sharing, dtype, whole, [x1, gathered(x2)], function* ([part, wanted]): Steps<Block> {
    yield* team.agree(`${entry.name} in (${x1.shape.join(', ')})`)
    const places = entry.compute(part, wanted, ...others) as Block
    const length = sizeOf(shape)
    const all = (yield* team.collect(
      elementsOf(places),
      team.ranks.map(() => length),
    )) as BigInt64Array
    const result = newBlock(int64, shape)
    const sums = result.data as BigInt64Array
    for (const [at, rank] of team.ranks.entries())
      if (from.has(rank)) for (let index = 0; index < length; index += 1) sums[index]! += all[at * length + index]!
    return result
  })
  return moved(sharing, counted, to)
}

/** Each element of the first array by itself, for which all of the second are looked through. */
const among: Rule = (sharing, entry, [x1, x2, ...others]) => {
  if (!(x1 instanceof ArrayNode && x2 instanceof ArrayNode) || 'build' in entry || x1.spread === undefined)
    return undefined
  const { dtype } = entry.result!(x1, x2, ...others)
  return computedByPart(
    sharing,
    dtype,
    partitionOf(sharing, x1),
    [x1, gathered(x2)],
    ([part, all]) => entry.compute(part, all, ...others) as Block,
  )
}

/** An array of as many rows as the ranks found together, those of each rank behind those of the one before. */
function* rowsFound(sharing: Sharing, found: readonly Block[]): Steps<ArrayNode[]> {
  const { team } = sharing
  const [{ shape }] = found as [Block]
  const counts = yield* team.collect(
    Float64Array.of(shape[0]!),
    team.ranks.map(() => 1),
  )
  const cuts = [0]
  for (const count of counts) cuts.push(cuts.at(-1)! + count)
  const partition = new Partition([cutAxis(cuts), ...shape.slice(1).map(wholeAxis)], team.ranks)
  return found.map((block) => nodeOfPart(sharing, block, partition))
}

/** The indices of elements that are not zero: each rank finds its own, and only how many there are is told. */
const nonzero: Rule = (sharing, entry, [x]) => {
  if (!(x instanceof ArrayNode) || 'build' in entry || x.shape.length === 0) return undefined
  const { team } = sharing
  const rows = rowsOf(sharing, x)
  const { axes } = partitionOf(sharing, rows)
  const start = axes[0]?.kind === 'cuts' ? axes[0].cuts[team.ranks.indexOf(team.rank)]! : 0
  return runBlocking(
    (function* (): Steps<ArrayNode[]> {
      yield* exchangeFor(rows)
      yield* team.agree(`nonzero of (${x.shape.join(', ')})`)
      const [first, ...others] = entry.compute(demand(rows)) as Block[]
      const indices = (first!.data as BigInt64Array).map((index) => index + BigInt(start))
      return yield* rowsFound(sharing, [{ ...first!, data: indices }, ...others])
    })(),
  )
}

/** What a mask of the first axes picks, or indices of the first axis. */
export function pickParts(sharing: Sharing, x: ArrayNode, picker: ArrayNode): ArrayNode | undefined {
  if (x.shape.length === 0) return undefined
  if (picker.dtype !== bool) return takenAlong(sharing, x, picker, 0)
  const axes = picker.shape.length
  if (axes === 0 || !picker.shape.every((extent, axis) => extent === x.shape[axis])) return undefined
  const rows = rowsOf(sharing, x)
  const { axes: divided, ranks } = partitionOf(sharing, rows)
  const mask = moved(sharing, picker, new Partition(divided.slice(0, axes), ranks))
  return runBlocking(
    (function* (): Steps<ArrayNode> {
      yield* exchangeFor(rows)
      yield* exchangeFor(mask)
      yield* sharing.team.agree(`picks of (${x.shape.join(', ')})`)
      const [found] = yield* rowsFound(sharing, [compress(demand(rows), demand(mask))])
      return found!
    })(),
  )
}

export const searches: readonly (readonly [string, Rule])[] = [
  ['searchsorted', searched],
  ['isin', among],
  ['nonzero', nonzero],
]
