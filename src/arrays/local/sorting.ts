import { type Block, blockOver } from '../blocks/block.ts'
import { copyOf } from '../blocks/copying.ts'
import { orderNatively, sortNatively } from '../kernels/native-sorting.ts'
import { type DType, type Elements, int64, isComplex, isFloating } from '../types/dtype.ts'
import { linesOf, takeRows } from './lines.ts'
import { type Keys, keysOf, orderRows, reverseKeys } from './ordering.ts'

export interface SortOptions {
  readonly axis?: number
  readonly descending?: boolean
  /** Sorting is always stable. */
  readonly stable?: boolean
}

/** The elements of each line in order, NaNs as the greatest of all. */
export function sort(x: Block, options: SortOptions = {}): Block {
  const { block, length, restore } = linesOf(x, options.axis ?? -1)
  if (isComplex(x.dtype)) return restore(takeRows(block, length, orderOf(block, length, options), block.shape))
  const native = sortNatively(block, length, options.descending ?? false)
  if (native !== undefined) return restore(native)
  const sorted = copyOf(block)
  for (let start = 0; start < sorted.data.length; start += length) {
    sortRow(sorted.data.subarray(start, start + length), sorted.dtype, options.descending ?? false)
  }
  return restore(sorted)
}

/** The engine's own sort compares numbers and puts NaNs last, but -0 before 0, which are equal: their order is kept. */
function sortRow(row: Elements, dtype: DType, descending: boolean): void {
  const zeros = isFloating(dtype) ? negativeZeros(row as Float64Array) : []
  row.sort()
  if (descending) row.reverse()
  if (!zeros.includes(true)) return
  const first = (row as Float64Array).indexOf(0)
  for (const [index, negative] of zeros.entries()) row[first + index] = negative ? -0 : 0
}

/** For each zero of a row, is it negative? */
function negativeZeros(row: Float32Array | Float64Array): boolean[] {
  const zeros: boolean[] = []
  for (let index = 0; index < row.length; index += 1) {
    const value = row[index]!
    if (value === 0) zeros.push(1 / value < 0)
  }
  return zeros
}

/** Where in its line each element of `sort` stands. */
export function argsort(x: Block, options: SortOptions = {}): Block {
  const { block, length, restore } = linesOf(x, options.axis ?? -1)
  const native = orderNatively(block, length, options.descending ?? false)
  return restore(native ?? indexBlock(orderOf(block, length, options), block.shape))
}

function orderOf(block: Block, length: number, { descending = false }: SortOptions): Uint32Array {
  const keys = keysOf(block)
  return orderRows(descending ? reverseKeys(keys) : keys, length)
}

/** Where the elements of a block with one axis stand in ascending order. Its keys are at hand. */
export function ascendingOrder(block: Block, keys: Keys): Uint32Array {
  const native = orderNatively(block, keys.count, false)
  if (native === undefined) return orderRows(keys, keys.count)
  const halves = new Uint32Array(native.data.buffer)
  const order = new Uint32Array(keys.count)
  for (let index = 0; index < order.length; index += 1) order[index] = halves[2 * index]!
  return order
}

/** Positions as a block of int64, the data type of indices. */
export function indexBlock(positions: Uint32Array, shape: readonly number[]): Block {
  const elements = new BigInt64Array(positions.length)
  const halves = new Uint32Array(elements.buffer)
  for (let index = 0; index < positions.length; index += 1) halves[2 * index] = positions[index]!
  return blockOver(elements, int64, shape)
}
