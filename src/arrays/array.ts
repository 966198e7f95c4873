import { inspect } from 'node:util'
import { checkOptions, checkWhole, mustBe, shown } from '../native/index.ts'
import type { Block } from './blocks/block.ts'
import { isContiguous, newBlock, sizeOf } from './blocks/block.ts'
import { copyInto, copyOf } from './blocks/copying.ts'
import { elementAt, type NestedArray, nested, setElement } from './blocks/elements.ts'
import { permute } from './blocks/layout.ts'
import { printed } from './blocks/printing.ts'
import { type IndexItem, positionOf, tooMany } from './blocks/slicing.ts'
import { ArrayError, shapeText } from './errors.ts'
import { runAwaiting, runBlocking } from './exchange/steps.ts'
import { asNode, nodeOf, nodeOfScalar } from './functions/as-node.ts'
import { callEntry, mapIn } from './functions/call.ts'
import { cast } from './functions/elementwise.ts'
import { type ArrayLike, camel, type Entry, type NodeEntry } from './functions/entry.ts'
import { gathered, type NodeIndex, nodeAt, setNodeAt, viewOf, writable } from './functions/indexing.ts'
import { parametersOf } from './functions/parameters.ts'
import { FUNCTIONS, type Functions } from './functions/table.ts'
import { demand, exchangeFor } from './graph/demand.ts'
import { ArrayNode, type Parts } from './graph/node.ts'
import type { Storage } from './graph/storage.ts'
import type { Complex, Scalar } from './types/complex.ts'
import type { DType, Elements } from './types/dtype.ts'
import { isAssignable } from './types/promotion.ts'
import { elementOf, isScalar, scalarBeside } from './types/scalar.ts'

/** What users pass for an array: an array, or what `asarray` makes one of. */
export type Operand = NdArray | ArrayLike | readonly Operand[]

/** A function on blocks or nodes, as users call it: with arrays. */
export type Lifted<Function> = Function extends (...operands: infer Operands extends readonly unknown[]) => infer Result
  ? (...operands: LiftedOperands<Operands>) => LiftedResult<Result>
  : { readonly [Name in keyof Function]: Lifted<Function[Name]> }

type LiftedOperands<Operands extends readonly unknown[]> = {
  [Position in keyof Operands]: LiftedOperand<Operands[Position]>
}

type LiftedOperand<One> = One extends Block | ArrayNode
  ? Operand
  : One extends DType | string | number | bigint | boolean | null | undefined | Complex | ArrayBufferView
    ? One
    : One extends readonly (infer Item)[]
      ? [Item] extends [Block | ArrayNode]
        ? readonly Operand[]
        : One
      : { [Name in keyof One]: LiftedOperand<One[Name]> }

type LiftedResult<One> = One extends Block | ArrayNode
  ? NdArray
  : One extends DType | string | number | bigint | boolean | null | undefined
    ? One
    : One extends readonly (infer Item)[]
      ? LiftedResult<Item>[]
      : { readonly [Name in keyof One]: LiftedResult<One[Name]> }

type AfterFirst<Function> = Function extends (
  first: infer First,
  ...others: infer Others extends readonly unknown[]
) => infer Result
  ? First extends Block | ArrayNode | ArrayLike
    ? (...operands: LiftedOperands<Others>) => LiftedResult<Result>
    : never
  : never

/** Every function of the namespace whose first operand is an array is a method of it: `x.sum({ axis: 0 })`. */
export type ArrayMethods = {
  readonly [Name in keyof Functions as AfterFirst<Functions[Name]> extends never ? never : Name]: AfterFirst<
    Functions[Name]
  >
}

/** An index: text as `'1, 0:5, ..., ::-2'`, or its items, of which arrays of integers or of bool pick elements. */
export type Index = string | readonly (IndexItem | string | NdArray)[]

const Methods: new () => ArrayMethods = class {} as new () => ArrayMethods

/**
 * An array of elements of one data type, with any number of axes. What is made of it element by element is pending
 * until someone looks at elements: then the whole chain is computed in one pass.
 */
export class NdArray extends Methods {
  readonly #node: ArrayNode

  /** Arrays are made by the functions of a namespace, as `xp.asarray([1, 2, 3])`. @internal */
  constructor(node: ArrayNode) {
    super()
    this.#node = node
  }

  /** @internal */
  static nodeOf(array: NdArray): ArrayNode {
    return array.#node
  }

  get dtype(): DType {
    return this.#node.dtype
  }

  get shape(): readonly number[] {
    return this.#node.shape
  }

  get ndim(): number {
    return this.#node.shape.length
  }

  /** The number of elements. */
  get size(): number {
    return sizeOf(this.#node.shape)
  }

  get device(): 'cpu' {
    return 'cpu'
  }

  /** A view of a matrix with its axes in turn. @throws ArrayError unless there are two axes */
  get T(): NdArray {
    if (this.ndim !== 2)
      throw new ArrayError('SHAPE', `T is of matrices, not of shape ${shapeText(this.shape)}; use mT`)
    return this.mT
  }

  /** A view with the last two axes in turn. @throws ArrayError if there are fewer */
  get mT(): NdArray {
    const axes = this.ndim
    if (axes < 2) throw new ArrayError('SHAPE', `mT is of matrices, not of shape ${shapeText(this.shape)}`)
    const order = this.shape
      .map((_, axis) => axis)
      .with(axes - 2, axes - 1)
      .with(axes - 1, axes - 2)
    const { spread } = this.#node
    if (spread !== undefined) return new NdArray(spread.permuted(this.#node, order))
    const shape = order.map((axis) => this.shape[axis]!)
    return new NdArray(viewOf(this.#node, shape, (block) => permute(block, order)))
  }

  /** Are all elements computed? What is pending is computed when someone looks at elements. */
  get isComputed(): boolean {
    return this.#node.block !== undefined
  }

  /** Computes what is pending. */
  computeSync(): this {
    demand(this.#node)
    return this
  }

  /** As `computeSync`; on many ranks others may work meanwhile. */
  async compute(): Promise<this> {
    await runAwaiting(exchangeFor(this.#node))
    return this.computeSync()
  }

  /**
   * Gives the memory back, which is used again once every rank has done so. Neither the array nor a view of it may be
   * used then. Without this it is given back once nothing refers to it any more.
   */
  [Symbol.dispose](): void {
    this.#node.close()
  }

  /** How the elements lie over the ranks of a group: `block`, `cyclic x replicated`, … */
  get partition(): string {
    return this.#node.spread?.toString() ?? 'replicated'
  }

  /** The rank that has an element; undefined if every rank has all. */
  owner(indices: number | readonly number[]): number | undefined {
    const { spread, shape } = this.#node
    checkIndices(shape, indices)
    if (spread !== undefined) {
      spread.finder.find(indices)
      return spread.finder.rank
    }
    for (const [axis, index] of [indices].flat().entries()) positionOf(index, shape[axis]!, axis)
    return undefined
  }

  /**
   * Copies elements of a rank's part, in row-major order from number `start` of the part on, until `target` is full:
   * without that rank's processor. What it writes at the same time may be seen or not.
   */
  async getBulk<A extends Elements>(place: PlaceInPart, target: A): Promise<A> {
    const { rank, start } = checkedPlace('getBulk', place)
    await this.compute()
    const parts = this.#checkBulk(rank, start, target)
    if (parts === undefined) target.set(this.#ownBulk(start, target) as never)
    else await runAwaiting(parts.read(rank, start, target))
    return target
  }

  /** Writes to a rank's part, as `getBulk` reads of it. */
  async putBulk(place: PlaceInPart, source: Elements): Promise<void> {
    const { rank, start } = checkedPlace('putBulk', place)
    await this.compute()
    writable(this.#node)
    const parts = this.#checkBulk(rank, start, source)
    if (parts === undefined) {
      this.#storage().startEpoch()
      this.#ownBulk(start, source).set(source as never)
    } else await runAwaiting(parts.write(rank, start, source))
  }

  /** The parts of other ranks if it is not this one. @throws ArrayError */
  #checkBulk(rank: number, start: number, elements: Elements): Parts | undefined {
    const { dtype } = this
    if (!(elements instanceof dtype.Elements))
      throw new ArrayError('TYPE', `elements of ${dtype} are in a ${dtype.Elements.name}, not in ${shown(elements)}`)
    const { spread, block } = this.#node
    const isOwn = spread === undefined || rank === spread.rank
    const size = isOwn ? sizeOf(block!.shape) : spread.sizeOf(rank)
    const end = start + elements.length / dtype.lanes
    if (!(Number.isInteger(end) && end <= size))
      throw new ArrayError(
        'INDEX',
        `elements ${start} to ${end} are not in the part of rank ${rank}, which has ${size}`,
      )
    if (isOwn && !isContiguous(block!))
      throw new ArrayError('VALUE', 'the elements of this view do not lie behind each other; make a copy() first')
    return isOwn ? undefined : this.#partsWith(rank)
  }

  #ownBulk(start: number, { length }: Elements): Elements {
    const { data, offset, dtype } = this.#node.block!
    const first = (offset + start) * dtype.lanes
    return data.subarray(first, first + length) as Elements
  }

  /** The parts, of which another rank's is wanted. @throws ArrayError */
  #partsWith(rank: number): Parts {
    const parts = this.#node.spread?.parts(this.#node)
    if (parts !== undefined) return parts
    throw new ArrayError(
      'PARTITION',
      `the part of rank ${rank} is in memory of its own; make a copy() of the array at every rank, which others reach`,
    )
  }

  /** A view of the elements at an index; a copy of them if arrays are in it. `x.at([0, 5], null, '...', -1)` */
  at(...items: readonly (IndexItem | string | NdArray)[]): NdArray {
    return new NdArray(nodeAt(this.#node, nodeIndex(items)))
  }

  /** As `at`, with the index as Python writes it: `x.slice('0:5, ..., ::-2')`. */
  slice(index: string): NdArray {
    if (typeof index !== 'string')
      throw new ArrayError('INDEX', "an index must be text as '0:5, ..., ::-2'; or use at()")
    return new NdArray(nodeAt(this.#node, index))
  }

  /** Writes to the elements at an index: `x.setAt('0:5, ::2', 1)`, `x.setAt([mask], y)`. The value is broadcast. */
  setAt(index: Index, value: Operand): this {
    setNodeAt(this.#node, nodeIndex(index), this.#valueFor(value))
    return this
  }

  /** A value to write takes this array's type, which must hold it. */
  #valueFor(value: Operand): ArrayNode {
    const { dtype } = this
    if (isScalar(value)) return nodeOfScalar(scalarBeside(value, dtype), dtype)
    const node = asNode(unwrapped(value) as ArrayNode | ArrayLike)
    if (!isAssignable(node.dtype, dtype))
      throw new ArrayError('TYPE', `elements of ${node.dtype} cannot be written to an array of ${dtype}; use astype()`)
    return cast(node, dtype)
  }

  /** One element: `x.get([1, -1])`, or `x.get(5)` of an array with one axis. */
  get(indices: number | readonly number[]): Scalar {
    const block = demand(this.#node)
    const { spread } = this.#node
    if (spread === undefined) return elementAt(block, placeOf(block, indices))
    checkIndices(this.shape, indices)
    const { finder } = spread
    const number = finder.find(indices)
    const { rank } = finder
    const part = rank === spread.rank ? block : this.#partsWith(rank).blockOf(rank)
    if (part !== undefined) return elementAt(part, placeOfNumber(part, number))
    const element = newBlock(this.dtype, [])
    runBlocking(this.#partsWith(rank).read(rank, number, element.data))
    return elementAt(element, 0)
  }

  /** Writes one element. */
  set(indices: number | readonly number[], value: Scalar): this {
    const block = writable(this.#node)
    const element = elementOf(value, block.dtype)
    this.#storage().startEpoch()
    const { spread } = this.#node
    if (spread === undefined) {
      setElement(block, placeOf(block, indices), element)
      return this
    }
    checkIndices(this.shape, indices)
    const { finder } = spread
    const number = finder.find(indices)
    const { rank } = finder
    const part = rank === spread.rank ? block : this.#partsWith(rank).blockOf(rank)
    if (part !== undefined) setElement(part, placeOfNumber(part, number), element)
    else {
      const one = newBlock(this.dtype, [])
      setElement(one, 0, element)
      runBlocking(this.#partsWith(rank).write(rank, number, one.data))
    }
    return this
  }

  #storage(): Storage {
    demand(this.#node)
    return this.#node.storage!
  }

  /** The element of an array that has exactly one. @throws ArrayError */
  item(): Scalar {
    if (this.size !== 1)
      throw new ArrayError('VALUE', 'can only convert an array of size 1 to a scalar; use get() or toArray()')
    const block = demand(gathered(this.#node))
    return elementAt(block, block.offset)
  }

  /** The elements in lists of lists; of an array without axes the element. */
  toArray(): Scalar | NestedArray {
    return nested(demand(gathered(this.#node)))
  }

  /** A new typed array of the elements in row-major order; of complex ones the parts in turn. */
  toTypedArray(): Elements {
    const block = demand(gathered(this.#node))
    // In memory of its own, since the caller may transfer it.
    const copy = newBlock(block.dtype, block.shape)
    copyInto(copy, block)
    return copy.data
  }

  /** A new array with the same elements in memory of its own. */
  copy(): NdArray {
    const { spread } = this.#node
    return new NdArray(spread === undefined ? nodeOf(copyOf(demand(this.#node))) : spread.copied(this.#node))
  }

  /** The elements that lie in this process, without a copy. A caller that has them may write to them at any time. */
  localParts(): readonly Block[] {
    const block = demand(this.#node)
    this.#storage().share()
    return [block]
  }

  /** As NumPy prints it: `[1. 2. 3.]`. Of an array in parts it is this rank's part. */
  override toString(): string {
    return printed(demand(this.#node))
  }

  /** A number where one is wanted, as `Number(x)`, and text elsewhere. */
  [Symbol.toPrimitive](hint: string): number | bigint | string | boolean {
    if (hint !== 'number') return this.toString()
    const item = this.item()
    if (typeof item === 'object')
      throw new ArrayError('TYPE', 'a complex element is not a number; take real() or imag()')
    return item
  }
}

/** An element of a rank's part, by its number there in row-major order. Default: the first. */
export interface PlaceInPart {
  readonly rank: number
  readonly start?: number
}

/** @throws ArgumentError */
function checkedPlace(call: string, place: PlaceInPart): Required<PlaceInPart> {
  if (place === undefined) throw mustBe('place', 'a rank and a start, as { rank: 1, start: 0 }', place)
  checkOptions(call, place, { rank: true, start: true }, 'place')
  const { rank, start = 0 } = place
  checkWhole('place.rank', rank, 0, Number.MAX_SAFE_INTEGER)
  checkWhole('place.start', start, 0, Number.MAX_SAFE_INTEGER)
  return { rank, start }
}

/** Is there an index for each axis? @throws ArrayError */
function checkIndices(shape: readonly number[], indices: number | readonly number[]): void {
  const isNumber = typeof indices === 'number'
  if (!isNumber && !Array.isArray(indices))
    throw new ArrayError('INDEX', 'indices must be an integer, or a list of one for each axis')
  const given = isNumber ? 1 : indices.length
  if (given !== shape.length) throw needsAll(shape, given)
}

function placeOf({ shape, strides, offset }: Block, indices: number | readonly number[]): number {
  checkIndices(shape, indices)
  if (typeof indices === 'number') return offset + positionOf(indices, shape[0]!, 0) * strides[0]!
  let place = offset
  for (let axis = 0; axis < indices.length; axis += 1)
    place += positionOf(indices[axis]!, shape[axis]!, axis) * strides[axis]!
  return place
}

/** The place of an element by its number in row-major order. */
function placeOfNumber({ shape, strides, offset }: Block, number: number): number {
  let place = offset
  let rest = number
  for (let axis = shape.length - 1; axis > 0; axis -= 1) {
    const extent = shape[axis]!
    place += (rest % extent) * strides[axis]!
    rest = Math.floor(rest / extent)
  }
  return place + rest * strides[0]!
}

function needsAll(shape: readonly number[], given: number): ArrayError {
  if (given > shape.length) return tooMany(shape.length, given)
  return new ArrayError('INDEX', `an element of shape ${shapeText(shape)} needs ${shape.length} indices, not ${given}`)
}

function isArray(value: unknown): value is NdArray {
  return value instanceof NdArray
}

/** The value with the node of each array in place of it, also in lists and in options. */
export function unwrapped(value: unknown): unknown {
  if (value instanceof NdArray) return NdArray.nodeOf(value)
  return typeof value === 'object' ? mapIn(value, isArray, NdArray.nodeOf) : value
}

function nodeIndex(index: Index): NodeIndex {
  if (typeof index === 'string') return index
  if (!Array.isArray(index))
    throw new ArrayError('INDEX', "an index must be text as '0:5, ..., ::-2', or a list of its items")
  return index.map(unwrapped) as NodeIndex
}

function isNode(value: unknown): value is ArrayNode {
  return value instanceof ArrayNode
}

/** Calls a function of the table with arrays, lists and scalars, and returns arrays. */
export function invoke(entry: Entry | NodeEntry, operands: readonly unknown[]): unknown {
  const result = callEntry(entry, operands.map(unwrapped))
  return result instanceof ArrayNode ? new NdArray(result) : mapIn(result, isNode, (node) => new NdArray(node))
}

Object.defineProperty(NdArray.prototype, inspect.custom, {
  value(this: NdArray): string {
    const node = NdArray.nodeOf(this)
    const text = printed(demand(node), { isNamed: true })
    const { spread } = node
    if (spread === undefined) return text
    return `rank ${spread.rank}'s part of shape ${shapeText(node.shape)} (${spread}): ${text}`
  },
})

for (const entry of FUNCTIONS) {
  const [first] = parametersOf(entry.parameters).positional
  if ((first !== 'x' && first !== 'x1') || entry.name.includes('.')) continue
  Object.defineProperty(Methods.prototype, camel(entry.name), {
    value(this: NdArray, ...operands: unknown[]): unknown {
      return invoke(entry, [this, ...operands])
    },
    writable: true,
    configurable: true,
  })
}
