import type { Block } from '../../blocks/block.ts'
import { axisOf, sameShape } from '../../blocks/layout.ts'
import { runBlocking, type Steps } from '../../exchange/steps.ts'
import { isBlock, mapIn } from '../../functions/call.ts'
import type { Entry } from '../../functions/entry.ts'
import { demand, exchangeFor } from '../../graph/demand.ts'
import { ArrayNode } from '../../graph/node.ts'
import { Storage } from '../../graph/storage.ts'
import { type AxisPartition, blockAxis, wholeAxis } from '../../partitions/axis-partition.ts'
import { Partition } from '../../partitions/partition.ts'
import { computedByPart, exchanged, moved, nodeOfPart, partitionOf, type Sharing } from '../distribution.ts'
import { optionsOf, type Rule } from './rule.ts'

/** What looks at the elements of one axis: if ranks have parts of that axis, another one is divided instead. */
export function alongAxis(byDefault: number): Rule {
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
export function withWholeAxes(sharing: Sharing, x: ArrayNode, axes: readonly number[]): ArrayNode | undefined {
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

/** Elements at indices of an axis, each by itself along the others. Where that axis is whole, each rank has its own. */
export const takenAlongAxis: Rule = (sharing, entry, [x, indices, ...others]) => {
  if (!(x instanceof ArrayNode && indices instanceof ArrayNode) || 'build' in entry) return undefined
  const { axis = -1 } = optionsOf(others) as { readonly axis?: number }
  const at = axisOf(axis, x.shape.length)
  if (!sameShape(x.shape.toSpliced(at, 1), indices.shape.toSpliced(at, 1))) return undefined
  const source = withWholeAxes(sharing, x, [at])
  if (source === undefined) return undefined
  const { team } = sharing
  const { axes, ranks, grid } = partitionOf(sharing, source)
  const to = new Partition(axes.with(at, wholeAxis(indices.shape[at]!)), ranks, grid)
  const operands = [source, moved(sharing, indices, to)]
  const node = exchanged(sharing, x.dtype, to, operands, function* ([part, places]): Steps<Block> {
    yield* team.agree(`${entry.name} of (${x.shape.join(', ')})`)
    return yield* team.allOrNone(() => entry.compute(part, places, { axis: at }) as Block)
  })
  runBlocking(exchangeFor(node))
  return node
}

/** Each rank computes the function on its part. */
export function applied(
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
