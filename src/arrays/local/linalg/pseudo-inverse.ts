import type { Block } from '../../blocks/block.ts'
import { broadcastTo } from '../../blocks/layout.ts'
import { float32, float64, int64, realOf } from '../../types/dtype.ts'
import { product } from './matmul.ts'
import {
  conjugateMatrix,
  eachOfStacks,
  floatingOf,
  matrixShape,
  newStack,
  readMatrix,
  stackShape,
  transposed,
  writeMatrix,
} from './matrix.ts'
import { multiplyRow } from './rows.ts'
import { svd, svdvals } from './singular-values.ts'

/** Singular values below this part of the largest one are taken for 0: one number, or one for each matrix. */
export interface ToleranceOptions {
  readonly rtol?: number | bigint | Block | null
}

/** The Moore-Penrose inverse of each matrix, from its singular values. */
export function pinv(x: Block, { rtol }: ToleranceOptions = {}): Block {
  const [rows, columns] = matrixShape(x)
  const { U, S, Vh } = svd(x, { fullMatrices: false })
  const result = newStack(stackShape(x), floatingOf(x.dtype), columns, rows)
  const adjoint = transposed(U)
  const tolerance = toleranceOf(x, rtol)
  const V = transposed(Vh)
  eachOfStacks([V, S, adjoint, tolerance, result], [2, 1, 2, 0, 2], (places) => {
    const [fromV = 0, fromS = 0, fromU = 0, at = 0, to = 0] = places
    const left = conjugateMatrix(readMatrix(V, fromV))
    const right = conjugateMatrix(readMatrix(adjoint, fromU))
    const bound = (tolerance.data[at] as number) * (S.data[fromS] as number)
    for (let k = 0; k < right.rows; k += 1) {
      const value = S.data[fromS + k] as number
      multiplyRow(right, k, 0, value > bound ? 1 / value : 0, 0)
    }
    writeMatrix(result, to, product(left, right))
  })
  return result
}

/** How many singular values of each matrix are not taken for 0. */
export function matrixRank(x: Block, { rtol }: ToleranceOptions = {}): Block {
  const S = svdvals(x)
  const result = newStack(stackShape(x), int64)
  const tolerance = toleranceOf(x, rtol)
  const count = S.shape.at(-1)!
  eachOfStacks([S, tolerance, result], [1, 0, 0], ([from = 0, at = 0, to = 0]) => {
    const bound = (tolerance.data[at] as number) * (S.data[from] as number)
    let rank = 0
    for (let k = 0; k < count; k += 1) if ((S.data[from + k] as number) > bound) rank += 1
    result.data[to] = BigInt(rank)
  })
  return result
}

/** One relative bound for each matrix; by default the longer extent times the rounding unit of the type. */
function toleranceOf(x: Block, rtol: ToleranceOptions['rtol']): Block {
  if (typeof rtol === 'object' && rtol !== null) return broadcastTo(rtol, stackShape(x))
  const epsilon = realOf(floatingOf(x.dtype)) === float32 ? 2 ** -23 : 2 ** -52
  const value = Number(rtol ?? Math.max(...matrixShape(x)) * epsilon)
  const one: Block = { dtype: float64, shape: [], strides: [], offset: 0, data: new Float64Array([value]) }
  return broadcastTo(one, stackShape(x))
}
