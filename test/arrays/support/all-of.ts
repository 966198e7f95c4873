import { NdArray } from '../../../src/arrays/array.ts'
import type { Elements } from '../../../src/arrays/types/dtype.ts'

/** All elements of an array, for which ranks wait: a rank that blocks takes its processor from the others. */
export async function allOf(x: NdArray): Promise<Elements> {
  const node = NdArray.nodeOf(x)
  return (await new NdArray(node.spread?.gathered(node) ?? node).compute()).toTypedArray()
}
