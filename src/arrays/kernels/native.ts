import { native } from '../../native/index.ts'
import type { Block } from '../blocks/block.ts'
import { isWide } from '../types/dtype.ts'
import { Call, isWalkable, kernels } from './call.ts'
import type { Program } from './program.ts'

/**
 * The door to the native kernels. Each function returns whether it has done the work. It has not where there is no
 * addon or no kernel; then the caller computes it by the twin.
 */

/** Compute a program. Inputs are broadcast to its shape. */
export function runNatively({ shape, inputs, constants, steps, outputs }: Program): boolean {
  const table = kernels()
  if (table === undefined || !isWalkable(shape)) return false
  const call = new Call()
  call.put(table.threads)
  call.putShape(shape)
  call.put(inputs.length)
  call.put(constants.length)
  call.put(steps.length)
  call.put(outputs.length)
  for (const block of inputs) call.putBlock(block, shape)
  for (const { dtype, value } of constants) call.putConstant(dtype, value)
  for (const { operation, from, to, operands } of steps) {
    const number = table.find(operation, from, to)
    if (number === undefined) return false
    call.put(number)
    call.put(from.number)
    call.put(to.number)
    for (const register of operands) call.put(register)
  }
  for (const { register, block } of outputs) {
    call.put(register)
    call.putBlock(block)
  }
  call.run(native.runArrayProgram)
  return true
}

const REDUCTIONS = ['sum', 'prod', 'min', 'max'] as const
export type Reduction = (typeof REDUCTIONS)[number]

/**
 * Reduce the last axes of `input` into `output`, whose axes are the others. The elements are first cast to the type of
 * `output`. For sums and products that is int64, uint64 or a floating type, for the least and greatest that of `input`.
 * There is at least one element. `reduce` in `reducing.ts` is the twin.
 */
export function reduceNatively(reduction: Reduction, input: Block, output: Block): boolean {
  const table = kernels()
  const { lanes, kind } = output.dtype
  const isSum = reduction === 'sum' || reduction === 'prod'
  const fits = isSum
    ? isWide(output.dtype) || kind === 'real floating' || (lanes === 2 && reduction === 'sum')
    : lanes === 1 && input.dtype === output.dtype
  const castable = input.dtype === output.dtype || table?.find('cast', input.dtype, output.dtype) !== undefined
  if (table === undefined || !fits || !castable || !isWalkable(input.shape)) return false
  const call = new Call()
  call.put(table.threads)
  call.put(REDUCTIONS.indexOf(reduction))
  call.put(output.shape.length)
  call.putShape(input.shape)
  call.putBlock(input)
  call.putBlock(output)
  call.run(native.reduceArray)
  return true
}

/** Blocks of Philox. `philoxTwin` in `local/random/philox.ts` is the twin. */
export function philoxNatively(key: Uint32Array, counter: Uint32Array, words: Uint32Array): boolean {
  if (kernels() === undefined) return false
  native.philoxBlocks(key, counter, words)
  return true
}

/** Normal numbers of words, of which `counts` gets how many were taken and made; `normal.ts` has the twin. */
export function normalsNatively(
  layers: Float64Array,
  words: Uint32Array,
  numbers: Float64Array,
  counts: Uint32Array,
): boolean {
  if (kernels() === undefined) return false
  native.normalNumbers(layers, words, numbers, counts)
  return true
}
