import type { Block } from '../../blocks/block.ts'
import { sizeOf } from '../../blocks/block.ts'
import { broadcastShapes, sameShape } from '../../blocks/layout.ts'
import type { Entry } from '../../functions/entry.ts'
import { gathered } from '../../functions/indexing.ts'
import { ArrayNode } from '../../graph/node.ts'
import { type AxisPartition, blockAxis, wholeAxis } from '../../partitions/axis-partition.ts'
import { broadcastBack, divide, Partition } from '../../partitions/partition.ts'
import { bool, isComplex } from '../../types/dtype.ts'
import { promote } from '../../types/promotion.ts'
import { computedByPart, moved, partitionOf, type Sharing } from '../distribution.ts'
import { optionsOf, type Rule } from './rule.ts'

/** Products of matrices. The smaller operand goes to every rank, which multiplies its rows or columns of the other. */
const multiplied: Rule = (sharing, entry, [x1, x2]) => {
  if (!(x1 instanceof ArrayNode && x2 instanceof ArrayNode) || 'build' in entry) return undefined
  const [axes1, axes2] = [x1.shape.length, x2.shape.length]
  if (axes1 === 0 || axes2 === 0 || x1.shape.at(-1) !== x2.shape.at(axes2 === 1 ? -1 : -2)) return undefined
  if (axes2 > 2) return multipliedStacks(sharing, entry, x1, x2)
  if (axes1 === 1 && axes2 === 1) return summedProducts(sharing, x1, x2, -1)
  const byRows = axes1 > 1 && (axes1 > 2 || axes2 === 1 || sizeOf(x1.shape) >= sizeOf(x2.shape))
  return byRows ? multipliedRows(sharing, entry, x1, x2) : multipliedColumns(sharing, entry, x1, x2)
}

/** Each rank has rows of the first matrix, and of the result. */
function multipliedRows(sharing: Sharing, entry: Entry, x1: ArrayNode, x2: ArrayNode): ArrayNode {
  const { team } = sharing
  const last = x1.shape.length - 1
  const lies = partitionOf(sharing, x1)
  const isInRows = !lies.isReplicated && lies.axes[last]!.kind === 'whole' && lies.grid[last] === 1
  const rows = isInRows ? x1 : moved(sharing, x1, divide(x1.shape, 'block', team.ranks))
  const { axes, grid, ranks } = partitionOf(sharing, rows)
  const columns = x2.shape.length === 2 ? [wholeAxis(x2.shape[1]!)] : []
  const to = new Partition([...axes.slice(0, -1), ...columns], ranks, [...grid.slice(0, -1), ...columns.map(() => 1)])
  return product(sharing, entry, [rows, gathered(x2)], to)
}

/** Each rank has columns of the second matrix, and of the result. */
function multipliedColumns(sharing: Sharing, entry: Entry, x1: ArrayNode, x2: ArrayNode): ArrayNode {
  const { team } = sharing
  const lies = partitionOf(sharing, x2)
  const [inner, width] = x2.shape as [number, number]
  const isInColumns = !lies.isReplicated && lies.axes[0]!.kind === 'whole' && lies.grid[0] === 1
  const inParts = new Partition([wholeAxis(inner), blockAxis(width, team.size)], team.ranks)
  const columns = isInColumns ? x2 : moved(sharing, x2, inParts)
  const { axes, ranks } = partitionOf(sharing, columns)
  const rows = x1.shape.slice(0, -1).map(wholeAxis) as AxisPartition[]
  return product(sharing, entry, [gathered(x1), columns], new Partition([...rows, axes[1]!], ranks))
}

/** Each rank has some of a stack of matrices, as the larger operand has them if its matrices are whole. */
function multipliedStacks(sharing: Sharing, entry: Entry, x1: ArrayNode, x2: ArrayNode): ArrayNode | undefined {
  const { ranks } = sharing.team
  const stack = broadcastShapes(x1.shape.slice(0, -2), x2.shape.slice(0, -2))
  const longest = stack.indexOf(Math.max(...stack))
  if (stack[longest]! < 2) return undefined
  const larger = sizeOf(x1.shape) > sizeOf(x2.shape) ? x1 : x2
  const lies = partitionOf(sharing, larger)
  const isInStacks =
    !lies.isReplicated &&
    sameShape(larger.shape.slice(0, -2), stack) &&
    [-2, -1].every((axis) => lies.axes.at(axis)!.kind === 'whole' && lies.grid.at(axis) === 1)
  const axes = isInStacks
    ? lies.axes.slice(0, -2)
    : stack.map((extent, at) => (at === longest ? blockAxis(extent, ranks.length) : wholeAxis(extent)))
  const dividing = (matrix: readonly number[]): Partition =>
    new Partition(
      [...axes, ...matrix.map(wholeAxis)],
      isInStacks ? lies.ranks : ranks,
      isInStacks ? [...lies.grid.slice(0, -2), ...matrix.map(() => 1)] : undefined,
    )
  const operands = [x1, x2].map((x) => {
    const matrix = x.shape.slice(-2)
    return x.shape.length < 2 ? gathered(x) : moved(sharing, x, broadcastBack(dividing(matrix), x.shape))
  })
  const rows = x1.shape.length === 1 ? [] : x1.shape.slice(-2, -1)
  return product(sharing, entry, operands, dividing([...rows, x2.shape.at(-1)!]))
}

function product(sharing: Sharing, entry: Entry, operands: readonly ArrayNode[], to: Partition): ArrayNode {
  const dtype = promote(operands[0]!.dtype, operands[1]!.dtype)
  return computedByPart(sharing, dtype, to, operands, ([left, right]) => entry.compute(left, right) as Block)
}

/** A sum of products along an axis, in the order in which sum() adds. What moves is what the sum moves. */
function summedProducts(sharing: Sharing, x1: ArrayNode, x2: ArrayNode, axis: number): unknown {
  const dtype = promote(x1.dtype, x2.dtype)
  if (dtype === bool) return undefined
  return sharing.call('sum', [sharing.call('multiply', [x1, x2]), { axis, dtype }])
}

const dotted: Rule = (sharing, _, [x1, x2, ...others]) => {
  const { axis = -1 } = optionsOf(others) as { readonly axis?: number }
  if (!(x1 instanceof ArrayNode && x2 instanceof ArrayNode)) return undefined
  const extent = x1.shape.at(axis)
  // Axes are counted from the end, since others are broadcast.
  if (!Number.isInteger(axis) || axis >= 0 || extent === undefined || extent !== x2.shape.at(axis)) return undefined
  const first = isComplex(x1.dtype) ? (sharing.call('conj', [x1]) as ArrayNode) : x1
  return summedProducts(sharing, first, x2, axis)
}

export const products: readonly (readonly [string, Rule])[] = ['', 'linalg.'].flatMap((extension) => [
  [`${extension}matmul`, multiplied] as const,
  [`${extension}vecdot`, dotted] as const,
])
