import type { Block } from '../blocks/block.ts'
import { copyOf } from '../blocks/copying.ts'
import { ArrayError } from '../errors.ts'
import { demand } from '../graph/demand.ts'
import { ArrayNode, type Spread } from '../graph/node.ts'
import { Storage } from '../graph/storage.ts'
import { isComplexNumber } from '../types/complex.ts'
import { float64, int64, isDType } from '../types/dtype.ts'
import { isScalar, scalarBeside } from '../types/scalar.ts'
import { asNode, nodeOfLike, nodeOfScalar } from './as-node.ts'
import { checkedOperands } from './checking.ts'
import type { ArrayLike, Entry, NodeEntry } from './entry.ts'
import { parametersOf } from './parameters.ts'

/** Calls a function of the namespace. Its arrays are nodes, in the operands as in what it returns. */
export function callEntry(entry: Entry | NodeEntry, all: readonly unknown[]): unknown {
  const { given, isGatherWanted } = withoutGather(all)
  const operands = checkedOperands(entry.name, entry.parameters, given)
  if ('build' in entry) {
    // An element-wise function aligns its operands itself.
    const spread = entry.moves === 'nothing' ? spreadOf(nodesIn(operands)) : undefined
    return spread === undefined ? entry.build(...operands) : spread.call(entry.name, operands)
  }
  const arrays = withArrays(entry, operands)
  const nodes = nodesIn(arrays)
  const spread = spreadOf(nodes)
  if (spread !== undefined) return spread.call(entry.name, arrays, isGatherWanted)
  return entry.result === undefined ? callNow(entry, arrays, nodes) : callLater(entry, arrays, nodes)
}

/** That of the first array which has one. */
export function spreadOf(nodes: readonly ArrayNode[]): Spread | undefined {
  for (const { spread } of nodes) if (spread !== undefined) return spread
  return undefined
}

/** The operands without the option `gather`, which any function takes, and whether it was true. */
function withoutGather(operands: readonly unknown[]): {
  readonly given: readonly unknown[]
  readonly isGatherWanted: boolean
} {
  const last = operands[operands.length - 1]
  if (!isPlainObject(last) || !('gather' in last)) return { given: operands, isGatherWanted: false }
  const { gather, ...options } = last
  if (typeof gather !== 'boolean') throw new ArrayError('TYPE', 'the option gather must be true or false')
  const hasOthers = Object.keys(options).length > 0
  return { given: [...operands.slice(0, -1), ...(hasOthers ? [options] : [])], isGatherWanted: gather }
}

function callNow(entry: Entry, given: readonly unknown[], nodes: readonly ArrayNode[]): unknown {
  const blocks = mapIn(given, isNode, demand) as unknown[]
  return mapIn(entry.compute(...blocks), isBlock, (block) => wrapResult(block, nodes))
}

function callLater(entry: Entry, given: readonly unknown[], nodes: readonly ArrayNode[]): ArrayNode {
  const type = entry.result!(...given)
  const captures = nodes.map((node) => node.capture())
  const compute = (blocks: readonly Block[]): Block => {
    let next = 0
    return entry.compute(...(mapIn(given, isNode, () => blocks[next++]) as unknown[])) as Block
  }
  const node = ArrayNode.pending(type, { kind: 'call', operands: captures, compute })
  return settledIfShared(node, nodes)
}

/** What reads memory that others may write to is computed at once. */
export function settledIfShared(node: ArrayNode, operands: readonly ArrayNode[]): ArrayNode {
  let isAtOnce = node.weight > WEIGHT_MAX
  for (const { storage } of operands) isAtOnce ||= storage?.isShared === true
  if (isAtOnce) demand(node)
  return node
}

/** Steps of a program. More are not waited for, so that chains without a demand stay bounded. */
const WEIGHT_MAX = 64

/** An array of a block that a function has returned. Over memory of an operand it is a view of that. */
function wrapResult(block: Block, operands: readonly ArrayNode[]): ArrayNode {
  const owner = operands.find(({ storage }) => storage?.data.buffer === block.data.buffer)
  if (owner === undefined) return ArrayNode.of(block, new Storage(block.data))
  const storage = owner.storage!
  if (storage.data === block.data) return ArrayNode.of(block, storage)
  const copy = copyOf(block)
  return ArrayNode.of(copy, new Storage(copy.data))
}

/** The operands, with an array for each scalar, list or typed array that stands where an array is wanted. */
function withArrays(entry: Entry, operands: readonly unknown[]): readonly unknown[] {
  const { positional, isVariadic } = parametersOf(entry.parameters)
  const last = positional.length - 1
  const beside = operands.find(isNode)
  return operands.map((operand, index) => {
    if (operand instanceof ArrayNode) return operand
    const name = positional[isVariadic ? Math.min(index, last) : index]
    const isOptions = isVariadic && index === operands.length - 1 && isPlainObject(operand)
    if (isOptions || name === undefined) return operand
    if (name === 'arrays') return isVariadic ? asNode(operand as ArrayLike) : (operand as ArrayLike[]).map(asNode)
    if (name === 'indices' || name === 'rows' || name === 'columns' || (name === 'repeats' && Array.isArray(operand)))
      return nodeOfIndices(operand as ArrayLike)
    if (name === 'data') return nodeOfLike(operand as ArrayLike)
    if (name !== 'x' && name !== 'x1' && name !== 'x2') return operand
    if (name !== 'x' && beside !== undefined && isScalar(operand))
      return nodeOfScalar(scalarBeside(operand, beside.dtype), beside.dtype)
    return nodeOfLike(operand as ArrayLike)
  })
}

/** Numbers of a list are float64, though they stand for indices: fractions are refused. */
function nodeOfIndices(value: ArrayLike): ArrayNode {
  const node = nodeOfLike(value)
  if (ArrayBuffer.isView(value) || node.dtype !== float64) return node
  const block = demand(node)
  for (const index of block.data as Float64Array)
    if (!Number.isInteger(index))
      throw new ArrayError('TYPE', `arrays used as indices must be of integer type, and ${index} is no integer`)
  return nodeOfLike(value, int64)
}

/** The arrays among operands, also in lists and options. */
export function nodesIn(value: unknown): ArrayNode[] {
  const nodes: ArrayNode[] = []
  mapIn(value, isNode, (node) => {
    nodes.push(node)
    return node
  })
  return nodes
}

export function isNode(value: unknown): value is ArrayNode {
  return value instanceof ArrayNode
}

export function isBlock(value: unknown): value is Block {
  return typeof value === 'object' && value !== null && 'strides' in value && 'data' in value && 'dtype' in value
}

/** The same value with others in place of some, also in lists and in plain objects. */
export function mapIn<From>(value: unknown, is: (one: unknown) => one is From, map: (one: From) => unknown): unknown {
  if (is(value)) return map(value)
  if (Array.isArray(value)) return value.map((one) => mapIn(one, is, map))
  if (!isPlainObject(value)) return value
  const mapped = { ...value }
  for (const name of Object.keys(mapped)) mapped[name] = mapIn(mapped[name], is, map)
  return mapped
}

/** Is it a record, and nothing that has a meaning as a whole? */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return false
  return !isComplexNumber(value) && !isDType(value)
}
