import { type Block, newBlock } from '../../blocks/block.ts'
import { elementsOf } from '../../blocks/copying.ts'
import { ArrayError, shapeText } from '../../errors.ts'
import { bool, type DType, type Elements } from '../../types/dtype.ts'
import {
  type CompressedRows,
  compressedRows,
  entriesOf,
  matrixShape,
  placesOf,
  type RowEntries,
} from './compressed-rows.ts'

/** A matrix of the elements that stand at rows and columns. Those of one place are added, in their order. */
export function fromTriplets(rows: Block, columns: Block, data: Block, shape: readonly number[]): CompressedRows {
  const extents = matrixShape(shape)
  const count = data.shape[0] ?? 0
  if ([rows, columns, data].some((block) => block.shape.length !== 1 || block.shape[0] !== count))
    throw new ArrayError(
      'SHAPE',
      `rows, columns and elements must have one axis of one length: shapes ${[rows, columns, data].map((block) => shapeText(block.shape)).join(' ')}`,
    )
  const places = { rows: placesOf(rows, extents[0], 0), columns: placesOf(columns, extents[1], 1) }
  // By columns and then, stably, by rows: two passes of counting.
  const byColumn = stableOrder(places.columns, extents[1], undefined).order
  const { order, starts } = stableOrder(places.rows, extents[0], byColumn)
  return compressedRows(extents, data.dtype, withSums(order, starts, places.columns, elementsOf(data), data.dtype))
}

/** The elements that are not 0. */
export function fromDense(x: Block): CompressedRows {
  const [rows, columns] = matrixShape(x.shape)
  const elements = elementsOf(x)
  const { lanes } = x.dtype
  const starts = new Int32Array(rows + 1)
  const kept: number[] = []
  for (let row = 0; row < rows; row += 1) {
    for (let at = row * columns; at < (row + 1) * columns; at += 1) if (isNonzero(elements, at, lanes)) kept.push(at)
    starts[row + 1] = kept.length
  }
  const values = new x.dtype.Elements(kept.length * lanes)
  const at = Int32Array.from(kept, (place) => place % columns)
  for (const [index, place] of kept.entries()) copyElement(values, index, elements, place, lanes)
  return compressedRows([rows, columns], x.dtype, { starts, columns: at, values })
}

/** All elements. */
export function toDense(matrix: CompressedRows): Block {
  const { starts, columns, values } = entriesOf(matrix)
  const { dtype } = matrix.data
  const dense = newBlock(dtype, matrix.shape)
  const width = matrix.shape[1]!
  for (let row = 0; row < starts.length - 1; row += 1)
    for (let entry = starts[row]!; entry < starts[row + 1]!; entry += 1)
      addElement(dense.data, row * width + columns[entry]!, values, entry, dtype)
  return dense
}

/** Rows and columns exchanged. */
export function transpose(matrix: CompressedRows): CompressedRows {
  const { starts: from, columns, values } = entriesOf(matrix)
  const { dtype } = matrix.data
  const [rows, width] = matrixShape(matrix.shape)
  const { order, starts } = stableOrder(columns, width, undefined)
  const rowOf = new Int32Array(columns.length)
  for (let row = 0; row < rows; row += 1) rowOf.fill(row, from[row], from[row + 1])
  const turned = new dtype.Elements(values.length)
  for (const [index, entry] of order.entries()) copyElement(turned, index, values, entry, dtype.lanes)
  const entries = { starts, columns: order.map((entry) => rowOf[entry]!), values: turned }
  return compressedRows([width, rows], dtype, entries)
}

/** The rows from `start` to before `stop`, without a copy of their entries: a rank's part of a matrix. */
export function rowsBetween(matrix: CompressedRows, start: number, stop: number): CompressedRows {
  const { starts, columns, values } = entriesOf(matrix)
  const [rows, width] = matrixShape(matrix.shape)
  if (!Number.isInteger(start) || !Number.isInteger(stop) || start < 0 || stop < start || stop > rows)
    throw new ArrayError('INDEX', `rows ${start} to ${stop} are out of bounds for shape ${shapeText(matrix.shape)}`)
  const first = starts[start]!
  const last = starts[stop]!
  const { lanes } = matrix.data.dtype
  return compressedRows([stop - start, width], matrix.data.dtype, {
    starts: starts.slice(start, stop + 1).map((at) => at - first),
    columns: columns.subarray(first, last),
    values: values.subarray(first * lanes, last * lanes) as Elements,
  })
}

/** The entries in rising order of their keys, those of one key as they were, and where each key's begin. */
function stableOrder(
  keys: Int32Array,
  extent: number,
  before: Int32Array | undefined,
): { readonly order: Int32Array; readonly starts: Int32Array } {
  const starts = new Int32Array(extent + 1)
  for (const key of keys) starts[key + 1]! += 1
  for (let key = 0; key < extent; key += 1) starts[key + 1]! += starts[key]!
  const next = starts.slice()
  const order = new Int32Array(keys.length)
  for (let index = 0; index < keys.length; index += 1) {
    const entry = before === undefined ? index : before[index]!
    order[next[keys[entry]!]!++] = entry
  }
  return { order, starts }
}

/** The entries in an order in which those of one place are neighbours, of which one is made. */
function withSums(
  order: Int32Array,
  starts: Int32Array,
  columns: Int32Array,
  from: Elements,
  dtype: DType,
): RowEntries {
  const newStarts = new Int32Array(starts.length)
  const kept = new Int32Array(order.length)
  const values = new dtype.Elements(order.length * dtype.lanes)
  let count = 0
  for (let row = 0; row < starts.length - 1; row += 1) {
    const first = count
    for (let index = starts[row]!; index < starts[row + 1]!; index += 1) {
      const entry = order[index]!
      const column = columns[entry]!
      const isNew = count === first || kept[count - 1] !== column
      if (isNew) {
        kept[count] = column
        copyElement(values, count, from, entry, dtype.lanes)
        count += 1
      } else addElement(values, count - 1, from, entry, dtype)
    }
    newStarts[row + 1] = count
  }
  return { starts: newStarts, columns: kept.slice(0, count), values: values.slice(0, count * dtype.lanes) as Elements }
}

function isNonzero(elements: Elements, at: number, lanes: number): boolean {
  // NaN is an entry, and so is a complex number with one part that is not 0.
  for (let lane = at * lanes; lane < (at + 1) * lanes; lane += 1) {
    const value = elements[lane]
    if (value !== 0 && value !== 0n) return true
  }
  return false
}

function copyElement(to: Elements, at: number, from: Elements, place: number, lanes: number): void {
  for (let lane = 0; lane < lanes; lane += 1) to[at * lanes + lane] = from[place * lanes + lane]!
}

function addElement(to: Elements, at: number, from: Elements, place: number, dtype: DType): void {
  const { lanes } = dtype
  for (let lane = 0; lane < lanes; lane += 1) {
    const sum = (to[at * lanes + lane] as number) + (from[place * lanes + lane] as number)
    to[at * lanes + lane] = dtype === bool ? Math.min(1, sum) : sum
  }
}
