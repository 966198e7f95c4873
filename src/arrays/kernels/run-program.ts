import { type Block, isContiguous, sizeOf } from '../blocks/block.ts'
import { writeElement } from '../blocks/elements.ts'
import { broadcastTo } from '../blocks/layout.ts'
import { type RunReader, runReader, writeRun } from '../blocks/runs.ts'
import type { Scalar } from '../types/complex.ts'
import type { DType, Elements } from '../types/dtype.ts'
import { runNatively } from './native.ts'
import type { Program } from './program.ts'
import { twinOf } from './twins.ts'

/** Elements of a register: several registers of 8 bytes an element fit the second cache of a processor. */
const CHUNK = 4096

/** Computes a program, by the native kernels where there are all that it needs. */
export function runProgram(program: Program): void {
  if (sizeOf(program.shape) > 0 && !runNatively(program)) runByTwins(program)
}

/** Computes a program chunk by chunk: each step of a chunk is one call of a kernel. */
export function runByTwins(program: Program): void {
  const size = sizeOf(program.shape)
  const chunk = Math.min(CHUNK, size)
  const readers = program.inputs.map((block) => runReader(broadcastTo(block, program.shape), chunk))
  const kernels = program.steps.map(twinOf)
  const first = program.inputs.length + program.constants.length
  // What a step computes is written to where it is wanted, if elements lie there as they do in a register. Over an
  // input it is not, as later steps and outputs may read the input: all of a chunk is computed before it is written.
  const readIn = new Set(program.inputs.map(({ data }) => data.buffer))
  const direct = new Map<number, RunReader>()
  const copied: { readonly register: number; readonly block: Block }[] = []
  for (const output of program.outputs) {
    const { register, block } = output
    const isApart = isContiguous(block) && !readIn.has(block.data.buffer)
    if (register >= first && !direct.has(register) && isApart) direct.set(register, runReader(block, chunk))
    else copied.push(output)
  }
  const registers: Elements[] = [
    ...program.inputs.map(({ data }) => data),
    ...program.constants.map(({ dtype, value }) => filled(dtype, value, chunk)),
    ...program.steps.map(({ to }, index) =>
      direct.has(first + index) ? new to.Elements(0) : new to.Elements(chunk * to.lanes),
    ),
  ]
  for (let start = 0; start < size; start += chunk) {
    const length = Math.min(chunk, size - start)
    for (let index = 0; index < readers.length; index += 1) registers[index] = readers[index]!(start, length)
    for (const [register, place] of direct) registers[register] = place(start, length)
    for (let index = 0; index < kernels.length; index += 1) {
      const operands = program.steps[index]!.operands.map((register) => registers[register]!)
      kernels[index]!(operands, registers[first + index]!, length)
    }
    for (const { register, block } of copied) writeRun(block, start, length, registers[register]!)
  }
}

/** A register that holds the same element throughout. */
function filled(dtype: DType, value: Scalar, length: number): Elements {
  const elements = new dtype.Elements(length * dtype.lanes)
  for (let index = 0; index < length; index += 1) writeElement(elements, index, value)
  return elements
}
