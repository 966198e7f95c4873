import { type Block, newBlock } from '../../blocks/block.ts'
import { elementsOf } from '../../blocks/copying.ts'
import { ArrayError, shapeText } from '../../errors.ts'
import { type DType, type Elements, int32, isInteger, isWide } from '../../types/dtype.ts'

/**
 * A matrix of which only some elements are kept, row by row (CSR), as SciPy's `csr_array` has it. The entries of row i
 * are those from `indptr[i]` to before `indptr[i + 1]`; all other elements are 0.
 */
export interface CompressedRows {
  /** How many rows and columns there are. */
  readonly shape: readonly number[]
  /** int32, one more than there are rows. */
  readonly indptr: Block
  /** int32: the column of each entry, rising within a row. */
  readonly indices: Block
  /** The element of each entry. */
  readonly data: Block
}

/** The parts of a matrix as typed arrays. */
export interface RowEntries {
  readonly starts: Int32Array
  readonly columns: Int32Array
  readonly values: Elements
}

/** As many entries as an int32 counts. */
const ENTRIES_MAX = 2 ** 31 - 1

/** The entries of a matrix, whose parts are checked as far as memory depends on it. */
export function entriesOf({ shape, indptr, indices, data }: CompressedRows): RowEntries {
  const [rows, columns] = matrixShape(shape)
  if (indptr.dtype !== int32 || indices.dtype !== int32)
    throw new ArrayError(
      'TYPE',
      `indptr and indices must be int32, not ${indptr.dtype} and ${indices.dtype}; use astype()`,
    )
  const count = indices.shape[0]!
  if (indptr.shape.length !== 1 || indptr.shape[0] !== rows + 1)
    throw new ArrayError('SHAPE', `indptr has shape ${shapeText(indptr.shape)}; ${rows} rows take (${rows + 1},)`)
  if (indices.shape.length !== 1 || data.shape.length !== 1 || data.shape[0] !== count)
    throw new ArrayError(
      'SHAPE',
      `indices and data have shapes ${shapeText(indices.shape)} and ${shapeText(data.shape)}`,
    )
  const entries = {
    starts: elementsOf(indptr) as Int32Array,
    columns: elementsOf(indices) as Int32Array,
    values: elementsOf(data),
  }
  let last = 0
  for (const start of entries.starts) {
    if (start < last || start > count)
      throw new ArrayError('VALUE', `indptr must rise from 0 to ${count}; it has ${start} after ${last}`)
    last = start
  }
  for (const column of entries.columns)
    if (column < 0 || column >= columns)
      throw new ArrayError('INDEX', `column ${column} is out of bounds for shape ${shapeText(shape)}`)
  return entries
}

export function compressedRows(shape: readonly number[], dtype: DType, entries: RowEntries): CompressedRows {
  const { starts, columns, values } = entries
  const block = (type: DType, data: Elements): Block => ({
    ...newBlock(type, [0]),
    shape: [data.length / type.lanes],
    data,
  })
  return { shape, indptr: block(int32, starts), indices: block(int32, columns), data: block(dtype, values) }
}

/** The extents of a matrix. @throws ArrayError */
export function matrixShape(shape: readonly number[]): readonly [number, number] {
  const [rows = -1, columns = -1] = shape
  if (
    shape.length !== 2 ||
    ![rows, columns].every((extent) => Number.isInteger(extent) && extent >= 0 && extent <= ENTRIES_MAX)
  )
    throw new ArrayError('SHAPE', `a matrix of rows has two axes, each below 2**31, not shape ${shapeText(shape)}`)
  return [rows, columns]
}

/** Rows or columns as numbers. @throws ArrayError */
export function placesOf(block: Block, extent: number, axis: number): Int32Array {
  if (!isInteger(block.dtype))
    throw new ArrayError('TYPE', `arrays used as indices must be of integer type, not ${block.dtype}`)
  const elements = elementsOf(block)
  if (elements.length > ENTRIES_MAX)
    throw new ArrayError('MEMORY', `${elements.length} entries are too many: at most 2**31 - 1`)
  const places = isWide(block.dtype) ? Float64Array.from(elements as BigInt64Array, Number) : (elements as Int32Array)
  for (const place of places)
    if (place < 0 || place >= extent)
      throw new ArrayError('INDEX', `index ${place} is out of bounds for axis ${axis} with size ${extent}`)
  return Int32Array.from(places)
}
