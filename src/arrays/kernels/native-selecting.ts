import { native } from '../../native/index.ts'
import { type Block, isContiguous, newResult, sizeOf } from '../blocks/block.ts'
import { bool, int64, uint32 } from '../types/dtype.ts'
import { Call, kernels } from './call.ts'

/** The numbers of the addon's selections. */
const Selection = { Take: 0, Count: 1, Compress: 2, Places: 3, Repeat: 4, Bins: 5 } as const

function start(selection: number, picked: Block): Call | undefined {
  const table = kernels()
  if (table === undefined || !isContiguous(picked)) return undefined
  const call = new Call()
  call.put(table.threads)
  call.put(selection)
  putAs(call, picked, [sizeOf(picked.shape)])
  return call
}

/** A contiguous block as one of another shape. */
function putAs(call: Call, block: Block, shape: readonly number[]): void {
  call.putShape(shape)
  const strides = shape.map((_, axis) => sizeOf(shape.slice(axis + 1)))
  call.putBlock({ ...block, shape, strides })
}

/**
 * The elements at positions of one axis, in whose place come the axes of `indices`. Undefined where the twin has to do
 * it, which also says which index is outside.
 */
export function takeNatively(block: Block, axis: number, indices: Block): Block | undefined {
  if ((indices.dtype !== int64 && indices.dtype !== uint32) || !isContiguous(block)) return undefined
  const call = start(Selection.Take, indices)
  if (call === undefined) return undefined
  const outer = block.shape.slice(0, axis)
  const inner = block.shape.slice(axis + 1)
  const [before, after, count] = [sizeOf(outer), sizeOf(inner), sizeOf(indices.shape)]
  const result = newResult(block.dtype, [...outer, ...indices.shape, ...inner])
  putAs(call, result, [before, count, after])
  putAs(call, block, [before, block.shape[axis]!, after])
  return call.run(native.selectFromArray) === count ? result : undefined
}

/** How many elements of a mask are true; undefined where the twin has to count them. */
export function countNatively(mask: Block): number | undefined {
  return mask.dtype === bool ? start(Selection.Count, mask)?.run(native.selectFromArray) : undefined
}

/** The elements where a mask over the first axes is true; undefined where the twin has to do it. */
export function compressNatively(block: Block, mask: Block): Block | undefined {
  const axes = mask.shape.length
  const fits =
    axes > 0 && axes <= block.shape.length && mask.shape.every((extent, axis) => extent === block.shape[axis])
  if (!fits || !isContiguous(block)) return undefined
  const count = countNatively(mask)
  const call = start(Selection.Compress, mask)
  if (count === undefined || call === undefined) return undefined
  const inner = block.shape.slice(axes)
  const result = newResult(block.dtype, [count, ...inner])
  putAs(call, result, [count, sizeOf(inner)])
  putAs(call, block, [sizeOf(mask.shape), sizeOf(inner)])
  call.run(native.selectFromArray)
  return result
}

/** The places of a mask's true elements in row-major order; undefined where the twin has to do it. */
export function placesNatively(mask: Block): Block | undefined {
  const count = countNatively(mask)
  const call = start(Selection.Places, mask)
  if (count === undefined || call === undefined) return undefined
  const result = newResult(int64, [count])
  putAs(call, result, [count])
  call.run(native.selectFromArray)
  return result
}

/** Each element of a contiguous block as often, one after another; undefined where the twin has to do it. */
export function repeatNatively(block: Block, times: number): Block | undefined {
  const call = start(Selection.Repeat, block)
  if (call === undefined) return undefined
  const count = sizeOf(block.shape)
  const result = newResult(block.dtype, [count * times])
  putAs(call, result, [count, times])
  call.run(native.selectFromArray)
  return result
}

/** Counts into bins of int64, which are zeros, how often each number of int64 is there. False if one has no bin. */
export function countBinsNatively(numbers: Block, bins: Block): boolean {
  const call = start(Selection.Bins, numbers)
  if (call === undefined) return false
  putAs(call, bins, bins.shape)
  return call.run(native.selectFromArray) === sizeOf(numbers.shape)
}
