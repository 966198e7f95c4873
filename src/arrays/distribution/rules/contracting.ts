import type { Block } from '../../blocks/block.ts'
import { axisOf, broadcastShapes, sameShape } from '../../blocks/layout.ts'
import { ArrayNode } from '../../graph/node.ts'
import { subscriptsOf } from '../../local/einsum.ts'
import { type DiagonalOptions, diagonal } from '../../local/linalg/diagonal.ts'
import { type Axes, tensordotPlan } from '../../local/linalg/tensordot.ts'
import { cutAxis, wholeAxis } from '../../partitions/axis-partition.ts'
import { Partition } from '../../partitions/partition.ts'
import { bool } from '../../types/dtype.ts'
import { partitionOf, type Sharing, viewByPart } from '../distribution.ts'
import { withWholeAxes } from './along-axis.ts'
import { type LocalOptions, optionsOf, type Rule, rowsOf } from './rule.ts'

/** Calls another function that has a rule. */
function callOn(sharing: Sharing, name: string, ...operands: readonly unknown[]): ArrayNode {
  return sharing.call(name, operands) as ArrayNode
}

function inOrder(sharing: Sharing, x: ArrayNode, order: readonly number[]): ArrayNode {
  return order.every((axis, at) => axis === at) ? x : callOn(sharing, 'permute_dims', x, order)
}

function inShape(sharing: Sharing, x: ArrayNode, shape: readonly number[]): ArrayNode {
  return sameShape(x.shape, shape) ? x : callOn(sharing, 'reshape', x, shape)
}

/** As a product of two matrices, of which one stays where it is. */
function contractedOver(sharing: Sharing, x1: ArrayNode, x2: ArrayNode, axes: Axes): ArrayNode {
  const plan = tensordotPlan(x1, x2, axes)
  const [left, right] = [x1, x2].map((x, at) =>
    inShape(sharing, inOrder(sharing, x, plan.orders[at]!), plan.matrices[at]!),
  )
  return inShape(sharing, callOn(sharing, 'matmul', left, right), plan.shape)
}

const contracted: Rule = (sharing, _, [x1, x2, ...others]) => {
  const { axes = 2 } = optionsOf(others) as { readonly axes?: Axes }
  if (!(x1 instanceof ArrayNode && x2 instanceof ArrayNode)) return undefined
  return contractedOver(sharing, x1, x2, axes)
}

/** Every element of one by every element of the other: the smaller one moves. */
const outer: Rule = (sharing, _, [x1, x2]) => {
  if (!(x1 instanceof ArrayNode && x2 instanceof ArrayNode)) return undefined
  if (x1.shape.length !== 1 || x2.shape.length !== 1 || x1.dtype === bool || x2.dtype === bool) return undefined
  return callOn(sharing, 'multiply', callOn(sharing, 'expand_dims', x1, 1), callOn(sharing, 'expand_dims', x2, 0))
}

/**
 * Of one operand a sum; of two a product of matrices if none of their common labels is in the result, or a sum of
 * products if one of them has all labels. Undefined for others.
 */
const summedByLabels: Rule = (sharing, _, [subscripts, ...arrays]) => {
  if (typeof subscripts !== 'string' || !arrays.every((one) => one instanceof ArrayNode)) return undefined
  const operands = arrays as readonly ArrayNode[]
  const { inputs, output } = subscriptsOf(subscripts, operands)
  const isPlain = inputs.every((labels) => new Set(labels).size === labels.length)
  if (!isPlain || operands.some(({ dtype }) => dtype !== operands[0]!.dtype || dtype === bool)) return undefined
  const [first, second] = operands as [ArrayNode, ArrayNode | undefined]
  const [one, other = []] = inputs as [string[], string[] | undefined]
  if (second === undefined) return sumTo(sharing, first, one, output)
  const shared = one.filter((label) => other.includes(label))
  const hasOneExtent = shared.every((label) => first.shape[one.indexOf(label)] === second.shape[other.indexOf(label)])
  if (operands.length > 2 || !hasOneExtent) return undefined
  const kept = [...one, ...other].filter((label) => !shared.includes(label))
  if (shared.every((label) => !output.includes(label)) && kept.every((label) => output.includes(label))) {
    const axes = [shared.map((label) => one.indexOf(label)), shared.map((label) => other.indexOf(label))] as const
    return inOrder(
      sharing,
      contractedOver(sharing, first, second, axes),
      output.map((label) => kept.indexOf(label)),
    )
  }
  const [all, few] = one.length >= other.length ? [one, other] : [other, one]
  if (shared.length !== few.length) return multipliedInStacks(sharing, [first, second], [one, other], output)
  const [greater, smaller] = all === one ? [first, second] : [second, first]
  const sorted = inOrder(
    sharing,
    smaller,
    all.filter((label) => few.includes(label)).map((label) => few.indexOf(label)),
  )
  const added = all.flatMap((label, axis) => (few.includes(label) ? [] : [axis]))
  const fitting = added.length === 0 ? sorted : callOn(sharing, 'expand_dims', sorted, added)
  return sumTo(sharing, callOn(sharing, 'multiply', greater, fitting), all, output)
}

/** A product of matrices for each index of what both and the result have. */
function multipliedInStacks(
  sharing: Sharing,
  operands: readonly [ArrayNode, ArrayNode],
  [one, other]: readonly [readonly string[], readonly string[]],
  output: readonly string[],
): ArrayNode | undefined {
  const shared = one.filter((label) => other.includes(label))
  const stacked = shared.filter((label) => output.includes(label))
  const summed = shared.filter((label) => !output.includes(label))
  const left = one.filter((label) => !shared.includes(label))
  const right = other.filter((label) => !shared.includes(label))
  // Of more axes each matrix would be reshaped, and what is summed alone is no product.
  if (summed.length !== 1 || left.length !== 1 || right.length !== 1) return undefined
  if (![...left, ...right].every((label) => output.includes(label))) return undefined
  const arranged = (x: ArrayNode, from: readonly string[], to: readonly string[]): ArrayNode =>
    inOrder(
      sharing,
      x,
      to.map((label) => from.indexOf(label)),
    )
  const product = callOn(
    sharing,
    'matmul',
    arranged(operands[0], one, [...stacked, ...left, ...summed]),
    arranged(operands[1], other, [...stacked, ...summed, ...right]),
  )
  return arranged(product, [...stacked, ...left, ...right], output)
}

/** The sum over all labels that the result does not have, in its order. */
function sumTo(sharing: Sharing, x: ArrayNode, labels: readonly string[], output: readonly string[]): ArrayNode {
  const axis = labels.flatMap((label, at) => (output.includes(label) ? [] : [at]))
  const sum = axis.length === 0 ? x : callOn(sharing, 'sum', x, { axis, dtype: x.dtype })
  const kept = labels.filter((label) => output.includes(label))
  const result = inOrder(
    sharing,
    sum,
    output.map((label) => kept.indexOf(label)),
  )
  return result === x ? callOn(sharing, 'asarray', x, { copy: true }) : result
}

/** Each rank has the diagonal of its rows, or of its matrices: nothing moves but what is not in rows. */
const diagonals: Rule = (sharing, _, [x, ...others]) => {
  const axes = x instanceof ArrayNode ? x.shape.length : 0
  if (!(x instanceof ArrayNode) || axes < 2) return undefined
  const offset = Number((optionsOf(others) as DiagonalOptions).offset ?? 0)
  if (axes > 2) {
    const source = withWholeAxes(sharing, x, [axes - 2, axes - 1])
    if (source === undefined) return undefined
    const { axes: divided, ranks, grid } = partitionOf(sharing, source)
    const length = diagonal(shapeOnly(x), { offset }).shape.at(-1)!
    const to = new Partition([...divided.slice(0, -2), wholeAxis(length)], ranks, grid.slice(0, -1))
    return viewByPart(sharing, source, to, (block) => diagonal(block, { offset }))
  }
  const rows = rowsOf(sharing, x)
  const { axes: divided, ranks } = partitionOf(sharing, rows)
  if (divided[0]?.kind !== 'cuts') return undefined
  const { cuts } = divided[0]
  const before = Math.max(0, -offset)
  const length = diagonal(shapeOnly(x), { offset }).shape[0]!
  const of = (cut: number): number => Math.min(length, Math.max(0, cut - before))
  const start = cuts[ranks.indexOf(sharing.team.rank)] ?? 0
  return viewByPart(sharing, rows, new Partition([cutAxis(cuts.map(of))], ranks), (block) =>
    diagonal(block, { offset: offset + start }),
  )
}

/** A block to ask for shapes. */
function shapeOnly({ dtype, shape }: ArrayNode): Block {
  return { dtype, shape, strides: shape.map(() => 0), offset: 0, data: new dtype.Elements(0) }
}

const traced: Rule = (sharing, _, [x, ...others]) => {
  const { offset = 0, ...typed } = optionsOf(others) as LocalOptions
  if (!(x instanceof ArrayNode) || x.shape.length < 2) return undefined
  const own = callOn(sharing, 'linalg.diagonal', x, { offset })
  return sharing.call('sum', [own, { ...typed, axis: -1 }])
}

/** The products of elements 1 and 2, 2 and 0, and 0 and 1: only those that are not with each other move. */
const crossed: Rule = (sharing, _, [x1, x2, ...others]) => {
  if (!(x1 instanceof ArrayNode && x2 instanceof ArrayNode) || x1.shape.length === 0 || x2.shape.length === 0)
    return undefined
  const shape = broadcastShapes(x1.shape, x2.shape)
  const axis = axisOf(((optionsOf(others) as LocalOptions)['axis'] as number) ?? -1, shape.length)
  const fromEnd = axis - shape.length
  if (x1.shape.at(fromEnd) !== 3 || x2.shape.at(fromEnd) !== 3) return undefined
  const [one, other] = [x1, x2].map((x) => sharing.call('unstack', [x, { axis: fromEnd }]) as ArrayNode[]) as [
    ArrayNode[],
    ArrayNode[],
  ]
  const product = (at: number, with_: number): ArrayNode => callOn(sharing, 'multiply', one[at], other[with_])
  const parts = [0, 1, 2].map((at) => {
    const [next, last] = [(at + 1) % 3, (at + 2) % 3]
    return callOn(sharing, 'subtract', product(next, last), product(last, next))
  })
  return sharing.call('stack', [parts, { axis }])
}

export const contractions: readonly (readonly [string, Rule])[] = [
  ['tensordot', contracted],
  ['linalg.tensordot', contracted],
  ['linalg.outer', outer],
  ['einsum', summedByLabels],
  ['linalg.diagonal', diagonals],
  ['linalg.trace', traced],
  ['linalg.cross', crossed],
]
