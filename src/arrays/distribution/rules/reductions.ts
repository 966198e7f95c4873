import { type Block, blockOver, newBlock, rowMajor, sizeOf } from '../../blocks/block.ts'
import { elementsOf } from '../../blocks/copying.ts'
import { axesOf, axisOf, withAxis, withoutAxes } from '../../blocks/layout.ts'
import { pick, pickingOf } from '../../blocks/picking.ts'
import { type AlignedRows, alignedColumn, alignedRows, isInRows, reduceRows } from '../../exchange/ordered-reduction.ts'
import { selectionBytes, selectTogether } from '../../exchange/selecting.ts'
import type { Steps } from '../../exchange/steps.ts'
import type { Team } from '../../exchange/team.ts'
import type { Entry } from '../../functions/entry.ts'
import { gathered, takeAlongAxis } from '../../functions/indexing.ts'
import { demand } from '../../graph/demand.ts'
import { ArrayNode } from '../../graph/node.ts'
import { castTo } from '../../local/casting.ts'
import { floatingOf } from '../../local/linalg/matrix.ts'
import type { MatrixNormOptions, VectorNormOptions } from '../../local/linalg/norms.ts'
import { flattened } from '../../local/lines.ts'
import { numbersOf } from '../../local/numbers.ts'
import { productOf } from '../../local/products.ts'
import { placesWanted, type QuantileOptions, type Wanted } from '../../local/quantile.ts'
import { PIECE, type Reduction, type ReductionOptions, reducedShape } from '../../local/reduction.ts'
import {
  accumulatedType,
  fillWithOne,
  meanType,
  type SpreadOptions,
  sum,
  type TypedOptions,
} from '../../local/statistics.ts'
import { squaresAbout, sumOf } from '../../local/sums.ts'
import { indexOfPlace, wholeAxis } from '../../partitions/axis-partition.ts'
import { Partition } from '../../partitions/partition.ts'
import { type DType, float64, int64, isFloating, isInteger, isWide, realOf } from '../../types/dtype.ts'
import { exchanged, partitionOf, type Sharing } from '../distribution.ts'
import { applied, withWholeAxes } from './along-axis.ts'
import { type LocalOptions, optionsOf, type Rule, rowsOf } from './rule.ts'

/** A reduction of which no reduced axis is divided, or another axis can be instead. */
function reducedByPart(
  sharing: Sharing,
  entry: Entry,
  x: ArrayNode,
  others: readonly unknown[],
  axes: readonly number[],
): unknown {
  const source = withWholeAxes(sharing, x, axes)
  if (source === undefined) return undefined
  return applied(sharing, entry, source, others, (from, shape) =>
    shape.length === from.length
      ? from.map((axis, at) => (axes.includes(at) ? wholeAxis(1) : axis))
      : from.filter((_, at) => !axes.includes(at)),
  )
}

/** Reduces parts, with the bits of one process: rows as `align` gives them, `count` elements to one. */
type Reducer = (
  team: Team,
  own: Block,
  align: (source: Block) => Steps<AlignedRows>,
  count: number,
  options: LocalOptions,
) => Steps<Block>

/** Columns are reduced as they lie where there are pieces for each rank. */
function isTall(x: ArrayNode, from: Partition, axes: readonly number[]): boolean {
  return axes.length === 1 && axes[0] === 0 && isInRows(from) && x.shape[0]! >= PIECE * from.ranks.length
}

function reduction(reducer: Reducer): Rule {
  return (sharing, entry, [x, ...others]) => {
    if (!(x instanceof ArrayNode) || 'build' in entry || entry.result === undefined) return undefined
    const { team } = sharing
    const options = optionsOf(others)
    const axes = axesOf((options as ReductionOptions).axis, x.shape.length)
    const byColumn = isTall(x, partitionOf(sharing, x), axes)
    const byPart = byColumn ? undefined : reducedByPart(sharing, entry, x, others, axes)
    if (byPart !== undefined) return byPart
    if (!byColumn && axes.length < x.shape.length && sizeOf(reducedShape(x.shape, { axis: axes })) !== 1)
      return undefined
    const { dtype, shape } = entry.result(x, ...others)
    const source = rowsOf(sharing, x)
    const from = partitionOf(sharing, source)
    const align = byColumn ? alignedRows : alignedColumn
    const count = sizeOf(axes.map((axis) => x.shape[axis]!))
    return exchanged(sharing, dtype, Partition.replicated(shape, team.ranks), [source], function* ([own]) {
      const what = `${entry.name} of (${x.shape.join(', ')})`
      const result = yield* reducer(team, own!, (block) => align(team, block, from, what), count, options)
      return blockOver(result.data, dtype, shape)
    })
  }
}

function summed(name: 'sum' | 'prod'): Reducer {
  return function* (team, own, align, _, options: TypedOptions) {
    const to = accumulatedType(own.dtype, options, name)
    const fits = isInteger(to) && !isFloating(own.dtype) && (isWide(to) || !isWide(own.dtype))
    const source = fits ? own : castTo(own, to)
    const result = yield* reduceRows(team, yield* align(source), (name === 'sum' ? sumOf : productOf)(source.dtype, to))
    if (result !== undefined) return result
    // Without elements all are one column.
    const empty = newBlock(to, [1])
    if (name === 'prod') fillWithOne(empty)
    return empty
  }
}

const mean: Reducer = function* (team, own, align, count) {
  return (yield* meanOf(team, own, align, count)).center
}

function* meanOf(
  team: Team,
  own: Block,
  align: (source: Block) => Steps<AlignedRows>,
  count: number,
): Steps<{ center: Block; rows: AlignedRows }> {
  const rows = yield* align(isWide(own.dtype) ? castTo(own, float64) : own)
  const type = meanType(own.dtype)
  const center = (yield* reduceRows(team, rows, sumOf(rows.own.dtype, type))) ?? newBlock(type, [rows.own.shape[1]!])
  divideBy(center, count)
  return { center, rows }
}

function spread(isRoot: boolean): Reducer {
  return function* (team, own, align, count, { correction = 0 }: SpreadOptions) {
    const { center, rows } = yield* meanOf(team, own, align, count)
    const squares: Reduction = squaresAbout(center.data, meanType(own.dtype))
    const result = (yield* reduceRows(team, rows, squares)) ?? newBlock(squares.to, center.shape)
    const divisor = count - Number(correction)
    divideBy(result, divisor > 0 ? divisor : Number.NaN)
    const numbers = result.data as Float64Array
    if (isRoot) for (let at = 0; at < numbers.length; at += 1) numbers[at] = Math.sqrt(numbers[at]!)
    return result
  }
}

function divideBy({ data }: Block, divisor: number): void {
  const numbers = data as Float64Array
  for (let at = 0; at < numbers.length; at += 1) numbers[at] = numbers[at]! / divisor
}

/** What a rank makes of its part, and what is made of those of all, which have a row for each rank. */
interface Combining {
  /** The types of what `ofPart` makes. */
  readonly types: (from: DType, to: DType) => readonly DType[]
  readonly ofPart: (entry: Entry, own: Block, options: ReductionOptions, part: PartPlace) => readonly Block[]
  readonly ofAll: (entry: Entry, results: readonly Block[]) => Block
}

/** Where a part lies. */
interface PartPlace {
  readonly from: Partition
  readonly rank: number
}

/**
 * What may be taken of the results of ranks in any order: each reduces its part, and the results of those that have
 * elements are combined.
 */
function inAnyOrder({ types, ofPart, ofAll }: Combining): Rule {
  return (sharing, entry, [x, ...others]) => {
    if (!(x instanceof ArrayNode) || 'build' in entry || entry.result === undefined) return undefined
    const options = optionsOf(others) as ReductionOptions
    const axes = axesOf(options.axis, x.shape.length)
    const { dtype, shape } = entry.result(x, ...others)
    const from = partitionOf(sharing, x)
    const keepsDivided = from.axes.some(({ kind }, axis) => kind !== 'whole' && !axes.includes(axis))
    if (keepsDivided || sizeOf(x.shape) === 0) return reducedByPart(sharing, entry, x, others, axes)
    const { team } = sharing
    const kept = reducedShape(x.shape, { axis: axes, keepdims: false })
    return exchanged(sharing, dtype, Partition.replicated(shape, team.ranks), [x], function* ([own]) {
      yield* team.agree(`${entry.name} of (${x.shape.join(', ')})`)
      const part = { from, rank: team.rank }
      const made =
        sizeOf(own!.shape) > 0 ? ofPart(entry, own!, { axis: options.axis ?? null, keepdims: false }, part) : []
      const results: Block[] = []
      for (const [at, type] of types(x.dtype, dtype).entries())
        results.push(yield* collected(team, made[at] ?? newBlock(type, [0]), kept, from))
      return blockOver(ofAll(entry, results).data, dtype, shape)
    })
  }
}

/** The results of ranks with elements, one after another. Of ranks that have the same elements, one counts. */
function* collected(team: Team, own: Block, kept: readonly number[], from: Partition): Steps<Block> {
  const { dtype } = own
  const length = sizeOf(kept) * dtype.lanes
  const sources = team.ranks.filter((rank) => sizeOf(from.shapeOf(rank)) > 0)
  const counts = team.ranks.map((rank) => (sources.includes(rank) ? length : 0))
  const all = yield* team.collect(elementsOf(own), counts)
  const givers = from.giversFor(team.rank)
  const chosen = [...sources.keys()].filter((at) => givers.includes(sources[at]!))
  const results = newBlock(dtype, [chosen.length, ...kept])
  for (const [row, at] of chosen.entries())
    results.data.set(all.subarray(at * length, (at + 1) * length) as never, row * length)
  return results
}

/** Results that are reduced again as elements were. */
const ofItself = inAnyOrder({
  types: (_, to) => [to],
  ofPart: ({ compute }, own, options) => [compute(own, options) as Block],
  ofAll: ({ compute }, [results]) => compute(results, { axis: 0 }) as Block,
})

const counted = inAnyOrder({
  types: (_, to) => [to],
  ofPart: ({ compute }, own, options) => [compute(own, options) as Block],
  ofAll: (_, [results]) => sum(results!, { axis: 0 }),
})

/** Of each part the extreme element and where it is in the whole. The first of the extreme ones is taken. */
const argument = (isBetter: (one: number, other: number) => boolean): Rule =>
  inAnyOrder({
    types: (from) => [from, int64],
    ofPart: ({ compute }, own, options, place) => {
      const positions = compute(own, options) as Block
      const { axis } = options as { axis: number | null }
      return [elementsAt(own, positions, axis), indicesOf(positions, own.shape, axis, place)]
    },
    ofAll: (_, [values, indices]) => firstBest(values!, indices!, isBetter),
  })

/** The elements at positions of an axis, or of the whole block in row-major order. */
function elementsAt(own: Block, positions: Block, axis: number | null): Block {
  if (axis === null) return pick(flattened(own), pickingOf(flattened(own), [0], [positions], false))
  return withoutAxes(takeAlongAxis(own, withAxis(positions, axisOf(axis, own.shape.length)), { axis }), [
    axisOf(axis, own.shape.length),
  ])
}

/** Positions of a part as indices of the whole array: of an axis, or of all elements in row-major order. */
function indicesOf(positions: Block, shape: readonly number[], axis: number | null, { from, rank }: PartPlace): Block {
  const parts = from.partsOf(rank)
  const { data } = positions as { data: BigInt64Array }
  if (axis !== null) {
    const at = axisOf(axis, shape.length)
    return { ...positions, data: data.map((place) => BigInt(indexOfPlace(from.axes[at]!, parts[at]!, Number(place)))) }
  }
  const strides = rowMajor(shape)
  const whole = rowMajor(from.shape)
  return {
    ...positions,
    data: data.map((number) => {
      let [rest, index] = [Number(number), 0]
      for (const [at, stride] of strides.entries()) {
        index += indexOfPlace(from.axes[at]!, parts[at]!, Math.floor(rest / stride)) * whole[at]!
        rest %= stride
      }
      return BigInt(index)
    }),
  }
}

/** For each column the index of the best value, the first where several are equal. NaN is the best of all. */
function firstBest(values: Block, indices: Block, isBetter: (one: number, other: number) => boolean): Block {
  const [rows, ...kept] = values.shape
  const columns = sizeOf(kept)
  const result = newBlock(int64, kept)
  const [from, at, to] = [values.data as Float64Array, indices.data, result.data] as const
  for (let column = 0; column < columns; column += 1) {
    let best = column
    for (let one = column + columns; one < rows! * columns; one += columns) {
      const [value, other] = [from[one]!, from[best]!]
      const isEqual = value === other || (Number.isNaN(value) && Number.isNaN(other))
      const isFirst = isEqual
        ? at[one]! < at[best]!
        : Number.isNaN(value) || (!Number.isNaN(other) && isBetter(value, other))
      if (isFirst) best = one
    }
    to[column] = at[best]!
  }
  return result
}

/** A norm of the norms of parts. */
const normed: Rule = (sharing, entry, [x, ...others]) => {
  const { ord = 2 } = optionsOf(others) as VectorNormOptions
  if (!(x instanceof ArrayNode) || 'build' in entry || Number.isNaN(Number(ord))) return undefined
  const combining: Combining = {
    types: (_, to) => [to],
    ofPart: ({ compute }, own, options) => [compute(own, { ...options, ord }) as Block],
    // How many elements are not 0 is a sum.
    ofAll: ({ compute }, [results]) => compute(results, { axis: 0, ord: Number(ord) === 0 ? 1 : ord }) as Block,
  }
  const result = ({ dtype, shape }: Block, options: VectorNormOptions = {}): Pick<Block, 'dtype' | 'shape'> => ({
    dtype: realOf(floatingOf(dtype)),
    shape: reducedShape(shape, options),
  })
  return inAnyOrder(combining)(sharing, { ...entry, result }, [x, ...others])
}

/** By the norms of vectors, where they tell it. */
const normedMatrices: Rule = (sharing, _, [x, ...others]) => {
  const { ord: given = 'fro', keepdims = false } = optionsOf(others) as MatrixNormOptions
  const ord = typeof given === 'bigint' ? Number(given) : given
  if (!(x instanceof ArrayNode) || x.shape.length < 2) return undefined
  const norm = (of: unknown, options: VectorNormOptions): unknown => sharing.call('linalg.vector_norm', [of, options])
  if (ord === 'fro' || ord === null) return norm(x, { axis: [-2, -1], keepdims })
  const size = Math.abs(Number(ord))
  if (size !== 1 && size !== Number.POSITIVE_INFINITY) return undefined
  const sums = norm(x, { axis: size === 1 ? -2 : -1, ord: 1 })
  const extreme = norm(sums, { axis: -1, ord: Number(ord) > 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY })
  return keepdims ? sharing.call('expand_dims', [extreme, [-2, -1]]) : extreme
}

/** Along some axes each rank has whole lines. Of all elements at once digits are counted, if that moves less. */
const quantiled: Rule = (sharing, entry, [x, q, ...others]) => {
  if (!(x instanceof ArrayNode) || 'build' in entry) return undefined
  const { axis = null, keepdims = false } = optionsOf(others) as QuantileOptions
  const axes = axesOf(axis, x.shape.length)
  const wanted = (q instanceof ArrayNode ? demand(gathered(q)) : q) as Wanted
  if (axes.length === x.shape.length) return selected(sharing, entry, x, wanted, optionsOf(others))
  const source = withWholeAxes(sharing, x, axes)
  if (source === undefined) return undefined
  return applied(sharing, entry, source, [wanted, ...others], (from, shape) => {
    const kept = keepdims
      ? from.map((each, at) => (axes.includes(at) ? wholeAxis(1) : each))
      : from.filter((_, at) => !axes.includes(at))
    return [...shape.slice(0, shape.length - kept.length).map(wholeAxis), ...kept]
  })
}

function selected(sharing: Sharing, entry: Entry, x: ArrayNode, q: Wanted, options: QuantileOptions): unknown {
  const { team } = sharing
  const from = partitionOf(sharing, x)
  const { rising, finish } = placesWanted(x, q, options, entry.name === 'percentile')
  if (selectionBytes(team, rising.length) > sizeOf(x.shape) * x.dtype.bytes) return undefined
  const { dtype, shape } = finish([])
  return exchanged(sharing, dtype, Partition.replicated(shape, team.ranks), [x], function* ([own]) {
    yield* team.agree(`${entry.name} of (${x.shape.join(', ')})`)
    const numbers = from.giversFor(team.ranks[0]!).includes(team.rank) ? numbersOf(own!, 'x') : new Float64Array(0)
    return finish(yield* selectTogether(team, numbers, rising))
  })
}

export const reductions: readonly (readonly [string, Rule])[] = [
  ['sum', reduction(summed('sum'))],
  ['prod', reduction(summed('prod'))],
  ['mean', reduction(mean)],
  ['var', reduction(spread(false))],
  ['std', reduction(spread(true))],
  ...['max', 'min', 'all', 'any'].map((name) => [name, ofItself] as const),
  ['count_nonzero', counted],
  ['argmax', argument((one, other) => one > other)],
  ['argmin', argument((one, other) => one < other)],
  ...['percentile', 'quantile'].map((name) => [name, quantiled] as const),
  ['linalg.vector_norm', normed],
  ['linalg.matrix_norm', normedMatrices],
]
