import { type Block, blockOver, sizeOf } from '../blocks/block.ts'
import { copyInto } from '../blocks/copying.ts'
import { elementAt } from '../blocks/elements.ts'
import { axisOf, broadcastShapes, broadcastTo, sameShape } from '../blocks/layout.ts'
import { checkIndices, indicesOfTrue, type Picking, pick, pickingOf, putPicked } from '../blocks/picking.ts'
import { type IndexItem, parseIndex, parseItem, select, selectionsOf, shapeOfSelections } from '../blocks/slicing.ts'
import { ArrayError, shapeText } from '../errors.ts'
import { demand } from '../graph/demand.ts'
import { ArrayNode, type Spread } from '../graph/node.ts'
import { compressNatively, takeNatively } from '../kernels/native-selecting.ts'
import { bool, float64 } from '../types/dtype.ts'
import { nodeOf } from './as-node.ts'
import type { Entry } from './entry.ts'

/** An index: text as `'1, 0:5, ..., ::-2'`, or its items, of which arrays of integers or of bool pick elements. */
export type NodeIndex = string | readonly (IndexItem | string | ArrayNode)[]

type Items = readonly (IndexItem | ArrayNode)[]

function itemsOf(index: NodeIndex): Items {
  if (typeof index === 'string') return parseIndex(index)
  return index.map((item) => (typeof item === 'string' ? parseItem(item) : item))
}

/** A view of the elements at an index; a copy of them if arrays pick them. @throws ArrayError */
export function nodeAt(node: ArrayNode, index: NodeIndex): ArrayNode {
  const items = itemsOf(index)
  if (items.some((item) => item instanceof ArrayNode)) {
    const [picker] = items
    const inParts = items.length === 1 && picker instanceof ArrayNode ? node.spread?.pick(node, picker) : undefined
    return inParts ?? nodeOf(pickedOf(demand(gathered(node)), items))
  }
  const selections = selectionsOf(items as readonly IndexItem[], node.shape)
  if (node.spread !== undefined) return node.spread.select(node, selections)
  return viewOf(node, shapeOfSelections(selections), (block) => select(block, selections))
}

function pickedOf(block: Block, items: Items): Block {
  const picked = items.length === 1 ? pickNatively(block, demand(gathered(items[0] as ArrayNode))) : undefined
  if (picked !== undefined) return picked
  const { view, picking } = resolve(block, items)
  return pick(view, picking)
}

/** The elements where a mask of the first axes is true. */
export function compress(block: Block, mask: Block): Block {
  return pickedOf(block, [nodeOf(mask)])
}

/** One mask, or one array of indices for the first axis. */
function pickNatively(block: Block, picker: Block): Block | undefined {
  if (picker.dtype === bool) return compressNatively(block, picker)
  return block.shape.length === 0 ? undefined : takeNatively(block, 0, picker)
}

/** The array with all elements at every rank, which it may have already. */
export function gathered(node: ArrayNode): ArrayNode {
  return node.spread?.gathered(node) ?? node
}

/** A view of an array, which is made when the elements are there. */
export function viewOf(node: ArrayNode, shape: readonly number[], view: (block: Block) => Block): ArrayNode {
  if (node.spread !== undefined) return viewOf(node.spread.gathered(node), shape, view)
  if (node.block !== undefined) return ArrayNode.of(view(node.block), node.storage!)
  return ArrayNode.pending({ dtype: node.dtype, shape }, { kind: 'view', base: node, view })
}

/** Writes to the elements at an index. The value has the array's type, and is broadcast. @throws ArrayError */
export function setNodeAt(node: ArrayNode, index: NodeIndex, value: ArrayNode): void {
  const items = itemsOf(index)
  if (node.spread !== undefined) {
    setParts(node, node.spread, items, value)
    return
  }
  const source = demand(value)
  const block = writable(node)
  if (items.some((item) => item instanceof ArrayNode)) {
    const { view, picking } = resolve(block, items)
    node.storage?.startEpoch()
    putPicked(view, picking, source)
    return
  }
  const target = select(block, selectionsOf(items as readonly IndexItem[], node.shape))
  // In NumPy, too, leading axes of extent 1 that the target does not have may go.
  const extra = source.shape.length - target.shape.length
  const fitted =
    extra > 0 && source.shape.slice(0, extra).every((extent) => extent === 1)
      ? { ...source, shape: source.shape.slice(extra), strides: source.strides.slice(extra) }
      : source
  const from = broadcastTo(fitted, target.shape)
  node.storage?.startEpoch()
  copyInto(target, from)
}

/** Each rank writes to its part. */
function setParts(node: ArrayNode, spread: Spread, items: Items, value: ArrayNode): void {
  const [mask] = items
  if (!items.some((item) => item instanceof ArrayNode)) {
    spread.assign(node, selectionsOf(items as readonly IndexItem[], node.shape), value)
    return
  }
  const isMask = mask instanceof ArrayNode && mask.dtype === bool && items.length === 1 && sizeOf(value.shape) === 1
  if (!isMask || !sameShape(mask.shape, node.shape))
    throw new ArrayError(
      'PARTITION',
      `elements of a divided array (${spread}) cannot be written by arrays of indices; use where(), or a mask of its shape and a scalar`,
    )
  const source = demand(gathered(value))
  const { operands } = spread.align([node, mask], node.shape)
  const part = demand(operands[1]!)
  const block = writable(node)
  const indices = indicesOfTrue(part).map((each) => blockOver(each, float64, [each.length]))
  node.storage?.startEpoch()
  putPicked(block, pickingOf(block, [...block.shape.keys()], indices, false), { ...source, shape: [], strides: [] })
}

/** The elements of an array that may be written to. @throws ArrayError */
export function writable(node: ArrayNode): Block {
  const block = demand(node)
  const repeats = block.shape.some((extent, axis) => extent > 1 && block.strides[axis] === 0)
  if (repeats || node.storage?.isWritable === false)
    throw new ArrayError('READ_ONLY', 'assignment destination is read-only; write to a copy()')
  return block
}

/** One array of indices among the items. `extent` is that of the axis of the mask that it comes from. */
interface Picker {
  readonly indices: Block
  /** Does it pick from an axis that is added for it? So does a mask of no axes. */
  readonly isNew: boolean
  readonly extent?: number
}

/** The view in which arrays pick, with the axes that they pick from whole, and what they pick. @throws ArrayError */
function resolve(block: Block, items: Items): { readonly view: Block; readonly picking: Picking } {
  const expanded = items.flatMap(pickersOf)
  const plain = expanded.map((item): IndexItem => (isPicker(item) ? (item.isNew ? null : []) : item))
  const view = select(block, selectionsOf(plain, block.shape))
  const named = plain.filter((item) => item !== null && item !== '...').length
  const axes: number[] = []
  const pickers: Picker[] = []
  let axis = 0
  for (const item of expanded) {
    if (isPicker(item)) {
      checkExtent(item, view, axis)
      axes.push(axis)
      pickers.push(item)
    }
    axis += item === '...' ? block.shape.length - named : 1
  }
  const first = expanded.findIndex(isPicker)
  const inFront = expanded.slice(first, expanded.findLastIndex(isPicker)).some((item) => !isPicker(item))
  const indices = pickers.map((picker) => picker.indices)
  return { view, picking: pickingOf(view, axes, indices, inFront) }
}

/** An integer beside arrays is an array of no axes. A mask is for each of its axes the indices where it is true. */
function pickersOf(item: IndexItem | ArrayNode): (IndexItem | Picker)[] {
  if (typeof item === 'number' || typeof item === 'bigint')
    return [{ indices: blockOver(new Float64Array([Number(item)]), float64, []), isNew: false }]
  if (!(item instanceof ArrayNode)) return [item]
  const block = demand(gathered(item))
  if (block.dtype !== bool) {
    checkIndices(block.dtype)
    return [{ indices: block, isNew: false }]
  }
  const places = block.shape.length === 0 ? [0].slice(0, Number(elementAt(block, block.offset))) : undefined
  if (places !== undefined)
    return [{ indices: blockOver(new Float64Array(places), float64, [places.length]), isNew: true }]
  return indicesOfTrue(block).map((indices, axis) => ({
    indices: blockOver(indices, float64, [indices.length]),
    isNew: false,
    extent: block.shape[axis]!,
  }))
}

function isPicker(item: IndexItem | Picker): item is Picker {
  return typeof item === 'object' && item !== null && 'isNew' in item
}

/** A mask with an extent of 0 picks nothing, and fits any axis, as in NumPy. */
function checkExtent({ extent }: Picker, view: Block, axis: number): void {
  const size = view.shape[axis]
  if (extent !== undefined && extent !== size && extent !== 0)
    throw new ArrayError(
      'INDEX',
      `boolean index did not match indexed array along axis ${axis}; size of axis is ${size} but size of corresponding ` +
        `boolean axis is ${extent}`,
    )
}

/** The elements at positions of one axis; `indices` may have any shape where no axis needs to be named. */
function take(x: Block, indices: Block, options: { readonly axis?: number } = {}): Block {
  checkIndices(indices.dtype)
  if (options.axis === undefined && x.shape.length !== 1)
    throw new ArrayError('AXIS', `take() needs an axis for an array with shape ${shapeText(x.shape)}`)
  const axis = axisOf(options.axis ?? 0, x.shape.length)
  return takeNatively(x, axis, indices) ?? pick(x, pickingOf(x, [axis], [indices], false))
}

/** For each element of `indices` the element at that position of the axis, and at the same place of the other axes. */
export function takeAlongAxis(x: Block, indices: Block, options: { readonly axis?: number } = {}): Block {
  checkIndices(indices.dtype)
  if (indices.shape.length !== x.shape.length)
    throw new ArrayError(
      'SHAPE',
      `indices with shape ${shapeText(indices.shape)} and an array with shape ${shapeText(x.shape)} must have ` +
        'equally many axes',
    )
  const axis = axisOf(options.axis ?? -1, x.shape.length)
  const common = broadcastShapes(x.shape.toSpliced(axis, 1), indices.shape.toSpliced(axis, 1))
  const source = broadcastTo(x, common.toSpliced(axis, 0, x.shape[axis]!))
  const positions = broadcastTo(indices, common.toSpliced(axis, 0, indices.shape[axis]!))
  const pickers = positions.shape.map((extent, other) =>
    other === axis ? positions : broadcastTo(alongAxis(extent, other, positions.shape.length), positions.shape),
  )
  return pick(
    source,
    pickingOf(
      source,
      source.shape.map((_, one) => one),
      pickers,
      false,
    ),
  )
}

/** 0, 1, … along one axis of several. */
function alongAxis(extent: number, axis: number, axes: number): Block {
  const shape = new Array<number>(axes).fill(1).with(axis, extent)
  return blockOver(
    Float64Array.from({ length: extent }, (_, index) => index),
    float64,
    shape,
  )
}

/** The functions of the standard for indices, beside those of the array itself: `at`, `slice`, `setAt`. */
export const indexing: readonly Entry[] = [
  { name: 'take', parameters: 'x, indices, /, *, axis=None', moves: 'exchange', compute: take },
  { name: 'take_along_axis', parameters: 'x, indices, /, *, axis=-1', moves: 'exchange', compute: takeAlongAxis },
]

export interface Indexing {
  take: typeof take
  takeAlongAxis: typeof takeAlongAxis
}
