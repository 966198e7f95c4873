import { type Block, sizeOf } from '../../blocks/block.ts'
import { contiguous } from '../../blocks/copying.ts'
import { axisOf, permute, reshapeView } from '../../blocks/layout.ts'
import { ArrayError, shapeText } from '../../errors.ts'
import { matmul } from './matmul.ts'

export type Axes = number | bigint | readonly [first: AxisList, second: AxisList]
type Shaped = Pick<Block, 'shape'>
type AxisList = number | bigint | readonly (number | bigint)[]

/** Sums of products over axes: as many of the last and the first ones as `axes` says, or those of its two lists. */
export function tensordot(x1: Block, x2: Block, { axes = 2 }: TensordotOptions = {}): Block {
  const plan = tensordotPlan(x1, x2, axes)
  const [left, right] = [x1, x2].map((x, at) => reshaped(permute(x, plan.orders[at]!), plan.matrices[at]!))
  return reshaped(matmul(left!, right!), plan.shape)
}

export interface TensordotOptions {
  readonly axes?: Axes
}

/** A product of tensors as one of matrices: the axes of each in another order, and those of a side as one. */
interface TensordotPlan {
  readonly orders: readonly [readonly number[], readonly number[]]
  readonly matrices: readonly [readonly number[], readonly number[]]
  readonly shape: readonly number[]
}

/** Looks at shapes only. @throws ArrayError */
export function tensordotPlan(x1: Shaped, x2: Shaped, axes: Axes): TensordotPlan {
  const [first, second] = contracted(x1, x2, axes)
  const extents = first.map((axis) => x1.shape[axis]!)
  if (first.length !== second.length || second.some((axis, index) => x2.shape[axis] !== extents[index]))
    throw new ArrayError(
      'SHAPE',
      `shape-mismatch for sum: axes (${first}) of ${shapeText(x1.shape)} and (${second}) of ${shapeText(x2.shape)}`,
    )
  const rest1 = [...x1.shape.keys()].filter((axis) => !first.includes(axis))
  const rest2 = [...x2.shape.keys()].filter((axis) => !second.includes(axis))
  const shape1 = rest1.map((axis) => x1.shape[axis]!)
  const shape2 = rest2.map((axis) => x2.shape[axis]!)
  const inner = sizeOf(extents)
  return {
    orders: [
      [...rest1, ...first],
      [...second, ...rest2],
    ],
    matrices: [
      [sizeOf(shape1), inner],
      [inner, sizeOf(shape2)],
    ],
    shape: [...shape1, ...shape2],
  }
}

function contracted(x1: Shaped, x2: Shaped, axes: Axes): [number[], number[]] {
  if (typeof axes === 'object') return [axesOf(axes[0], x1), axesOf(axes[1], x2)]
  const count = Number(axes)
  if (!Number.isInteger(count) || count < 0 || count > Math.min(x1.shape.length, x2.shape.length))
    throw new ArrayError(
      'SHAPE',
      `tensordot: there are not ${axes} axes in both ${shapeText(x1.shape)} and ${shapeText(x2.shape)}`,
    )
  const counted = Array.from({ length: count }, (_, index) => index)
  return [counted.map((index) => x1.shape.length - count + index), counted]
}

function axesOf(list: AxisList, { shape }: Shaped): number[] {
  const axes = (typeof list === 'object' ? list : [list]).map((axis) => axisOf(axis, shape.length))
  if (new Set(axes).size !== axes.length) throw new ArrayError('AXIS', 'duplicate value in axes')
  return axes
}

function reshaped(block: Block, shape: readonly number[]): Block {
  return reshapeView(block, shape) ?? reshapeView(contiguous(block), shape)!
}
