import { rowMajor, sizeOf } from '../blocks/block.ts'
import { indexOfPlace, intervalOf, intervalsOf } from './axis-partition.ts'
import type { Partition } from './partition.ts'

/** Elements that lie one after another in an array in row-major order: the number of the first, and how many. */
export interface Run {
  readonly start: number
  readonly length: number
}

/** What a rank has of an array: the shape of its part, and where the elements lie in the whole. */
export interface PartOfArray {
  readonly shape: readonly number[]
  readonly runs: Iterable<Run>
}

/**
 * The elements of a rank's part as runs of the whole array. In the order of the runs they lie one after another in the
 * part.
 */
export function* runsOf(partition: Partition, rank: number): Generator<Run> {
  const { axes, shape } = partition
  const parts = partition.partsOf(rank)
  const own = partition.shapeOf(rank)
  if (sizeOf(own) === 0 || !partition.has(rank)) return
  const strides = rowMajor(shape)
  // All axes after this one are whole: an interval of it is a run.
  const last = Math.max(
    0,
    axes.findLastIndex(({ kind }) => kind !== 'whole'),
  )
  const axis = axes[last]
  if (axis === undefined) {
    yield { start: 0, length: 1 }
    return
  }
  const stride = strides[last]!
  const outer = own.slice(0, last)
  const place = outer.map(() => 0)
  for (let turn = 0; turn < sizeOf(outer); turn += 1) {
    const start = place.reduce((sum, each, at) => sum + indexOfPlace(axes[at]!, parts[at]!, each) * strides[at]!, 0)
    for (let at = 0; at < intervalsOf(axis, parts[last]!); at += 1) {
      const { begin, end } = intervalOf(axis, parts[last]!, at)
      yield { start: start + begin * stride, length: (end - begin) * stride }
    }
    for (let at = last - 1; at >= 0; at -= 1) {
      place[at]! += 1
      if (place[at]! < outer[at]!) break
      place[at] = 0
    }
  }
}
