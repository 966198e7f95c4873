import { type Block, newBlock, newResult, sizeOf } from '../blocks/block.ts'
import { contiguous, copyOf } from '../blocks/copying.ts'
import { writeElement } from '../blocks/elements.ts'
import { broadcastTo } from '../blocks/layout.ts'
import { ArrayError, shapeText } from '../errors.ts'
import { demand } from '../graph/demand.ts'
import { ArrayNode } from '../graph/node.ts'
import type { Division } from '../partitions/partition.ts'
import { isComplexNumber, type Scalar } from '../types/complex.ts'
import { bool, complex128, type DType, float64, int64, isComplex, isInteger, isWide } from '../types/dtype.ts'
import { dtypeOfScalar, elementOf } from '../types/scalar.ts'
import { asNode, nodeOf, nodeOfLike } from './as-node.ts'
import { cast } from './elementwise.ts'
import type { ArrayLike, Entry, NodeEntry } from './entry.ts'

type Shape = number | bigint | readonly (number | bigint)[]

export interface CreationOptions {
  readonly dtype?: DType
  /** In a group: how the elements lie over the ranks. Default: every rank has all. */
  readonly partition?: Division
  /** With `'read'`, every write is refused. Default `'write'`. */
  readonly access?: 'read' | 'write'
}

/** @throws ArrayError */
export function shapeOf(shape: Shape): number[] {
  const extents = (typeof shape === 'object' ? shape : [shape]).map(Number)
  for (const extent of extents)
    if (!Number.isSafeInteger(extent) || extent < 0)
      throw new ArrayError('SHAPE', `a shape has whole numbers from 0 on, not ${shapeText(extents)}`)
  return extents
}

function filled(shape: readonly number[], value: Scalar, dtype: DType): Block {
  const block = newResult(dtype, shape)
  const element = elementOf(value, dtype)
  if (typeof element === 'object')
    for (let index = 0; index < sizeOf(shape); index += 1) writeElement(block.data, index, element)
  else (block.data as Float64Array).fill((typeof element === 'boolean' ? Number(element) : element) as number)
  return block
}

function zeros(shape: Shape, { dtype = float64 }: CreationOptions = {}): Block {
  return newBlock(dtype, shapeOf(shape))
}

function ones(shape: Shape, { dtype = float64 }: CreationOptions = {}): Block {
  return filled(shapeOf(shape), 1, dtype)
}

function full(shape: Shape, value: Scalar, { dtype = dtypeOfScalar(value) }: CreationOptions = {}): Block {
  return filled(shapeOf(shape), value, dtype)
}

/** The functions `…Like` look at the type and shape of an array only, so that it stays pending. */
function zerosLike(x: ArrayNode | ArrayLike, { dtype }: CreationOptions = {}): ArrayNode {
  const like = asNode(x)
  return nodeOf(newBlock(dtype ?? like.dtype, like.shape))
}

function onesLike(x: ArrayNode | ArrayLike, options: CreationOptions = {}): ArrayNode {
  return fullLike(x, 1, options)
}

function fullLike(x: ArrayNode | ArrayLike, value: Scalar, { dtype }: CreationOptions = {}): ArrayNode {
  const like = asNode(x)
  return nodeOf(filled(like.shape, value, dtype ?? like.dtype))
}

/** start, start + step, … before stop. Without a stop, from 0 to before start. Options may follow any of them. */
function arange(
  start: number | bigint,
  stop?: number | bigint | null | CreationOptions,
  step: number | bigint | CreationOptions = 1n,
  options: CreationOptions = {},
): Block {
  if (typeof stop === 'object' && stop !== null) return arange(start, null, 1n, stop)
  if (typeof step === 'object') return arange(start, stop, 1n, step)
  const [from, to] = stop === undefined || stop === null ? [0n, start] : [start, stop]
  const dtype = options.dtype ?? ([from, to, step].every((one) => typeof one === 'bigint') ? int64 : float64)
  if (Number(step) === 0) throw new ArrayError('VALUE', 'the step of arange() cannot be zero')
  const length = Math.max(0, Math.ceil((Number(to) - Number(from)) / Number(step)))
  if (Number.isNaN(length)) throw new ArrayError('VALUE', 'arange: cannot compute length')
  const at = (index: number): number | bigint =>
    typeof from === 'bigint' && typeof step === 'bigint'
      ? from + BigInt(index) * step
      : Number(from) + index * Number(step)
  // If the first and the last are within the type's bounds, so is all that lies between.
  for (const index of length > 0 ? [0, length - 1] : []) elementOf(at(index), dtype)
  if (isWide(dtype)) return sequence(length, dtype, (index) => elementOf(at(index), dtype))
  const [first, distance] = [Number(from), Number(step)]
  if (dtype === float64) return steps(length, first, distance)
  return sequence(length, dtype, (index) => first + index * distance)
}

/** `first`, `first + distance`, …: a loop of its own, in which the engine knows the type. */
function steps(length: number, first: number, distance: number): Block {
  const block = newResult(float64, [length])
  const data = block.data as Float64Array
  for (let index = 0; index < length; index += 1) data[index] = first + index * distance
  return block
}

/** Elements by their index. Real ones must be within the bounds of the type. */
function sequence(length: number, dtype: DType, elementOfIndex: (index: number) => Scalar): Block {
  const block = newResult(dtype, [length])
  const { data } = block
  if (isComplex(dtype) || dtype === bool)
    for (let index = 0; index < length; index += 1) writeElement(data, index, elementOf(elementOfIndex(index), dtype))
  else for (let index = 0; index < length; index += 1) data[index] = elementOfIndex(index) as number
  return block
}

/** `num` numbers at equal distances from start to stop, which is the last of them unless `endpoint` is false. */
function linspace(
  start: Scalar,
  stop: Scalar,
  num: number | bigint,
  { dtype, endpoint = true }: CreationOptions & { readonly endpoint?: boolean } = {},
): Block {
  const count = shapeOf(num)[0]!
  const [from, to] = [start, stop].map((one) => (isComplexNumber(one) ? one : { re: Number(one), im: 0 })) as [
    { re: number; im: number },
    { re: number; im: number },
  ]
  const type = dtype ?? ([start, stop].some(isComplexNumber) ? complex128 : float64)
  const divisions = endpoint ? count - 1 : count
  if (type === float64) {
    // The same numbers: a product and a sum are the same in any order.
    const block = steps(count, from.re, (to.re - from.re) / Math.max(1, divisions))
    if (endpoint && count > 1) block.data[count - 1] = to.re
    return block
  }
  const part = (index: number, first: number, last: number): number => {
    if (endpoint && index === divisions && index > 0) return last
    return index * ((last - first) / Math.max(1, divisions)) + first
  }
  return sequence(count, type, (index) => {
    const re = part(index, from.re, to.re)
    if (isComplex(type)) return { re, im: part(index, from.im, to.im) }
    return isInteger(type) ? elementOf(re, type) : re
  })
}

interface EyeOptions extends CreationOptions {
  readonly k?: number | bigint
}

/** Ones on a diagonal, `k` above the main one, zeros elsewhere. */
function eye(
  rows: number | bigint,
  columns?: number | bigint | null | EyeOptions,
  { k = 0, dtype = float64 }: EyeOptions = {},
): Block {
  if (typeof columns === 'object' && columns !== null) return eye(rows, null, columns)
  const [height, width] = shapeOf([rows, columns ?? rows]) as [number, number]
  const block = newBlock(dtype, [height, width])
  const one = elementOf(1, dtype)
  for (let row = 0; row < height; row += 1) {
    const column = row + Number(k)
    if (column >= 0 && column < width) writeElement(block.data, row * width + column, one)
  }
  return block
}

/** Of each row the elements from the first to before the second column stay. */
function triangle(x: Block, keptOf: (row: number, width: number) => [number, number]): Block {
  if (x.shape.length < 2)
    throw new ArrayError('SHAPE', `a matrix has at least two axes, not shape ${shapeText(x.shape)}`)
  const { data: from, offset } = contiguous(x)
  const block = newResult(x.dtype, x.shape)
  const to = block.data as Float64Array
  const { lanes } = x.dtype
  const zero = (isWide(x.dtype) ? 0n : 0) as number
  const [height, width] = x.shape.slice(-2) as [number, number]
  const matrices = sizeOf(x.shape) / Math.max(1, height * width)
  for (let matrix = 0, start = 0; matrix < matrices; matrix += 1)
    for (let row = 0; row < height; row += 1, start += width * lanes) {
      const [first, end] = keptOf(row, width).map((column) => Math.min(width, Math.max(0, column))) as [number, number]
      const [kept, after] = [start + first * lanes, start + end * lanes]
      to.fill(zero, start, kept)
      if (after > kept) to.set(from.subarray(offset * lanes + kept, offset * lanes + after) as Float64Array, kept)
      to.fill(zero, Math.max(kept, after), start + width * lanes)
    }
  return block
}

/** The elements on the diagonal `k` and below it; zeros above. */
function tril(x: Block, { k = 0 }: { readonly k?: number | bigint } = {}): Block {
  return triangle(x, (row) => [0, row + Number(k) + 1])
}

/** The elements on the diagonal `k` and above it; zeros below. */
function triu(x: Block, { k = 0 }: { readonly k?: number | bigint } = {}): Block {
  return triangle(x, (row, width) => [row + Number(k), width])
}

/** For each array of one axis a grid in which it lies along an axis of its own: `xy` has the first two in turn. */
function meshgrid(...operands: readonly (Block | { readonly indexing?: 'xy' | 'ij' })[]): Block[] {
  const arrays = operands.filter((operand): operand is Block => 'data' in operand)
  const { indexing = 'xy' } = (operands.find((operand) => !('data' in operand)) ?? {}) as { indexing?: string }
  if (indexing !== 'xy' && indexing !== 'ij')
    throw new ArrayError('VALUE', `indexing must be 'xy' or 'ij', not '${indexing}'`)
  for (const { shape } of arrays)
    if (shape.length > 1) throw new ArrayError('SHAPE', `meshgrid() takes arrays of one axis, not ${shapeText(shape)}`)
  const place = (index: number): number => (indexing === 'xy' && arrays.length > 1 && index < 2 ? 1 - index : index)
  const extents = arrays.map((_, axis) => sizeOf(arrays[place(axis)]!.shape))
  return arrays.map((array, index) => {
    const axis = place(index)
    const shape = arrays.map((_, other) => (other === axis ? extents[axis]! : 1))
    const strides = shape.map((_, other) => (other === axis ? (array.strides[0] ?? 0) : 0))
    return copyOf(broadcastTo({ ...array, shape, strides }, extents))
  })
}

/**
 * The array of a scalar, lists in lists, or a typed array, over whose memory it lies unless `copy` is true. An array is
 * itself, unless `copy` is true or the type another. With `copy: false`, what needs a copy is an error.
 */
function asarray(
  value: ArrayNode | ArrayLike,
  { dtype, copy }: CreationOptions & { readonly copy?: boolean | null } = {},
): ArrayNode {
  const isArray = value instanceof ArrayNode || ArrayBuffer.isView(value)
  const node = value instanceof ArrayNode ? value : nodeOfLike(value, dtype)
  const isOther = dtype !== undefined && dtype !== node.dtype
  if (copy === false && (isOther || !isArray))
    throw new ArrayError('VALUE', 'Unable to avoid copy while creating an array as requested.')
  if (isOther) return cast(node, dtype)
  return copy === true && isArray ? nodeOf(copyOf(demand(node))) : node
}

function fromDlpack(x: ArrayNode | ArrayBufferView, { copy }: { readonly copy?: boolean | null } = {}): ArrayNode {
  return asarray(x, copy === undefined ? {} : { copy })
}

const like = 'x, /, *, dtype=None, device=None'

export const creation: readonly (Entry | NodeEntry)[] = [
  {
    name: 'arange',
    parameters: 'start, /, stop=None, step=1, *, dtype=None, device=None',
    moves: 'nothing',
    compute: arange,
  },
  { name: 'asarray', parameters: 'obj, /, *, dtype=None, device=None, copy=None', moves: 'nothing', build: asarray },
  { name: 'empty', parameters: 'shape, *, dtype=None, device=None', moves: 'nothing', compute: zeros },
  { name: 'empty_like', parameters: like, moves: 'nothing', build: zerosLike },
  {
    name: 'eye',
    parameters: 'n_rows, n_cols=None, /, *, k=0, dtype=None, device=None',
    moves: 'nothing',
    compute: eye,
  },
  { name: 'from_dlpack', parameters: 'x, /, *, device=None, copy=None', moves: 'nothing', build: fromDlpack },
  { name: 'full', parameters: 'shape, fill_value, *, dtype=None, device=None', moves: 'nothing', compute: full },
  {
    name: 'full_like',
    parameters: 'x, /, fill_value, *, dtype=None, device=None',
    moves: 'nothing',
    build: fullLike,
  },
  {
    name: 'linspace',
    parameters: 'start, stop, /, num, *, dtype=None, device=None, endpoint=True',
    moves: 'nothing',
    compute: linspace,
  },
  { name: 'meshgrid', parameters: "*arrays, indexing='xy'", moves: 'everything', compute: meshgrid },
  { name: 'ones', parameters: 'shape, *, dtype=None, device=None', moves: 'nothing', compute: ones },
  { name: 'ones_like', parameters: like, moves: 'nothing', build: onesLike },
  { name: 'tril', parameters: 'x, /, *, k=0', moves: 'nothing', compute: tril },
  { name: 'triu', parameters: 'x, /, *, k=0', moves: 'nothing', compute: triu },
  { name: 'zeros', parameters: 'shape, *, dtype=None, device=None', moves: 'nothing', compute: zeros },
  { name: 'zeros_like', parameters: like, moves: 'nothing', build: zerosLike },
]

export interface Creation {
  arange: typeof arange
  asarray: typeof asarray
  empty: typeof zeros
  emptyLike: typeof zerosLike
  eye: typeof eye
  fromDlpack: typeof fromDlpack
  full: typeof full
  fullLike: typeof fullLike
  linspace: typeof linspace
  meshgrid: typeof meshgrid
  ones: typeof ones
  onesLike: typeof onesLike
  tril: typeof tril
  triu: typeof triu
  zeros: typeof zeros
  zerosLike: typeof zerosLike
}
