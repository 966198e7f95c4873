import { newBlock, sizeOf } from '../../blocks/block.ts'
import { copyOf } from '../../blocks/copying.ts'
import { writeElement } from '../../blocks/elements.ts'
import { ArrayNode } from '../../graph/node.ts'
import type { Scalar } from '../../types/complex.ts'
import type { DType } from '../../types/dtype.ts'
import { elementOf } from '../../types/scalar.ts'
import { computedByPart, nodeOfPart, partitionOf } from '../distribution.ts'
import { optionsOf, type Rule } from './rule.ts'

/** A new array like another: each rank makes its part. */
const like: Rule = (sharing, { name }, [x, ...others]) => {
  if (!(x instanceof ArrayNode)) return undefined
  const partition = partitionOf(sharing, x)
  const { dtype = x.dtype } = optionsOf(others) as { dtype?: DType }
  const block = newBlock(dtype, partition.shapeOf(sharing.team.rank))
  const value = name === 'full_like' ? (others[0] as Scalar) : name === 'ones_like' ? 1 : undefined
  if (value !== undefined) {
    const element = elementOf(value, dtype)
    for (let at = 0; at < sizeOf(block.shape); at += 1) writeElement(block.data, at, element)
  }
  return nodeOfPart(sharing, block, partition)
}

/** An array of its own type is copied part by part; a cast is element-wise. */
const same: Rule = (sharing, entry, [x, ...others]) => {
  if (!(x instanceof ArrayNode) || !('build' in entry)) return undefined
  const options = optionsOf(others) as { copy?: boolean | null }
  const { copy } = options
  const node = entry.build(x, ...others.filter((one) => one !== options), {
    ...options,
    copy: copy === false ? false : null,
  })
  if (node !== x || !(copy ?? entry.name === 'astype')) return node
  return computedByPart(sharing, x.dtype, partitionOf(sharing, x), [x], ([part]) => copyOf(part!))
}

export const creations: readonly (readonly [string, Rule])[] = [
  ...['zeros_like', 'ones_like', 'empty_like', 'full_like'].map((name) => [name, like] as const),
  ...['asarray', 'astype', 'from_dlpack'].map((name) => [name, same] as const),
]
