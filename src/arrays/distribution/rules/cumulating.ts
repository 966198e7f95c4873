import { type Block, blockOver, newBlock, sizeOf } from '../../blocks/block.ts'
import { elementsOf } from '../../blocks/copying.ts'
import { axisOf } from '../../blocks/layout.ts'
import type { Steps } from '../../exchange/steps.ts'
import type { Team } from '../../exchange/team.ts'
import type { Entry } from '../../functions/entry.ts'
import { ArrayNode } from '../../graph/node.ts'
import { castTo } from '../../local/casting.ts'
import type { CumulativeOptions } from '../../local/cumulating.ts'
import { concat } from '../../local/manipulation.ts'
import { blockAxis, cutAxis, wholeAxis } from '../../partitions/axis-partition.ts'
import { Partition } from '../../partitions/partition.ts'
import { type DType, type Elements, isInteger } from '../../types/dtype.ts'
import { exchanged, moved, partitionOf } from '../distribution.ts'
import { alongAxis } from './along-axis.ts'
import { optionsOf, type Rule } from './rule.ts'

/**
 * Sums or products so far. Along a divided axis each rank goes on from the last ones of the rank before: one value of
 * each line moves. Floating ones are rounded at each step as in one process, so the ranks work one after another.
 */
const cumulated: Rule = (sharing, entry, operands) => {
  const [x, ...others] = operands
  if (!(x instanceof ArrayNode) || 'build' in entry || x.shape.length === 0) return undefined
  const options = optionsOf(others) as CumulativeOptions
  const { dtype, shape } = entry.result!(x, ...others)
  const at = axisOf(options.axis ?? 0, x.shape.length)
  const { team } = sharing
  const lies = partitionOf(sharing, x)
  const isAlone = lies.axes.every(({ kind }, axis) => kind === 'whole' || axis === at)
  if (!isAlone || lies.axes[at]!.kind === 'whole') return alongAxis(0)(sharing, entry, operands)
  const isInOrder = lies.axes[at]!.kind === 'cuts' && lies.ranks.every((rank, place) => rank === team.ranks[place])
  const divided = x.shape.map((extent, axis) => (axis === at ? blockAxis(extent, team.size) : wholeAxis(extent)))
  const source = isInOrder ? x : moved(sharing, x, new Partition(divided, team.ranks))
  const { axes } = partitionOf(sharing, source)
  const { cuts } = axes[at] as { readonly cuts: readonly number[] }
  const initial = Number(options.includeInitial ?? false)
  const inParts = axes.with(at, cutAxis(cuts.map((cut, part) => (part === 0 ? 0 : cut + initial))))
  const to = new Partition(inParts, team.ranks)
  return exchanged(sharing, dtype, to, [source], function* ([own]) {
    yield* team.agree(`${entry.name} of (${shape.join(', ')})`)
    const lines = {
      entry,
      own: castTo(own!, dtype),
      axis: at,
      dtype,
      initial: initial === 1 && team.rank === team.ranks[0],
    }
    const holders = team.ranks.filter((_, part) => cuts[part]! < cuts[part + 1]!)
    return isInteger(dtype) ? yield* togetherFrom(team, lines, holders) : yield* oneByOne(team, lines, holders)
  })
}

interface Lines {
  readonly entry: Entry
  readonly own: Block
  readonly axis: number
  readonly dtype: DType
  /** Does the result begin with what stands before all elements? */
  readonly initial: boolean
}

/** The ranks with elements do their part in turn. */
function* oneByOne(team: Team, lines: Lines, holders: readonly number[]): Steps<Block> {
  let carry: Block | undefined
  let result: Block | undefined
  for (const holder of holders) {
    if (holder === team.rank) result = cumulate(lines, carry)
    const last = holder === team.rank ? lastOf(result!, lines.axis) : undefined
    carry = yield* told(team, lines, [holder], last)
  }
  return result ?? cumulate(lines, undefined)
}

/** Integers wrap: all do their part at once, and once more from what the ranks before come to. */
function* togetherFrom(team: Team, lines: Lines, holders: readonly number[]): Steps<Block> {
  const { entry, axis, dtype } = lines
  const isHolder = holders.includes(team.rank)
  const alone = cumulate(lines, undefined)
  const lasts = yield* told(team, lines, holders, isHolder ? lastOf(alone, axis) : undefined)
  const before = holders.indexOf(team.rank)
  if (before < 1) return alone
  const sums = entry.compute(lasts, { axis: 0, dtype }) as Block
  const carry = {
    ...sums,
    shape: lineShape(lines),
    strides: sums.strides.slice(1),
    offset: (before - 1) * sums.strides[0]!,
  }
  return cumulate(lines, carry)
}

function cumulate({ entry, own, axis, dtype, initial }: Lines, carry: Block | undefined): Block {
  if (carry === undefined) return entry.compute(own, { axis, dtype, includeInitial: initial }) as Block
  const result = entry.compute(concat([carry, own], { axis }), { axis, dtype }) as Block
  return { ...result, shape: own.shape, offset: result.offset + result.strides[axis]! }
}

function lineShape({ own, axis }: Lines): number[] {
  return own.shape.with(axis, 1)
}

function lastOf(result: Block, axis: number): Elements {
  const offset = result.offset + (result.shape[axis]! - 1) * result.strides[axis]!
  return elementsOf({ ...result, offset, shape: result.shape.with(axis, 1) })
}

/** What some ranks tell all: a row for each of them, or the one line itself. */
function* told(team: Team, lines: Lines, tellers: readonly number[], own: Elements | undefined): Steps<Block> {
  const { dtype } = lines
  const shape = lineShape(lines)
  const length = sizeOf(shape) * dtype.lanes
  const counts = team.ranks.map((rank) => (tellers.includes(rank) ? length : 0))
  const all = yield* team.collect(own ?? newBlock(dtype, [0]).data, counts)
  return blockOver(all, dtype, tellers.length === 1 ? shape : [tellers.length, ...shape])
}

export const cumulations: readonly (readonly [string, Rule])[] = [
  ['cumulative_sum', cumulated],
  ['cumulative_prod', cumulated],
]
