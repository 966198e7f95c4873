import { native } from '../../native/index.ts'
import type { Block } from '../blocks/block.ts'
import { Call, isWalkable, kernels } from './call.ts'

/**
 * The products of stacks of matrices, whose stacks are broadcast to that of `result`, a new block of the same type in
 * row-major order. Returns whether it has done the work.
 */
export function multiplyNatively(x1: Block, x2: Block, result: Block): boolean {
  const table = kernels()
  const isOneType = x1.dtype === result.dtype && x2.dtype === result.dtype
  if (table === undefined || !isOneType || !isWalkable(result.shape)) return false
  const stack = result.shape.slice(0, -2)
  const call = new Call()
  call.put(table.threads)
  for (const block of [x1, x2, result]) {
    const shape = [...stack, ...block.shape.slice(-2)]
    call.putShape(shape)
    call.putBlock(block, shape)
  }
  call.run(native.multiplyMatrices)
  return true
}
