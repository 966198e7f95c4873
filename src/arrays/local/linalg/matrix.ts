import { type Block, newBlock } from '../../blocks/block.ts'
import { rowsOf } from '../../blocks/copying.ts'
import { broadcastShapes, broadcastTo } from '../../blocks/layout.ts'
import { ArrayError } from '../../errors.ts'
import { type DType, float64, isComplex, isFloating, isWide } from '../../types/dtype.ts'

/**
 * One matrix for a computation: float64 in row-major order, real and imaginary parts apart. Most algorithms here go
 * along columns. They take a transposed matrix, so that a column is a run of memory.
 */
export interface Matrix {
  readonly rows: number
  readonly columns: number
  readonly re: Float64Array
  /** Not there if all elements are real. */
  readonly im: Float64Array | undefined
}

export function newMatrix(rows: number, columns: number, like: { readonly im: Float64Array | undefined }): Matrix {
  const size = rows * columns
  return { rows, columns, re: new Float64Array(size), im: like.im === undefined ? undefined : new Float64Array(size) }
}

export function identityMatrix(rows: number, columns: number, like: { readonly im: Float64Array | undefined }): Matrix {
  const matrix = newMatrix(rows, columns, like)
  for (let k = 0; k < Math.min(rows, columns); k += 1) matrix.re[k * columns + k] = 1
  return matrix
}

/** The type of a decomposition: that of the elements, or float64 for integers. */
export function floatingOf(type: DType): DType {
  return isFloating(type) ? type : float64
}

/** How many rows and columns the matrices of a stack have: the last two axes. @throws ArrayError */
export function matrixShape({ shape }: Block): readonly [rows: number, columns: number] {
  if (shape.length < 2)
    throw new ArrayError('SHAPE', `${shape.length}-dimensional array given. Array must be at least two-dimensional`)
  return [shape.at(-2)!, shape.at(-1)!]
}

/** The order of square matrices. @throws ArrayError */
export function squareOrder(block: Block): number {
  const [rows, columns] = matrixShape(block)
  if (rows !== columns) throw new ArrayError('SHAPE', 'Last 2 dimensions of the array must be square')
  return rows
}

/** A view with rows and columns exchanged. */
export function transposed(block: Block): Block {
  matrixShape(block)
  const exchange = (list: readonly number[]): number[] => [...list.slice(0, -2), list.at(-1)!, list.at(-2)!]
  return { ...block, shape: exchange(block.shape), strides: exchange(block.strides) }
}

/** All axes but the last two, or as many as said. */
export function stackShape({ shape }: Block, axes: number = 2): readonly number[] {
  return shape.slice(0, shape.length - axes)
}

/**
 * Visits the members of stacks together. The last axes of a block are a member, as many as `axes` says for it. The axes
 * before count members, and are broadcast. A place counts elements in the block's memory.
 */
export function eachOfStacks(
  blocks: readonly Block[],
  axes: readonly number[],
  visit: (places: readonly number[]) => void,
): void {
  const stacks = blocks.map((block, index) => {
    const count = block.shape.length - axes[index]!
    return { ...block, shape: block.shape.slice(0, count), strides: block.strides.slice(0, count) }
  })
  const shape = broadcastShapes(...stacks.map((stack) => stack.shape))
  const walk = rowsOf(
    shape,
    stacks.map((stack) => broadcastTo(stack, shape).strides),
  )
  walk.each((places) => {
    for (let index = 0; index < walk.length; index += 1)
      visit(places.map((place, block) => blocks[block]!.offset + place + index * walk.steps[block]!))
  })
}

/** The matrix at a place of a stack, with room for more columns at the right. */
export function readMatrix(block: Block, place: number, more: number = 0): Matrix {
  const [rows, columns] = matrixShape(block)
  const complex = isComplex(block.dtype)
  const width = columns + more
  const matrix = newMatrix(rows, width, { im: complex ? (block.data as Float64Array) : undefined })
  readInto(matrix, 0, block, place)
  return matrix
}

/** Writes the matrix at a place of a stack over columns from `column` on. */
export function readInto({ columns: width, re, im }: Matrix, column: number, block: Block, place: number): void {
  const [rows, columns] = matrixShape(block)
  const [down, right] = block.strides.slice(-2) as [number, number]
  const data = block.data as Float64Array
  const wide = isWide(block.dtype)
  const complex = isComplex(block.dtype)
  for (let row = 0; row < rows; row += 1) {
    let from = place + row * down
    let to = row * width + column
    for (let k = 0; k < columns; k += 1) {
      if (complex) {
        re[to] = data[2 * from]!
        if (im !== undefined) im[to] = data[2 * from + 1]!
      } else re[to] = wide ? Number(data[from]) : data[from]!
      from += right
      to += 1
    }
  }
}

/** Writes a part of a matrix, from row 0 and the column on, as the member of a stack at a place. */
export function writeMatrix(block: Block, place: number, { columns: width, re, im }: Matrix, column: number = 0): void {
  const [rows, columns] = matrixShape(block)
  const [down, right] = block.strides.slice(-2) as [number, number]
  const { data } = block
  const complex = isComplex(block.dtype)
  for (let row = 0; row < rows; row += 1) {
    let from = row * width + column
    let to = place + row * down
    for (let k = 0; k < columns; k += 1) {
      if (complex) {
        data[2 * to] = re[from]!
        data[2 * to + 1] = im === undefined ? 0 : im[from]!
      } else data[to] = re[from]!
      from += 1
      to += right
    }
  }
}

/** Writes numbers as the member of a stack of vectors. */
export function writeVector(block: Block, place: number, values: ArrayLike<number>): void {
  const stride = block.strides.at(-1)!
  for (let k = 0; k < block.shape.at(-1)!; k += 1) block.data[place + k * stride] = values[k]!
}

/** Conjugates in place. */
export function conjugateMatrix(matrix: Matrix): Matrix {
  if (matrix.im !== undefined) for (let at = 0; at < matrix.im.length; at += 1) matrix.im[at] = -matrix.im[at]!
  return matrix
}

/** A new block for the results of each member of a stack. */
export function newStack(stack: readonly number[], dtype: DType, ...member: readonly number[]): Block {
  return newBlock(dtype, [...stack, ...member])
}

/**
 * Divides by the power of two that brings the largest element near 1, so that no square of an element overflows.
 * Returns the power, by which results are multiplied. A matrix with elements that are not finite stays as it is.
 */
export function scaleToOne({ re, im }: Matrix): number {
  let largest = 0
  for (const part of im === undefined ? [re] : [re, im])
    for (let at = 0; at < part.length; at += 1) {
      const size = Math.abs(part[at]!)
      if (!(size <= largest)) largest = size
      if (size === Number.POSITIVE_INFINITY || Number.isNaN(size)) return 1
    }
  if (largest === 0) return 1
  const scale = 2 ** Math.max(-1022, Math.min(1022, Math.floor(Math.log2(largest))))
  if (scale === 1) return 1
  for (const part of im === undefined ? [re] : [re, im])
    for (let at = 0; at < part.length; at += 1) part[at] = part[at]! / scale
  return scale
}

/** Is each element a finite number? */
export function hasOnlyFinite({ re, im }: Matrix): boolean {
  return re.every(Number.isFinite) && (im === undefined || im.every(Number.isFinite))
}
