import type { Block } from '../../blocks/block.ts'
import { broadcastShapes } from '../../blocks/layout.ts'
import { ArrayError, shapeText } from '../../errors.ts'
import { promote } from '../../types/promotion.ts'
import { conjugate } from '../conjugate.ts'
import { dotOf } from './dot.ts'
import { eachOfStacks, newStack, stackShape } from './matrix.ts'

/** Sums of products of the first operand, conjugated, with the second along an axis; other axes are broadcast. */
export function vecdot(x1: Block, x2: Block, { axis = -1 }: { readonly axis?: number | bigint } = {}): Block {
  const first = axisLast(x1, axis)
  const second = axisLast(x2, axis)
  if (first.shape.at(-1) !== second.shape.at(-1))
    throw new ArrayError(
      'SHAPE',
      `vecdot: Input operand 1 has a mismatch in its core dimension 0: shapes ${shapeText(x1.shape)} and ` +
        `${shapeText(x2.shape)} (size ${second.shape.at(-1)} is different from ${first.shape.at(-1)})`,
    )
  return dotAlongLast(conjugate(first), second)
}

/** Sums of products along the last axis, without conjugating. */
function dotAlongLast(x1: Block, x2: Block): Block {
  const dtype = promote(x1.dtype, x2.dtype)
  const result = newStack(broadcastShapes(stackShape(x1, 1), stackShape(x2, 1)), dtype)
  const dot = dotOf(dtype)
  const count = x1.shape.at(-1)!
  const step = x1.strides.at(-1)!
  const other = x2.strides.at(-1)!
  eachOfStacks([x1, x2, result], [1, 1, 0], ([first = 0, second = 0, to = 0]) => {
    dot(
      { data: x1.data, dtype: x1.dtype, place: first, step },
      { data: x2.data, dtype: x2.dtype, place: second, step: other },
      count,
      result,
      to,
    )
  })
  return result
}

/** A view with the axis, which is counted from the end since axes are broadcast, as the last one. */
function axisLast(x: Block, axis: number | bigint): Block {
  const position = Number(axis)
  const axes = x.shape.length
  if (!Number.isInteger(position) || position < -axes || position >= axes)
    throw new ArrayError('AXIS', `axis ${axis} is out of bounds for array of dimension ${axes}`)
  const move = (list: readonly number[]): number[] => [...list.toSpliced(position, 1), list.at(position)!]
  return { ...x, shape: move(x.shape), strides: move(x.strides) }
}
