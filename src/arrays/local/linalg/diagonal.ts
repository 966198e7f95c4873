import type { Block } from '../../blocks/block.ts'
import type { DType } from '../../types/dtype.ts'
import { sum } from '../statistics.ts'
import { matrixShape, stackShape } from './matrix.ts'

/** Which diagonal: those above the main one have positive numbers. */
export interface DiagonalOptions {
  readonly offset?: number | bigint
}

/** A view of a diagonal of each matrix. */
export function diagonal(x: Block, { offset = 0 }: DiagonalOptions = {}): Block {
  const [rows, columns] = matrixShape(x)
  const [down, right] = x.strides.slice(-2) as [number, number]
  const above = Math.max(0, Number(offset))
  const below = Math.max(0, -Number(offset))
  const count = Math.max(0, Math.min(rows - below, columns - above))
  return {
    ...x,
    offset: x.offset + (count === 0 ? 0 : below * down + above * right),
    shape: [...stackShape(x), count],
    strides: [...stackShape({ ...x, shape: x.strides }), down + right],
  }
}

/** The sum of a diagonal of each matrix. */
export function trace(
  x: Block,
  { offset = 0, dtype = null }: DiagonalOptions & { readonly dtype?: DType | null } = {},
): Block {
  return sum(diagonal(x, { offset }), { axis: -1, dtype })
}
