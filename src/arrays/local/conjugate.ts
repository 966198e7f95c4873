import type { Block } from '../blocks/block.ts'
import { copyOf } from '../blocks/copying.ts'
import { isComplex } from '../types/dtype.ts'

/** The conjugate elements; a real block itself. */
export function conjugate(x: Block): Block {
  if (!isComplex(x.dtype)) return x
  const copy = copyOf(x)
  for (let at = 1; at < copy.data.length; at += 2) copy.data[at] = -(copy.data[at] as number)
  return copy
}
