import { type Block, newBlock } from '../../blocks/block.ts'
import { axisOf, broadcastShapes, withoutAxes } from '../../blocks/layout.ts'
import { ArrayError, shapeText } from '../../errors.ts'
import type { Step } from '../../kernels/program.ts'
import { runProgram } from '../../kernels/run-program.ts'
import type { DType } from '../../types/dtype.ts'
import { promote } from '../../types/promotion.ts'

/** The cross product of vectors of three elements along an axis; other axes are broadcast. */
export function cross(x1: Block, x2: Block, { axis = -1 }: { readonly axis?: number | bigint } = {}): Block {
  const shape = broadcastShapes(x1.shape, x2.shape)
  const position = axisOf(axis, shape.length)
  for (const { shape: own } of [x1, x2])
    if (own[axisOf(position - shape.length, own.length)] !== 3)
      throw new ArrayError(
        'SHAPE',
        `incompatible dimensions for cross product (dimension must be 3): ${shapeText(x1.shape)} and ` +
          `${shapeText(x2.shape)} along axis ${axis}`,
      )
  const dtype = promote(x1.dtype, x2.dtype)
  const result = newBlock(dtype, shape)
  const parts = (block: Block): Block[] =>
    [0, 1, 2].map((index) => withoutAxes(block, [position - shape.length + block.shape.length], [index]))
  const outputs = parts(result)
  const casts = [...Array<DType>(3).fill(x1.dtype), ...Array<DType>(3).fill(x2.dtype)].map(
    (from, register): Step => ({ operation: 'cast', from, to: dtype, operands: [register] }),
  )
  const binary = (operation: string, first: number, second: number): Step => ({
    operation,
    from: dtype,
    to: dtype,
    operands: [first, second],
  })
  // Registers: 0 to 5 the operands, 6 to 11 these in the common type, then three for each element of the result.
  const steps = [0, 1, 2].flatMap((index) => {
    const [next, last] = [(index + 1) % 3, (index + 2) % 3]
    const register = 12 + 3 * index
    return [
      binary('multiply', 6 + next, 9 + last),
      binary('multiply', 6 + last, 9 + next),
      binary('subtract', register, register + 1),
    ]
  })
  runProgram({
    shape: outputs[0]!.shape,
    inputs: [...parts(x1), ...parts(x2)],
    constants: [],
    steps: [...casts, ...steps],
    outputs: outputs.map((block, index) => ({ register: 14 + 3 * index, block })),
  })
  return result
}
