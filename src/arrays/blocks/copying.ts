import type { Elements } from '../types/dtype.ts'
import { type Block, isContiguous, newResult, sizeOf } from './block.ts'
import { broadcastTo } from './layout.ts'
import { moveWords, wordsOf } from './words.ts'

/** The elements in row-major order as one typed array: a part of the block's own memory if they lie so, else a copy. */
export function elementsOf(block: Block): Elements {
  const { data, offset, dtype } = isContiguous(block) ? block : copyOf(block)
  const start = offset * dtype.lanes
  const end = start + sizeOf(block.shape) * dtype.lanes
  return start === 0 && end === data.length ? data : (data.subarray(start, end) as Elements)
}

/** The block itself if it lies in row-major order, else a copy that does. */
export function contiguous(block: Block): Block {
  return isContiguous(block) ? block : copyOf(block)
}

/** The same elements in new memory, in row-major order. */
export function copyOf(block: Block): Block {
  const copy = newResult(block.dtype, block.shape)
  copyInto(copy, block)
  return copy
}

/** Writes the elements of a block of the same type, which is broadcast to the target's shape, into the target. */
export function copyInto(target: Block, source: Block): void {
  const spread = broadcastTo(source, target.shape)
  const size = sizeOf(target.shape)
  if (size === 0) return
  const { lanes } = target.dtype
  if (isContiguous(target) && isContiguous(spread)) {
    copyRun(target.data, target.offset * lanes, spread.data, spread.offset * lanes, size * lanes)
    return
  }
  const apart = mayOverlap(target, spread) ? copyOf(spread) : spread
  const { length, steps, each } = anyRowsOf(target.shape, [target.strides, apart.strides])
  const [targetStep = 0, sourceStep = 0] = steps
  if (targetStep === 1 && sourceStep === 1 && length >= RUN_MIN)
    each(([to = 0, from = 0]) => {
      const start = (apart.offset + from) * lanes
      copyRun(target.data, (target.offset + to) * lanes, apart.data, start, length * lanes)
    })
  else {
    const { words, each: perElement } = wordsOf(target.data, target.dtype)
    const writes = { words, place: 0, step: targetStep }
    const reads = { words: wordsOf(apart.data, apart.dtype).words, place: 0, step: sourceStep }
    each(([to = 0, from = 0]) => {
      writes.place = target.offset + to
      reads.place = apart.offset + from
      moveWords(writes, reads, length, perElement)
    })
  }
}

/** From this number of neighbours on, the engine's own copying is faster than a loop. */
const RUN_MIN = 64

function copyRun(target: Elements, targetStart: number, source: Elements, start: number, length: number): void {
  const whole = start === 0 && length === source.length
  ;(target as Float64Array).set((whole ? source : source.subarray(start, start + length)) as Float64Array, targetStart)
}

/** Do they share memory, so that a write of one may come before a read of the other? */
function mayOverlap(first: Block, second: Block): boolean {
  if (first.data.buffer !== second.data.buffer) return false
  const one = bytesOf(first)
  const two = bytesOf(second)
  return one.start < two.end && two.start < one.end
}

/** From where to where in its buffer the elements of a block lie. */
function bytesOf({ data, dtype, shape, strides, offset }: Block): { readonly start: number; readonly end: number } {
  let first = offset
  let last = offset
  shape.forEach((extent, axis) => {
    const reach = (extent - 1) * strides[axis]!
    if (reach < 0) first += reach
    else last += reach
  })
  return { start: data.byteOffset + first * dtype.bytes, end: data.byteOffset + (last + 1) * dtype.bytes }
}

/** How to walk blocks of one shape row by row, in row-major order. Places count elements from each block's offset. */
export interface Rows {
  /** Elements of a row, and how far apart they lie in each block. */
  readonly length: number
  readonly steps: readonly number[]
  readonly each: (visit: (places: readonly number[]) => void) => void
}

/** Neighbouring axes that lie behind each other in every block are one, so that rows are long. */
export function rowsOf(shape: readonly number[], strides: readonly (readonly number[])[]): Rows {
  return rowsAlongLast(joinAxes(shape, strides))
}

/** As above, in any order: where rows along the last axis are short, along the longest axis. */
function anyRowsOf(shape: readonly number[], strides: readonly (readonly number[])[]): Rows {
  const joined = joinAxes(shape, strides)
  const { extents, steps } = joined
  if ((extents.at(-1) ?? 0) >= 16) return rowsAlongLast(joined)
  const longest = extents.indexOf(Math.max(...extents))
  for (const list of [extents, ...steps]) list.push(...list.splice(longest, 1))
  return rowsAlongLast(joined)
}

function rowsAlongLast({ extents, steps }: Joined): Rows {
  const length = extents.pop() ?? 1
  const inner = steps.map((one) => one.pop() ?? 0)
  return { length, steps: inner, each: (visit) => eachRow(extents, steps, visit) }
}

interface Joined {
  readonly extents: number[]
  readonly steps: number[][]
}

function joinAxes(shape: readonly number[], strides: readonly (readonly number[])[]): Joined {
  const extents: number[] = []
  const steps: number[][] = strides.map(() => [])
  for (let axis = 0; axis < shape.length; axis += 1) {
    const extent = shape[axis]!
    if (extent === 1) continue
    const behind = extents.length > 0 && steps.every((one, index) => one.at(-1) === strides[index]![axis]! * extent)
    if (behind) extents[extents.length - 1] = extents.at(-1)! * extent
    else extents.push(extent)
    steps.forEach((one, index) => {
      const stride = strides[index]![axis]!
      if (behind) one[one.length - 1] = stride
      else one.push(stride)
    })
  }
  return { extents, steps }
}

function eachRow(
  extents: readonly number[],
  steps: readonly number[][],
  visit: (places: readonly number[]) => void,
): void {
  const rows = sizeOf(extents)
  const indices = new Array<number>(extents.length).fill(0)
  const places = steps.map(() => 0)
  for (let row = 0; row < rows; row += 1) {
    visit(places)
    for (let axis = extents.length - 1; axis >= 0; axis -= 1) {
      const extent = extents[axis]!
      const index = indices[axis]! + 1
      const turned = index === extent
      indices[axis] = turned ? 0 : index
      for (let block = 0; block < steps.length; block += 1) {
        const step = steps[block]![axis]!
        places[block] = places[block]! + (turned ? step - step * extent : step)
      }
      if (!turned) break
    }
  }
}
