import { type Block, newBlock } from '../../blocks/block.ts'
import { elementsOf } from '../../blocks/copying.ts'
import { ArrayError, shapeText } from '../../errors.ts'
import { bool, type DType, type Elements, isComplex, isInteger, isWide } from '../../types/dtype.ts'
import { promote } from '../../types/promotion.ts'
import { type CompressedRows, entriesOf, matrixShape, type RowEntries } from './compressed-rows.ts'

/**
 * A sparse matrix times a vector, or times each column of a matrix. Entries of a row are summed in the order of their
 * columns, in float64, and the sum is rounded once. So it is the same wherever the row lies.
 */
export function sparseMatmul(matrix: CompressedRows, x: Block): Block {
  const [rows, columns] = matrixShape(matrix.shape)
  const axes = x.shape.length
  if ((axes !== 1 && axes !== 2) || x.shape[0] !== columns)
    throw new ArrayError('SHAPE', `dimension mismatch: shapes ${shapeText(matrix.shape)} and ${shapeText(x.shape)}`)
  const dtype = promote(matrix.data.dtype, x.dtype)
  const entries = entriesOf(matrix)
  const result = newBlock(dtype, [rows, ...x.shape.slice(1)])
  const width = x.shape[1] ?? 1
  if (isWide(dtype)) addWide(entries, wideNumbers(elementsOf(x)), result.data as BigInt64Array, width)
  else if (isComplex(dtype)) addComplex(entries, matrix.data.dtype, elementsOf(x), x.dtype, result.data, width)
  else addReal(entries, numbers(elementsOf(x)), result.data as Float64Array, width, dtype)
  return result
}

type Numbers = Exclude<Elements, BigInt64Array | BigUint64Array>

function addReal(
  { starts, columns, values }: RowEntries,
  x: Numbers,
  result: Float64Array,
  width: number,
  dtype: DType,
): void {
  const own = numbers(values)
  if (isInteger(dtype) || dtype === bool) {
    addWhole({ starts, columns, values: own }, x, result, width, dtype)
    return
  }
  for (let row = 0; row + 1 < starts.length; row += 1) {
    const end = starts[row + 1]!
    for (let column = 0; column < width; column += 1) {
      let sum = 0
      for (let entry = starts[row]!; entry < end; entry += 1) sum += own[entry]! * x[columns[entry]! * width + column]!
      result[row * width + column] = sum
    }
  }
}

/** Integers wrap around, as their products do in a register. */
function addWhole(
  { starts, columns, values }: { starts: Int32Array; columns: Int32Array; values: Numbers },
  x: Numbers,
  result: Float64Array,
  width: number,
  dtype: DType,
): void {
  for (let row = 0; row + 1 < starts.length; row += 1)
    for (let column = 0; column < width; column += 1) {
      let sum = 0
      for (let entry = starts[row]!; entry < starts[row + 1]!; entry += 1)
        sum = (sum + Math.imul(values[entry]!, x[columns[entry]! * width + column]!)) | 0
      result[row * width + column] = dtype === bool ? Number(sum !== 0) : sum
    }
}

function addWide(
  { starts, columns, values }: RowEntries,
  x: BigInt64Array,
  result: BigInt64Array,
  width: number,
): void {
  const own = wideNumbers(values)
  for (let row = 0; row + 1 < starts.length; row += 1)
    for (let column = 0; column < width; column += 1) {
      let sum = 0n
      for (let entry = starts[row]!; entry < starts[row + 1]!; entry += 1)
        sum += own[entry]! * x[columns[entry]! * width + column]!
      result[row * width + column] = sum
    }
}

function addComplex(
  { starts, columns, values }: RowEntries,
  valueType: DType,
  x: Elements,
  xType: DType,
  result: Elements,
  width: number,
): void {
  const own = pairs(values, valueType)
  const other = pairs(x, xType)
  for (let row = 0; row + 1 < starts.length; row += 1)
    for (let column = 0; column < width; column += 1) {
      let re = 0
      let im = 0
      for (let entry = starts[row]!; entry < starts[row + 1]!; entry += 1) {
        const at = 2 * (columns[entry]! * width + column)
        re += own[2 * entry]! * other[at]! - own[2 * entry + 1]! * other[at + 1]!
        im += own[2 * entry]! * other[at + 1]! + own[2 * entry + 1]! * other[at]!
      }
      result[2 * (row * width + column)] = re
      result[2 * (row * width + column) + 1] = im
    }
}

function numbers(elements: Elements): Numbers {
  return elements instanceof BigInt64Array || elements instanceof BigUint64Array
    ? Float64Array.from(elements, Number)
    : elements
}

function wideNumbers(elements: Elements): BigInt64Array {
  return elements instanceof BigInt64Array || elements instanceof BigUint64Array
    ? (elements as BigInt64Array)
    : BigInt64Array.from(elements, BigInt)
}

/** Real and imaginary parts one after the other; of a real type, the imaginary part is 0. */
function pairs(elements: Elements, dtype: DType): Numbers {
  if (isComplex(dtype)) return elements as Numbers
  const real = numbers(elements)
  const both = new Float64Array(2 * real.length)
  for (let index = 0; index < real.length; index += 1) both[2 * index] = real[index]!
  return both
}
