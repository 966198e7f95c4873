import { type Block, newBlock, newResult } from '../../blocks/block.ts'
import { contiguous } from '../../blocks/copying.ts'
import { broadcastShapes } from '../../blocks/layout.ts'
import { ArrayError, shapeText } from '../../errors.ts'
import { multiplyNatively } from '../../kernels/native-products.ts'
import { bool, type DType, isFloating, isWide } from '../../types/dtype.ts'
import { promote } from '../../types/promotion.ts'
import { dotOf } from './dot.ts'
import { eachOfStacks, type Matrix, newMatrix, readMatrix, stackShape, transposed, writeMatrix } from './matrix.ts'
import { addProduct } from './matrix-product.ts'

/**
 * The matrix product of the last two axes; other axes are broadcast. A first operand of one axis is a row, a second a
 * column, and the axis is left out of the result.
 *
 * A floating sum of n products is off by at most n rounding units of its type, relative to the sum of their sizes.
 * Without native kernels sums are of float64, and are rounded once. Integers keep their low bits.
 */
export function matmul(x1: Block, x2: Block): Block {
  if (x1.shape.length === 0 || x2.shape.length === 0)
    throw new ArrayError('SHAPE', `matmul: an operand does not have enough dimensions: ${shapesText(x1, x2)}`)
  const left = x1.shape.length === 1 ? asRow(x1) : x1
  const right = x2.shape.length === 1 ? asColumn(x2) : x2
  const inner = left.shape.at(-1)!
  if (right.shape.at(-2) !== inner)
    throw new ArrayError(
      'SHAPE',
      `matmul: Input operand 1 has a mismatch in its core dimension 0: shapes ${shapesText(x1, x2)} ` +
        `(size ${right.shape.at(-2)} is different from ${inner})`,
    )
  const result = productOf(left, right)
  const axes = [...result.shape.keys()]
  if (x2.shape.length === 1) axes.pop()
  if (x1.shape.length === 1) axes.splice(axes.length - (x2.shape.length === 1 ? 1 : 2), 1)
  return {
    ...result,
    shape: axes.map((axis) => result.shape[axis]!),
    strides: axes.map((axis) => result.strides[axis]!),
  }
}

function asRow(x: Block): Block {
  return { ...x, shape: [1, ...x.shape], strides: [0, ...x.strides] }
}

function asColumn(x: Block): Block {
  return { ...x, shape: [...x.shape, 1], strides: [...x.strides, 0] }
}

function shapesText(x1: Block, x2: Block): string {
  return `${shapeText(x1.shape)} and ${shapeText(x2.shape)}`
}

/** Fewer products than this are summed one after another: to pack operands would take longer. */
const TILED_MIN = 512

function productOf(x1: Block, x2: Block): Block {
  const dtype = promote(x1.dtype, x2.dtype)
  const rows = x1.shape.at(-2)!
  const inner = x1.shape.at(-1)!
  const columns = x2.shape.at(-1)!
  const shape = [...broadcastShapes(stackShape(x1), stackShape(x2)), rows, columns]
  if (inner === 0) return newBlock(dtype, shape)
  const result = newResult(dtype, shape)
  if (result.data.length === 0 || multiplyNatively(x1, x2, result)) return result
  if (rows * inner * columns >= TILED_MIN && (isFloating(dtype) || isExact(x1, x2, inner)))
    multiplyTiled(x1, x2, result)
  else multiplyByDots(x1, x2, result)
  return result
}

/** Is no sum of products so large that float64 would round it? */
function isExact(x1: Block, x2: Block, inner: number): boolean {
  return largestOf(x1) * largestOf(x2) * inner <= Number.MAX_SAFE_INTEGER
}

/** The largest absolute value in the memory of the block, elements between those of the block included. */
function largestOf({ data, dtype }: Block): number {
  if (isWide(dtype)) {
    let largest = 0n
    for (const value of data as BigInt64Array) {
      if (value > largest) largest = value
      else if (-value > largest) largest = -value
    }
    return Number(largest)
  }
  if (dtype.bytes < 4) return 2 ** (8 * dtype.bytes)
  let largest = 0
  for (const value of data as Int32Array) largest = Math.max(largest, Math.abs(value))
  return largest
}

function multiplyTiled(x1: Block, x2: Block, result: Block): void {
  const write = isFloating(result.dtype) ? writeMatrix : writeIntegers
  eachOfStacks([x1, x2, result], [2, 2, 2], ([first = 0, second = 0, to = 0]) => {
    write(result, to, product(readMatrix(x1, first), readMatrix(x2, second)))
  })
}

/** The product of two matrices. */
export function product(first: Matrix, second: Matrix): Matrix {
  const result = newMatrix(first.rows, second.columns, first.im === undefined ? second : first)
  const shape = { rows: first.rows, inner: first.columns, columns: second.columns }
  addProduct(result.re, first.re, second.re, { ...shape, sign: 1 })
  if (first.im !== undefined) addProduct(result.im!, first.im, second.re, { ...shape, sign: 1 })
  if (second.im !== undefined) addProduct(result.im!, first.re, second.im, { ...shape, sign: 1 })
  if (first.im !== undefined && second.im !== undefined)
    addProduct(result.re, first.im, second.im, { ...shape, sign: -1 })
  return result
}

/** Writes whole numbers, of which a narrow type keeps the low bits. */
function writeIntegers({ data, dtype, shape }: Block, place: number, { re }: Matrix): void {
  const count = shape.at(-2)! * shape.at(-1)!
  for (let k = 0; k < count; k += 1) data[place + k] = elementOf(re[k]!, dtype)
}

function elementOf(value: number, dtype: DType): number | bigint {
  if (dtype === bool) return Number(value !== 0)
  return isWide(dtype) ? BigInt(value) : value
}

function multiplyByDots(x1: Block, x2: Block, result: Block): void {
  const dot = dotOf(result.dtype)
  const columns = transposed(contiguous(transposed(x2)))
  const [down, along] = x1.strides.slice(-2) as [number, number]
  const [below, right] = columns.strides.slice(-2) as [number, number]
  const [rows, inner] = x1.shape.slice(-2) as [number, number]
  const width = x2.shape.at(-1)!
  eachOfStacks([x1, columns, result], [2, 2, 2], ([first = 0, second = 0, to = 0]) => {
    for (let i = 0; i < rows; i += 1)
      for (let j = 0; j < width; j += 1)
        dot(
          { data: x1.data, dtype: x1.dtype, place: first + i * down, step: along },
          { data: columns.data, dtype: columns.dtype, place: second + j * right, step: below },
          inner,
          result,
          to + i * width + j,
        )
  })
}

/** The product of each element of one vector with each of another. */
export function outer(x1: Block, x2: Block): Block {
  if (x1.shape.length !== 1 || x2.shape.length !== 1)
    throw new ArrayError('SHAPE', `Input arrays must be one-dimensional, but they are ${shapesText(x1, x2)}.`)
  return matmul(asColumn(x1), asRow(x2))
}

/** A stack of identity matrices. */
export function identityStack(stack: readonly number[], order: number, dtype: DType): Block {
  const result = newBlock(dtype, [...stack, order, order])
  const { data } = result
  for (let start = 0; start < data.length; start += order * order * dtype.lanes)
    for (let k = 0; k < order; k += 1) data[start + k * (order + 1) * dtype.lanes] = isWide(dtype) ? 1n : 1
  return result
}
