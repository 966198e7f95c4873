import type { Block } from '../blocks/block.ts'
import type { Scalar } from '../types/complex.ts'
import type { DType } from '../types/dtype.ts'

/**
 * What is computed element by element in one pass: steps over registers. A register holds some thousand neighbouring
 * elements at a time, so that what lies between the first operand and the result stays in the cache.
 */
export interface Program {
  /** The shape of every input and output: inputs are broadcast to it, by strides of 0, before. */
  readonly shape: readonly number[]
  /** Registers 0, 1, … hold these. */
  readonly inputs: readonly Block[]
  /** The registers after those of the inputs hold these, the same for every element. */
  readonly constants: readonly { readonly dtype: DType; readonly value: Scalar }[]
  /** The registers after those, one for each step in order. A step names registers before its own. */
  readonly steps: readonly Step[]
  /** Where the elements of a register are written. No output lies over an input, unless element on element. */
  readonly outputs: readonly { readonly register: number; readonly block: Block }[]
}

export interface Step {
  /** The name in the table of kernels: `add`, `exp`, `where`, `cast`, … */
  readonly operation: string
  /** The data type that all operands have (of `where`: the second and third; the first is bool). */
  readonly from: DType
  /** The data type of the result: that of `from`, bool for comparisons, the target of `cast`, … */
  readonly to: DType
  readonly operands: readonly number[]
}
