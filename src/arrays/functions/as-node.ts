import { inspect } from 'node:util'
import { type Block, blockOver, newBlock } from '../blocks/block.ts'
import { nested, writeElement } from '../blocks/elements.ts'
import { ArrayError } from '../errors.ts'
import { demand } from '../graph/demand.ts'
import { ArrayNode } from '../graph/node.ts'
import { Storage } from '../graph/storage.ts'
import { isComplexNumber, type Scalar } from '../types/complex.ts'
import { bool, complex128, DTYPES, type DType, type Elements, float64, int64 } from '../types/dtype.ts'
import { promote } from '../types/promotion.ts'
import { elementOf, isScalar } from '../types/scalar.ts'
import type { ArrayLike } from './entry.ts'

/** An array of elements in memory of its own. */
export function nodeOf(block: Block): ArrayNode {
  return ArrayNode.of(block, new Storage(block.data))
}

/** An array itself, or the array that a scalar, a list or a typed array stands for. @throws ArrayError */
export function asNode(value: ArrayNode | ArrayLike): ArrayNode {
  return value instanceof ArrayNode ? value : nodeOfLike(value)
}

/** An array of no axes. */
export function nodeOfScalar(value: Scalar, dtype: DType): ArrayNode {
  const block = newBlock(dtype, [])
  writeElement(block.data, 0, elementOf(value, dtype))
  return nodeOf(block)
}

/**
 * The array that a scalar, a typed array, or lists in lists stand for, which may hold arrays. Without a data type it is
 * that which the arrays have in common. If there are only scalars, it is the least that holds all of them: bool, int64
 * (bigints), float64 (numbers) or complex128.
 *
 * @throws ArrayError
 */
export function nodeOfLike(value: ArrayLike, dtype?: DType): ArrayNode {
  if (ArrayBuffer.isView(value)) return nodeOfTyped(value)
  const leaves: Scalar[] = []
  const shape: number[] = []
  const types = new Set<DType>()
  collect(value, 0, { shape, leaves, types })
  const type = dtype ?? (types.size > 0 ? [...types].reduce(promote) : commonType(leaves))
  const block = newBlock(type, shape)
  leaves.forEach((leaf, index) => {
    writeElement(block.data, index, elementOf(leaf, type))
  })
  return nodeOf(block)
}

/** An array over the memory of a typed array, whose owner may write to it. */
function nodeOfTyped(view: ArrayBufferView): ArrayNode {
  const type = Object.values(DTYPES).find(
    ({ Elements, lanes, name }) => name !== 'bool' && lanes === 1 && view instanceof Elements,
  )
  if (type === undefined)
    throw new ArrayError(
      'TYPE',
      `a ${view.constructor.name} has no data type; pass a typed array of numbers or bigints`,
    )
  // One without elements may have lost its memory to another thread.
  const data = view.byteLength === 0 ? new type.Elements(0) : (view as unknown as Elements)
  return ArrayNode.of(blockOver(data, type, [data.length]), new Storage(data, { isShared: true }))
}

interface Collected {
  readonly shape: number[]
  readonly leaves: Scalar[]
  /** Those of the arrays in the lists. */
  readonly types: Set<DType>
}

function collect(value: ArrayLike | ArrayNode, depth: number, to: Collected): void {
  if (value instanceof ArrayNode || ArrayBuffer.isView(value)) {
    const node = value instanceof ArrayNode ? value : nodeOfTyped(value)
    to.types.add(node.dtype)
    collect(nested(demand(node.spread?.gathered(node) ?? node)) as ArrayLike, depth, to)
  } else if (Array.isArray(value)) collectList(value as readonly ArrayLike[], depth, to)
  else {
    if (!isScalar(value))
      throw new ArrayError('TYPE', `${inspect(value, { depth: 0 })} cannot be an element of an array`)
    if (depth !== to.shape.length) throw inhomogeneous()
    to.leaves.push(value)
  }
}

function collectList(list: readonly ArrayLike[], depth: number, to: Collected): void {
  const { shape, leaves } = to
  if (depth === shape.length) {
    if (leaves.length > 0) throw inhomogeneous()
    shape.push(list.length)
  } else if (shape[depth] !== list.length) throw inhomogeneous()
  for (const one of list) collect(one, depth + 1, to)
}

function inhomogeneous(): ArrayError {
  return new ArrayError('VALUE', 'lists in a list must all have one length; this one has an inhomogeneous shape')
}

function commonType(leaves: readonly Scalar[]): DType {
  if (leaves.length === 0) return float64
  if (leaves.some(isComplexNumber)) return complex128
  if (leaves.every((leaf) => typeof leaf === 'boolean')) return bool
  return leaves.some((leaf) => typeof leaf === 'number') ? float64 : int64
}
