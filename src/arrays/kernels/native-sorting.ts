import { native } from '../../native/index.ts'
import { type Block, newResult } from '../blocks/block.ts'
import { int64, isComplex } from '../types/dtype.ts'
import { Call, kernels } from './call.ts'

/** The rows of a contiguous block, `length` elements each, in order; undefined where the twin has to do it. */
export function sortNatively(block: Block, length: number, descending: boolean): Block | undefined {
  return run(block, length, descending, newResult(block.dtype, block.shape))
}

/** Where in its row each element of the sorted row stands, as int64; undefined where the twin has to do it. */
export function orderNatively(block: Block, length: number, descending: boolean): Block | undefined {
  return run(block, length, descending, newResult(int64, block.shape), true)
}

function run(block: Block, length: number, descending: boolean, result: Block, isOrder = false): Block | undefined {
  const table = kernels()
  if (table === undefined || isComplex(block.dtype)) return undefined
  const count = length === 0 ? 0 : result.data.length / length
  const rows = { shape: [count, length], strides: [length, 1] }
  const call = new Call()
  call.put(table.threads)
  call.put(Number(descending))
  call.put(Number(isOrder))
  call.putShape(rows.shape)
  call.putBlock({ ...block, ...rows })
  call.putBlock({ ...result, ...rows })
  call.run(native.sortArray)
  return result
}
