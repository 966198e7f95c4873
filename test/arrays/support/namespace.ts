import { nodeOf } from '../../../src/arrays/functions/as-node.ts'
import { mapIn } from '../../../src/arrays/functions/call.ts'
import { NdArray } from '../../../src/arrays/index.ts'
import { isBlock } from '../differential/comparison.ts'

/** Arguments of a function on blocks as users give them. */
export function asArrays(operands: readonly unknown[]): readonly unknown[] {
  return mapIn(operands, isBlock, (block) => new NdArray(nodeOf(block))) as readonly unknown[]
}
