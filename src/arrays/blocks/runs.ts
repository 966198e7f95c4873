import type { Elements } from '../types/dtype.ts'
import { type Block, isContiguous, sizeOf } from './block.ts'

/** Elements start to start + length of the block in row-major order, next to each other. */
export type RunReader = (start: number, length: number) => Elements

/** Reads runs of a block: where it lies in row-major order, from its own memory; else they are copied. */
export function runReader(block: Block, lengthMax: number): RunReader {
  const { data, offset, dtype } = block
  const { lanes } = dtype
  if (isContiguous(block)) {
    const size = sizeOf(block.shape) * lanes
    if (offset === 0 && data.length === size && size <= lengthMax * lanes) return () => data
    return (start, length) => data.subarray((offset + start) * lanes, (offset + start + length) * lanes) as Elements
  }
  const copy = new dtype.Elements(lengthMax * lanes)
  const pieces = piecesOf(block)
  const take = lanes === 2 ? takeComplex : takeNumbers
  return (start, length) => {
    pieces(start, length, (place, step, count, at) => take(copy, at, 1, data, place, step, count))
    return copy
  }
}

/** Writes runs of a block, whose strides are such that no two elements share memory. */
export function writeRun(block: Block, start: number, length: number, from: Elements): void {
  const put = block.dtype.lanes === 2 ? takeComplex : takeNumbers
  piecesOf(block)(start, length, (place, step, count, at) => put(block.data, place, step, from, at, 1, count))
}

/** Visits the pieces of a run that lie at even steps: the place, the step, how many, and after how many of the run. */
type Pieces = (
  start: number,
  length: number,
  visit: (place: number, step: number, count: number, at: number) => void,
) => void

function piecesOf({ shape, strides, offset }: Block): Pieces {
  const last = shape.length - 1
  const rowLength = shape[last] ?? 1
  const step = strides[last] ?? 0
  return (start, length, visit) => {
    let column = start % rowLength
    let row = (start - column) / rowLength
    for (let at = 0; at < length; row += 1) {
      const count = Math.min(rowLength - column, length - at)
      let place = offset + column * step
      for (let axis = last - 1, left = row; axis >= 0; axis -= 1) {
        const extent = shape[axis]!
        const index = left % extent
        place += index * strides[axis]!
        left = (left - index) / extent
      }
      visit(place, step, count, at)
      at += count
      column = 0
    }
  }
}

type Take = (
  to: Elements,
  toPlace: number,
  toStep: number,
  from: Elements,
  fromPlace: number,
  fromStep: number,
  count: number,
) => void

/** Copies numbers that lie at even steps to others that do. */
export const takeNumbers: Take = (to, toPlace, toStep, from, fromPlace, fromStep, count) => {
  const source = from as Float64Array
  for (let index = 0, read = fromPlace, write = toPlace; index < count; index += 1) {
    to[write] = source[read]!
    read += fromStep
    write += toStep
  }
}

/** As above, for complex numbers. */
export const takeComplex: Take = (to, toPlace, toStep, from, fromPlace, fromStep, count) => {
  const source = from as Float64Array
  for (let index = 0; index < count; index += 1) {
    const read = 2 * (fromPlace + index * fromStep)
    const write = 2 * (toPlace + index * toStep)
    to[write] = source[read]!
    to[write + 1] = source[read + 1]!
  }
}
