import { type Block, newBlock, newResult, sizeOf } from '../../blocks/block.ts'
import { contiguous } from '../../blocks/copying.ts'
import { axesOf, permute, reshapeView } from '../../blocks/layout.ts'
import { ArrayError } from '../../errors.ts'
import type { Step } from '../../kernels/program.ts'
import { runProgram } from '../../kernels/run-program.ts'
import { float64, isComplex, isWide, realOf } from '../../types/dtype.ts'
import { reduce, reducedShape } from '../reduction.ts'
import { sumOf } from '../sums.ts'
import { eachOfStacks, floatingOf, matrixShape, newStack } from './matrix.ts'
import { svdvals } from './singular-values.ts'

/** Sums below may have lost what was too small. */
const SQUARES_MIN = 1e-280

export interface VectorNormOptions {
  readonly axis?: number | readonly number[] | null
  readonly keepdims?: boolean
  /** The exponent of sizes: ±Infinity for the largest and the least, 0 for how many are not 0. */
  readonly ord?: number | bigint
}

/** The norm of the elements along axes, or of all. Sums are of float64; squares that would overflow are scaled. */
export function vectorNorm(x: Block, { axis, keepdims = false, ord = 2 }: VectorNormOptions = {}): Block {
  const axes = axesOf(axis, x.shape.length)
  const plain = Number(ord) === 2 ? rootOfSquares(x, axes) : undefined
  if (plain !== undefined)
    return keepdims ? reshapeView(plain, reducedShape(x.shape, { axis: axes, keepdims }))! : plain
  const rest = [...x.shape.keys()].filter((one) => !axes.includes(one))
  const stack = rest.map((one) => x.shape[one]!)
  const moved = permute(x, [...rest, ...axes])
  const count = sizeOf(axes.map((one) => x.shape[one]!))
  const rows = reshapeView(moved, [...stack, count]) ?? reshapeView(contiguous(moved), [...stack, count])!
  const result = newStack(stack, realOf(floatingOf(x.dtype)))
  const sizes = new Float64Array(count)
  const step = rows.strides.at(-1)!
  const norm = normOf(Number(ord))
  eachOfStacks([rows, result], [1, 0], ([from = 0, to = 0]) => {
    readSizes(rows, from, step, sizes)
    result.data[to] = norm(sizes)
  })
  if (!keepdims) return result
  const shape = x.shape.map((extent, one) => (axes.includes(one) ? 1 : extent))
  return reshapeView(result, shape)!
}

/** More bytes of squares are not kept at a time. */
const SQUARES_BYTES_MAX = 2 ** 28

/** By kernels, if the elements are real and no sum of squares is too large or too small. */
function rootOfSquares(x: Block, axes: readonly number[]): Block | undefined {
  const size = sizeOf(x.shape)
  if (isComplex(x.dtype) || size === 0 || size * 8 > SQUARES_BYTES_MAX) return undefined
  const squares = newResult(float64, x.shape)
  const isOther = x.dtype !== float64
  const cast: Step = { operation: 'cast', from: x.dtype, to: float64, operands: [0] }
  const square: Step = { operation: 'square', from: float64, to: float64, operands: [Number(isOther)] }
  const steps = isOther ? [cast, square] : [square]
  const outputs = [{ register: steps.length, block: squares }]
  runProgram({ shape: x.shape, inputs: [x], constants: [], steps, outputs })
  const sums = reduce(squares, { axis: axes }, sumOf(float64, float64))
  const result = newBlock(realOf(floatingOf(x.dtype)), sums.shape)
  const [from, to] = [sums.data as Float64Array, result.data as Float64Array]
  for (let at = 0; at < from.length; at += 1) {
    if (!(from[at]! > SQUARES_MIN && from[at]! < Number.POSITIVE_INFINITY)) return undefined
    to[at] = Math.sqrt(from[at]!)
  }
  return result
}

function readSizes({ data, dtype }: Block, place: number, step: number, sizes: Float64Array): void {
  const numbers = data as Float64Array
  for (let k = 0; k < sizes.length; k += 1) {
    const at = place + k * step
    if (isComplex(dtype)) sizes[k] = Math.hypot(numbers[2 * at]!, numbers[2 * at + 1]!)
    else sizes[k] = Math.abs(isWide(dtype) ? Number(data[at]) : numbers[at]!)
  }
}

function normOf(ord: number): (sizes: Float64Array) => number {
  if (ord === Number.POSITIVE_INFINITY) return (sizes) => extreme(sizes, 0, Math.max)
  if (ord === Number.NEGATIVE_INFINITY)
    return (sizes) => {
      if (sizes.length > 0) return extreme(sizes, Number.POSITIVE_INFINITY, Math.min)
      throw new ArrayError('VALUE', 'zero-size array to reduction operation minimum which has no identity')
    }
  if (ord === 0) return (sizes) => sizes.reduce((count, size) => count + Number(size !== 0), 0)
  if (ord === 1) return sum
  if (ord === 2) return euclidean
  if (Number.isNaN(ord)) throw new ArrayError('VALUE', `Invalid norm order ${ord} for vectors`)
  return (sizes) => sum(sizes.map((size) => size ** ord)) ** (1 / ord)
}

function extreme(sizes: Float64Array, first: number, choose: (a: number, b: number) => number): number {
  let chosen = first
  for (const size of sizes) chosen = choose(chosen, size)
  return chosen
}

function sum(sizes: Float64Array): number {
  let total = 0
  for (const size of sizes) total += size
  return total
}

function euclidean(sizes: Float64Array): number {
  let squares = 0
  for (const size of sizes) squares += size * size
  if (squares > SQUARES_MIN && squares < Number.POSITIVE_INFINITY) return Math.sqrt(squares)
  const largest = extreme(sizes, 0, Math.max)
  if (largest === 0 || !Number.isFinite(largest)) return largest
  squares = 0
  for (const size of sizes) squares += (size / largest) ** 2
  return largest * Math.sqrt(squares)
}

export interface MatrixNormOptions {
  readonly keepdims?: boolean
  readonly ord?: 'fro' | 'nuc' | number | bigint | null
}

/**
 * The norm of each matrix. Of `fro` it is the root of the sum of squares, of `nuc` the sum of singular values. An order
 * of 2 means the largest singular value, and -2 means the least. Orders of 1 and -1 mean the largest and the least sum
 * of sizes in a column, and infinities mean that of a row.
 */
export function matrixNorm(x: Block, { keepdims = false, ord = 'fro' }: MatrixNormOptions = {}): Block {
  matrixShape(x)
  const result = normOfMatrices(x, typeof ord === 'bigint' ? Number(ord) : ord)
  return keepdims ? reshapeView(result, [...x.shape.slice(0, -2), 1, 1])! : result
}

function normOfMatrices(x: Block, ord: 'fro' | 'nuc' | number | null): Block {
  const extremeOf = Number(ord) < 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  switch (ord) {
    case 'fro':
    case null:
      return vectorNorm(x, { axis: [-2, -1] })
    case 'nuc':
      return vectorNorm(svdvals(x), { axis: -1, ord: 1 })
    case 2:
    case -2:
      return vectorNorm(svdvals(x), { axis: -1, ord: extremeOf })
    case 1:
    case -1:
      return vectorNorm(vectorNorm(x, { axis: -2, ord: 1 }), { axis: -1, ord: extremeOf })
    case Number.POSITIVE_INFINITY:
    case Number.NEGATIVE_INFINITY:
      return vectorNorm(vectorNorm(x, { axis: -1, ord: 1 }), { axis: -1, ord: extremeOf })
    default:
      throw new ArrayError('VALUE', `Invalid norm order ${ord} for matrices.`)
  }
}
