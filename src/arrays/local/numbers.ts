import type { Block } from '../blocks/block.ts'
import { elementsOf } from '../blocks/copying.ts'
import { ArrayError } from '../errors.ts'
import { isComplex } from '../types/dtype.ts'

/** The elements in row-major order as new float64 numbers, to which 64-bit integers are rounded. */
export function numbersOf(block: Block, name: string): Float64Array {
  if (isComplex(block.dtype))
    throw new ArrayError(
      'TYPE',
      `${name} is ${block.dtype}, but only real numbers can be used; take a part or the absolute`,
    )
  const elements = elementsOf(block)
  if (elements instanceof BigInt64Array || elements instanceof BigUint64Array)
    return Float64Array.from(elements, Number)
  return new Float64Array(elements)
}
