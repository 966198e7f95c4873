import type { Block } from '../blocks/block.ts'
import { copyOf, elementsOf } from '../blocks/copying.ts'
import { ArrayError } from '../errors.ts'
import { float64, isComplex } from '../types/dtype.ts'
import { castTo } from './casting.ts'

/** The elements in row-major order as new float64 numbers, to which 64-bit integers are rounded. */
export function numbersOf(block: Block, name: string): Float64Array {
  if (isComplex(block.dtype))
    throw new ArrayError(
      'TYPE',
      `${name} is ${block.dtype}, but only real numbers can be used; take a part or the absolute`,
    )
  return elementsOf(block.dtype === float64 ? copyOf(block) : castTo(block, float64)) as Float64Array
}
