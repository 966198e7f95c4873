import { type Block, newResult } from '../blocks/block.ts'
import { runProgram } from '../kernels/run-program.ts'
import { bool, type DType } from '../types/dtype.ts'

/** The block itself if it is of the type, else its elements as that type. */
export function castTo(block: Block, to: DType): Block {
  if (block.dtype === to) return block
  const result = newResult(to, block.shape)
  runProgram({
    shape: block.shape,
    inputs: [block],
    constants: [],
    steps: [{ operation: 'cast', from: block.dtype, to, operands: [0] }],
    outputs: [{ register: 1, block: result }],
  })
  return result
}

/** For each element, is it not zero? NaN is not. */
export function maskOf(block: Block): Block {
  return castTo(block, bool)
}
