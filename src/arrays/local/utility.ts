import { type Block, blockOver, newBlock, sizeOf } from '../blocks/block.ts'
import { axisOf, sameShape } from '../blocks/layout.ts'
import { ArrayError, shapeText } from '../errors.ts'
import { runProgram } from '../kernels/run-program.ts'
import { bool } from '../types/dtype.ts'
import { maskOf } from './casting.ts'
import { concat } from './manipulation.ts'
import { type ReductionOptions, reduce, reducedShape } from './reduction.ts'
import { countOfAll } from './searching.ts'
import { search } from './sums.ts'

/** Is no element zero? */
export function all(x: Block, options: ReductionOptions = {}): Block {
  const mask = maskOf(x)
  const count = countOfAll(mask, options)
  if (count !== undefined) return truth(count === sizeOf(x.shape), reducedShape(x.shape, options))
  const result = reduce(mask, options, search(0))
  if (x.shape.includes(0)) result.data.fill(1 as never)
  return result
}

/** Is an element not zero? */
export function any(x: Block, options: ReductionOptions = {}): Block {
  const mask = maskOf(x)
  const count = countOfAll(mask, options)
  return count === undefined ? reduce(mask, options, search(1)) : truth(count > 0, reducedShape(x.shape, options))
}

const truth = (is: boolean, shape: readonly number[]): Block => blockOver(Uint8Array.of(is ? 1 : 0), bool, shape)

export interface DiffOptions {
  readonly axis?: number
  /** How many times differences are taken. */
  readonly n?: number
  /** What is put before and after the elements along the axis. */
  readonly prepend?: Block | null
  readonly append?: Block | null
}

/** Each element along the axis less the one before. */
export function diff(x: Block, { axis = -1, n = 1, prepend, append }: DiffOptions = {}): Block {
  if (!Number.isInteger(Number(n)) || n < 0) throw new ArrayError('VALUE', `order must be non-negative but got ${n}`)
  if (x.shape.length === 0) throw new ArrayError('SHAPE', 'diff requires input that is at least one dimensional')
  const position = axisOf(axis, x.shape.length)
  const parts = [prepend, x, append].filter((part) => part !== undefined && part !== null)
  for (const part of parts) if (part !== x) checkBeside(part, x, position)
  let result = parts.length === 1 ? x : concat(parts, { axis: position })
  const times = Math.min(Number(n), result.shape[position]!)
  for (let time = 0; time < times; time += 1) result = differences(result, position)
  return result
}

function checkBeside(part: Block, x: Block, axis: number): void {
  if (!sameShape(part.shape.toSpliced(axis, 1), x.shape.toSpliced(axis, 1)))
    throw new ArrayError(
      'SHAPE',
      `cannot put shape ${shapeText(part.shape)} beside ${shapeText(x.shape)} on axis ${axis}`,
    )
}

/** Of truth values, whether neighbours differ. */
function differences(x: Block, axis: number): Block {
  const { dtype } = x
  const extent = Math.max(0, x.shape[axis]! - 1)
  const shape = x.shape.with(axis, extent)
  const result = newBlock(dtype, shape)
  const before: Block = { ...x, shape }
  const after: Block = { ...before, offset: x.offset + x.strides[axis]! }
  const operation = dtype === bool ? 'not_equal' : 'subtract'
  runProgram({
    shape,
    inputs: [after, before],
    constants: [],
    steps: [{ operation, from: dtype, to: dtype, operands: [0, 1] }],
    outputs: [{ register: 2, block: result }],
  })
  return result
}
