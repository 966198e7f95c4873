import { type Block, blockOver, newBlock, sizeOf } from '../blocks/block.ts'
import { copyOf } from '../blocks/copying.ts'
import { writeElement } from '../blocks/elements.ts'
import { axesOf, axisOf } from '../blocks/layout.ts'
import { type AlignedRows, alignedColumn, alignedRows, isInRows, reduceRows } from '../exchange/ordered-reduction.ts'
import type { Steps } from '../exchange/steps.ts'
import type { Team } from '../exchange/team.ts'
import { isBlock, mapIn } from '../functions/call.ts'
import type { Entry, NodeEntry } from '../functions/entry.ts'
import { demand } from '../graph/demand.ts'
import { ArrayNode } from '../graph/node.ts'
import { Storage } from '../graph/storage.ts'
import { castTo } from '../local/casting.ts'
import { productOf } from '../local/products.ts'
import { PIECE, type Reduction, type ReductionOptions, reducedShape } from '../local/reduction.ts'
import { accumulatedType, fillWithOne, meanType, type SpreadOptions, type TypedOptions } from '../local/statistics.ts'
import { squaresAbout, sumOf } from '../local/sums.ts'
import { type AxisPartition, blockAxis, wholeAxis } from '../partitions/axis-partition.ts'
import { divide, Partition } from '../partitions/partition.ts'
import type { Scalar } from '../types/complex.ts'
import { type DType, float64, isFloating, isInteger, isWide } from '../types/dtype.ts'
import { elementOf } from '../types/scalar.ts'
import { computedByPart, exchanged, moved, nodeOfPart, partitionOf, type Sharing } from './distribution.ts'

/** How a function is computed on parts; undefined as the result if it cannot be so for these operands. */
export type Rule = (sharing: Sharing, entry: Entry | NodeEntry, operands: readonly unknown[]) => unknown

export function ruleFor({ name }: Entry | NodeEntry): Rule | undefined {
  return rules.get(name)
}

type LocalOptions = Readonly<Record<string, unknown>>

/** The options among operands, which come last; empty if there are none. */
function optionsOf(operands: readonly unknown[]): LocalOptions {
  const last = operands[operands.length - 1]
  const isOptions = typeof last === 'object' && last !== null && Object.getPrototypeOf(last) === Object.prototype
  return isOptions && !('Elements' in last) && !('re' in last) ? (last as LocalOptions) : {}
}

// ---- creation
// -----------------------------------------------------------------------------------------------------------------

/** A new array like another: each rank makes its part. */
const like: Rule = (sharing, { name }, [x, ...others]) => {
  if (!(x instanceof ArrayNode)) return undefined
  const partition = partitionOf(sharing, x)
  const { dtype = x.dtype } = optionsOf(others) as { dtype?: DType }
  const block = newBlock(dtype, partition.shapeOf(sharing.team.rank))
  const value = name === 'full_like' ? (others[0] as Scalar) : name === 'ones_like' ? 1 : undefined
  if (value !== undefined) {
    const element = elementOf(value, dtype)
    for (let at = 0; at < sizeOf(block.shape); at += 1) writeElement(block.data, at, element)
  }
  return nodeOfPart(sharing, block, partition)
}

/** An array of its own type is copied part by part; a cast is element-wise. */
const same: Rule = (sharing, entry, [x, ...others]) => {
  if (!(x instanceof ArrayNode) || !('build' in entry)) return undefined
  const options = optionsOf(others) as { copy?: boolean | null }
  const { copy = entry.name === 'astype' } = options
  const node = entry.build(x, ...others.filter((one) => one !== options), {
    ...options,
    copy: copy === false ? false : null,
  })
  if (node !== x || copy !== true) return node
  return computedByPart(sharing, x.dtype, partitionOf(sharing, x), [x], ([part]) => copyOf(part!))
}

// ---- views
// -----------------------------------------------------------------------------------------------------------------

const permuted: Rule = (_, __, [x, order]) => {
  if (!(x instanceof ArrayNode) || !Array.isArray(order)) return undefined
  const axes = order.map((axis) => axisOf(axis as number, x.shape.length))
  return new Set(axes).size === x.shape.length && axes.length === x.shape.length
    ? x.spread?.permuted(x, axes)
    : undefined
}

const transposed: Rule = (_, __, [x]) => {
  if (!(x instanceof ArrayNode) || x.shape.length < 2) return undefined
  const order = [...x.shape.keys()]
  order.push(...order.splice(-2).reverse())
  return x.spread?.permuted(x, order)
}

// ---- along one axis
// -----------------------------------------------------------------------------------------------------------------

/** What looks at the elements of one axis: if ranks have parts of that axis, another one is divided instead. */
function alongAxis(byDefault: number): Rule {
  return (sharing, entry, [x, ...others]) => {
    if (!(x instanceof ArrayNode) || 'build' in entry || others.some((one) => one instanceof ArrayNode))
      return undefined
    const options = optionsOf(others) as { readonly axis?: number | null; readonly keepdims?: boolean }
    const { axis = byDefault } = options
    if (axis === null || x.shape.length === 0) return undefined
    const at = axisOf(axis, x.shape.length)
    const source = withWholeAxes(sharing, x, [at])
    if (source === undefined) return undefined
    return applied(sharing, entry, source, others, (axes, shape) =>
      shape.length === axes.length ? axes.with(at, wholeAxis(shape[at]!)) : axes.toSpliced(at, 1),
    )
  }
}

/**
 * The array in a partition in which these axes are whole, and no rank stands along them. Undefined if there is no other
 * axis to divide.
 */
function withWholeAxes(sharing: Sharing, x: ArrayNode, axes: readonly number[]): ArrayNode | undefined {
  const from = partitionOf(sharing, x)
  if (axes.every((axis) => from.axes[axis]?.kind === 'whole' && from.grid[axis] === 1)) return x
  let longest = -1
  for (const axis of x.shape.keys())
    if (!axes.includes(axis) && (longest < 0 || x.shape[axis]! > x.shape[longest]!)) longest = axis
  if (longest < 0 || x.shape[longest]! < 2) return undefined
  const to = x.shape.map((extent, axis) =>
    axis === longest ? blockAxis(extent, sharing.team.size) : wholeAxis(extent),
  )
  return moved(sharing, x, new Partition(to, sharing.team.ranks))
}

/** Each rank computes the function on its part. */
function applied(
  sharing: Sharing,
  entry: Entry,
  x: ArrayNode,
  others: readonly unknown[],
  axesOfResult: (axes: AxisPartition[], shape: readonly number[]) => AxisPartition[],
): unknown {
  const { axes, ranks } = partitionOf(sharing, x)
  const whole = (shape: readonly number[]): Partition => new Partition(axesOfResult([...axes], shape), ranks)
  const type = entry.result?.(x, ...others)
  if (type !== undefined)
    return computedByPart(
      sharing,
      type.dtype,
      whole(type.shape),
      [x],
      ([part]) => entry.compute(part, ...others) as Block,
    )
  const result = entry.compute(demand(x), ...others)
  // Of a divided axis the part tells how long it is here only, but the rule for axes looks at no other.
  return mapIn(result, isBlock, (block) => nodeOfPart(sharing, block, whole(block.shape), new Storage(block.data)))
}

// ---- reductions
// -----------------------------------------------------------------------------------------------------------------

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
    const source = isInRows(partitionOf(sharing, x)) ? x : moved(sharing, x, divide(x.shape, 'block', team.ranks))
    const from = partitionOf(sharing, source)
    const align = byColumn ? alignedRows : alignedColumn
    const count = sizeOf(axes.map((axis) => x.shape[axis]!))
    return exchanged(sharing, dtype, Partition.replicated(shape, team.ranks), [source], function* ([own]) {
      yield* team.agree(`${entry.name} of (${x.shape.join(', ')})`)
      const result = yield* reducer(team, own!, (block) => align(team, block, from), count, options)
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
    const empty = newBlock(to, [own.shape.length > 1 ? own.shape[1]! : 1])
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

/**
 * What may be taken of the results of ranks in any order: each reduces its part, and the results of those that have
 * elements are reduced again.
 */
function anyOrder(again: (entry: Entry) => Entry['compute']): Rule {
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
      const givers = from.giversFor(team.rank)
      const length = sizeOf(kept) * dtype.lanes
      const counts = team.ranks.map((rank) => (sizeOf(from.shapeOf(rank)) > 0 ? length : 0))
      const isGiver = sizeOf(own!.shape) > 0
      const part = isGiver
        ? (entry.compute(own, { ...options, axis: axes, keepdims: false }) as Block)
        : newBlock(dtype, [0])
      const all = yield* team.collect(part.data, counts)
      // Of ranks that have the same elements, one counts.
      const sources = team.ranks
        .filter((_, at) => counts[at] !== 0)
        .map((rank, at) => ({ isGiver: givers.includes(rank), at }))
      const chosen = sources.filter((source) => source.isGiver)
      const results = newBlock(dtype, [chosen.length, ...kept])
      for (const [row, { at }] of chosen.entries())
        results.data.set(all.subarray(at * length, (at + 1) * length) as never, row * length)
      const result = again(entry)(results, { axis: 0 }) as Block
      return blockOver(result.data, dtype, shape)
    })
  }
}

const ofItself = anyOrder(({ compute }) => compute)
const counted = anyOrder(() => ({ data, dtype, shape }: Block): Block => {
  const result = newBlock(dtype, shape.slice(1))
  const [into, from] = [result.data as BigInt64Array, data as BigInt64Array]
  for (let at = 0; at < from.length; at += 1) into[at % into.length]! += from[at]!
  return result
})

const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...['zeros_like', 'ones_like', 'empty_like', 'full_like'].map((name) => [name, like] as const),
  ...['asarray', 'astype', 'from_dlpack'].map((name) => [name, same] as const),
  ['permute_dims', permuted],
  ['matrix_transpose', transposed],
  ...['sort', 'argsort', 'diff'].map((name) => [name, alongAxis(-1)] as const),
  ...['cumulative_sum', 'cumulative_prod'].map((name) => [name, alongAxis(0)] as const),
  ...['fft.fft', 'fft.ifft', 'fft.rfft', 'fft.irfft', 'fft.hfft', 'fft.ihfft'].map(
    (name) => [name, alongAxis(-1)] as const,
  ),
  ['sum', reduction(summed('sum'))],
  ['prod', reduction(summed('prod'))],
  ['mean', reduction(mean)],
  ['var', reduction(spread(false))],
  ['std', reduction(spread(true))],
  ...['max', 'min', 'all', 'any'].map((name) => [name, ofItself] as const),
  ['count_nonzero', counted],
])
