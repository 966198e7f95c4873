import { type Block, newBlock, sizeOf } from '../blocks/block.ts'
import { copyOf } from '../blocks/copying.ts'
import { writeElement } from '../blocks/elements.ts'
import { sameShape } from '../blocks/layout.ts'
import { ArrayError, shapeText } from '../errors.ts'
import { exchange, routeOf } from '../exchange/redistribution.ts'
import { demand } from '../graph/demand.ts'
import { ArrayNode } from '../graph/node.ts'
import { Storage } from '../graph/storage.ts'
import type { MappedRun } from '../partitions/axis-map.ts'
import { type AxisPartition, cutAxis, wholeAxis } from '../partitions/axis-partition.ts'
import { Partition } from '../partitions/partition.ts'
import type { Scalar } from '../types/complex.ts'
import type { DType } from '../types/dtype.ts'
import { elementOf, isScalar } from '../types/scalar.ts'
import { computedByPart, exchanged, partitionOf, type Sharing } from './distribution.ts'

/** What stands beyond the ends of an axis: its other end, the element at the end, or a scalar. */
export type Edge = 'wrap' | 'nearest' | Scalar

/**
 * An array in which each part has `width` elements of its neighbours before and behind its own, along every axis. Only
 * these move. The shape of the result counts them for each part, so it is an array like any other. No width is greater
 * than the extent of its axis.
 * @throws ArrayError
 */
export function withHalo(sharing: Sharing, x: ArrayNode, width: number | readonly number[], edge: Edge): ArrayNode {
  const widths = widthsOf(width, x.shape)
  const from = partitionOf(sharing, x)
  const axes = from.axes.map((axis, at) => haloAxis(axis, widths[at]!, edge))
  const to = new Partition(
    axes.map(({ axis }) => axis),
    from.ranks,
    from.grid,
  )
  const { team } = sharing
  const route = routeOf(
    from,
    to,
    axes.map(({ map }) => map),
  )
  const beyond = isScalar(edge) ? elementOf(edge, x.dtype) : undefined
  return exchanged(sharing, x.dtype, to, [x], ([block]) =>
    exchange(team, block!, route, {
      into: beyond === undefined ? undefined : filled(x.dtype, to.shapeOf(team.rank), beyond),
    }),
  )
}

/** Each rank computes its part of the result from its part with a halo. */
export function stencil(
  sharing: Sharing,
  x: ArrayNode,
  { width, edge, dtype }: { readonly width: number | readonly number[]; readonly edge: Edge; readonly dtype: DType },
  compute: (part: ArrayNode) => ArrayNode,
): ArrayNode {
  const partition = partitionOf(sharing, x)
  const own = partition.shapeOf(sharing.team.rank)
  return computedByPart(sharing, dtype, partition, [withHalo(sharing, x, width, edge)], ([part]) => {
    if (sizeOf(own) === 0) return newBlock(dtype, own)
    const result = demand(compute(ArrayNode.of(part!, new Storage(part!.data))))
    if (!sameShape(result.shape, own))
      throw new ArrayError(
        'SHAPE',
        `a stencil makes of a part with its halo, ${shapeText(part!.shape)}, one of shape ${shapeText(own)}, not ${shapeText(result.shape)}`,
      )
    if (result.dtype !== dtype)
      throw new ArrayError('TYPE', `the stencil made ${result.dtype}, not ${dtype}; say which by { dtype }`)
    return copyOf(result)
  })
}

function widthsOf(width: number | readonly number[], shape: readonly number[]): readonly number[] {
  const widths = typeof width === 'number' ? shape.map(() => width) : width
  const fits = (each: number, axis: number): boolean =>
    Number.isSafeInteger(each) && each >= 0 && (each <= shape[axis]! || shape[axis] === 0)
  if (!Array.isArray(widths) || widths.length !== shape.length || !widths.every(fits))
    throw new ArrayError(
      'VALUE',
      `the width of a halo of an array of shape ${shapeText(shape)} is a whole number from 0 to its extent, or one for ` +
        `each of ${shape.length} axes`,
    )
  return widths
}

function haloAxis(
  axis: AxisPartition,
  width: number,
  edge: Edge,
): { readonly axis: AxisPartition; readonly map: readonly MappedRun[] } {
  if (axis.kind === 'cyclic')
    throw new ArrayError('PARTITION', "neighbours of a cyclic axis are at other ranks; redistribute() it to 'block'")
  const { extent } = axis
  const cuts = axis.kind === 'whole' ? [0, extent] : axis.cuts
  const newCuts = [0]
  const map: MappedRun[] = []
  for (const [part, begin] of cuts.slice(0, -1).entries()) {
    const [next, into] = [cuts[part + 1]!, newCuts[part]!]
    const length = next - begin
    newCuts.push(length === 0 ? into : into + length + 2 * width)
    if (length === 0) continue
    const [first, behind] = [Math.max(0, begin - width), Math.min(extent, next + width)]
    map.push({ into: into + first - begin + width, from: first, count: behind - first, step: 1 })
    for (let index = begin - width; index < next + width; index += 1) {
      if (index === first) index = behind
      if (index < next + width) map.push(...beyondEdge(index, extent, into + index - begin + width, edge))
    }
  }
  return { axis: axis.kind === 'whole' ? wholeAxis(newCuts[1]!) : cutAxis(newCuts), map }
}

/** Where an element beyond an end of the axis comes from, if it comes from elements. */
function beyondEdge(index: number, extent: number, into: number, edge: Edge): readonly MappedRun[] {
  if (edge !== 'wrap' && edge !== 'nearest') return []
  const nearest = index < 0 ? 0 : extent - 1
  return [{ into, from: edge === 'nearest' ? nearest : ((index % extent) + extent) % extent, count: 1, step: 1 }]
}

function filled(dtype: DType, shape: readonly number[], value: Scalar): Block {
  const block = newBlock(dtype, shape)
  for (let at = 0; at < sizeOf(shape); at += 1) writeElement(block.data, at, value)
  return block
}
