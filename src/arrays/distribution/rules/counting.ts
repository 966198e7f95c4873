import { type Block, blockOver, newBlock, sizeOf } from '../../blocks/block.ts'
import { copyInto, elementsOf } from '../../blocks/copying.ts'
import { runBlocking, type Steps } from '../../exchange/steps.ts'
import type { Team } from '../../exchange/team.ts'
import { nodeOf } from '../../functions/as-node.ts'
import { gathered } from '../../functions/indexing.ts'
import { demand, exchangeFor } from '../../graph/demand.ts'
import { ArrayNode } from '../../graph/node.ts'
import { densityOf, type Histogram } from '../../local/histogram.ts'
import { bool, int64, isInteger } from '../../types/dtype.ts'
import { partitionOf, type Sharing } from '../distribution.ts'
import { type LocalOptions, optionsOf, type Rule } from './rule.ts'

/** Counts move if they are fewer bytes than the elements. Sums of weights do not: they are rounded in order. */
function isFewer(team: Team, bins: number, x: ArrayNode): boolean {
  return bins * 8 * team.size <= sizeOf(x.shape) * x.dtype.bytes
}

/** Counts of all ranks, of which each tells its own. */
function* summed(team: Team, own: BigInt64Array): Steps<BigInt64Array> {
  const all = yield* team.collect(
    own,
    team.ranks.map(() => own.length),
  )
  const sums = own.map(() => 0n)
  for (let at = 0; at < all.length; at += 1) sums[at % own.length]! += all[at]!
  return sums
}

/** This rank's part; without elements if another one has the same. */
function ownPart(sharing: Sharing, x: ArrayNode): Block {
  const { team } = sharing
  const { ranks } = partitionOf(sharing, x)
  return ranks.includes(team.rank) ? demand(x) : newBlock(x.dtype, [0])
}

const counted: Rule = (sharing, entry, [x, ...others]) => {
  const options = optionsOf(others)
  if (!isCounted(x, options) || 'build' in entry || x.shape.length !== 1 || !isInteger(x.dtype)) return undefined
  const { team } = sharing
  const steps = function* (): Steps<ArrayNode | undefined> {
    yield* exchangeFor(x)
    yield* team.agree(`${entry.name} of (${x.shape.join(', ')})`)
    const own = yield* team.allOrNone(() => entry.compute(ownPart(sharing, x), options) as Block)
    const lengths = yield* team.collect(
      Float64Array.of(own.shape[0]!),
      team.ranks.map(() => 1),
    )
    const bins = Math.max(...lengths)
    if (!isFewer(team, bins, x)) return undefined
    const padded = new BigInt64Array(bins)
    padded.set(elementsOf(own) as BigInt64Array)
    return nodeOf(blockOver(yield* summed(team, padded), int64, [bins]))
  }
  return runBlocking(steps())
}

/** The edges are found from the least and the greatest element of all. */
const inBins: Rule = (sharing, entry, [x, ...others]) => {
  const options = optionsOf(others)
  if (!isCounted(x, options) || 'build' in entry || x.dtype === bool || sizeOf(x.shape) === 0) return undefined
  const { team } = sharing
  const { bins: given = 10, range = null, density = false } = options as { bins?: number | ArrayNode } & LocalOptions
  const isNumber = typeof given === 'number' || typeof given === 'bigint'
  const count = given instanceof ArrayNode ? sizeOf(given.shape) - 1 : isNumber ? Number(given) : (given as []).length
  if (!isFewer(team, count, x)) return undefined
  const ends = ['min', 'max'].map((name) => sharing.call(name, [x]) as ArrayNode)
  const bins = given instanceof ArrayNode ? gathered(given) : given
  const steps = function* (): Steps<{ histogram: ArrayNode; binEdges: ArrayNode }> {
    for (const node of [x, ...ends, ...(bins instanceof ArrayNode ? [bins] : [])]) yield* exchangeFor(node)
    yield* team.agree(`${entry.name} of (${x.shape.join(', ')})`)
    const edges = bins instanceof ArrayNode ? demand(bins) : bins
    const both = newBlock(x.dtype, [2])
    for (const [at, end] of ends.entries()) copyInto({ ...both, shape: [], strides: [], offset: at }, demand(end))
    const { binEdges } = entry.compute(both, { bins: edges, range }) as Histogram
    const [first, last] = ends.map((end) => Number(elementsOf(demand(end))[0])) as [number, number]
    const chosen = isNumber ? { range: range ?? [first, last] } : {}
    const own = entry.compute(ownPart(sharing, x), { bins: edges, ...chosen }) as Histogram
    const sums = yield* summed(team, elementsOf(own.histogram) as BigInt64Array)
    const histogram = density
      ? densityOf(Float64Array.from(sums, Number), Float64Array.from(elementsOf(binEdges) as Float64Array, Number))
      : blockOver(sums, int64, [sums.length])
    return { histogram: nodeOf(histogram), binEdges: nodeOf(binEdges) }
  }
  return runBlocking(steps())
}

function isCounted(x: unknown, { weights }: LocalOptions): x is ArrayNode {
  return x instanceof ArrayNode && (weights === undefined || weights === null)
}

export const countings: readonly (readonly [string, Rule])[] = [
  ['bincount', counted],
  ['histogram', inBins],
]
