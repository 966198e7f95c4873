import { NdArray } from '../../../src/arrays/array.ts'
import type { Block } from '../../../src/arrays/blocks/block.ts'
import { nodeOf } from '../../../src/arrays/functions/as-node.ts'
import { demand } from '../../../src/arrays/graph/demand.ts'

/** An array of a block, and the block of an array. */
export const arrayOf = (block: Block): NdArray => new NdArray(nodeOf(block))
export const blockOf = (array: NdArray): Block => demand(NdArray.nodeOf(array))
