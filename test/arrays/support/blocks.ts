import assert from 'node:assert/strict'
import type { Block } from '../../../src/arrays/blocks/block.ts'
import { blockOver, rowMajor, sizeOf } from '../../../src/arrays/blocks/block.ts'
import type { Complex, Scalar } from '../../../src/arrays/types/complex.ts'
import { bool, type DType, type Elements, float32, float64, isWide, realOf } from '../../../src/arrays/types/dtype.ts'

/** The elements of a block one after another in row-major order: a copy, whatever the strides are. */
export function rowMajorElements(block: Block): Elements {
  const { dtype, shape, strides, offset, data } = block
  const { lanes } = dtype
  const size = sizeOf(shape)
  const elements = new dtype.Elements(size * lanes)
  const at = new Array<number>(shape.length).fill(0)
  let from = offset
  for (let to = 0; to < size; to += 1) {
    for (let lane = 0; lane < lanes; lane += 1) elements[to * lanes + lane] = data[from * lanes + lane] as never
    for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
      at[axis]! += 1
      from += strides[axis]!
      if (at[axis]! < shape[axis]!) break
      from -= at[axis]! * strides[axis]!
      at[axis] = 0
    }
  }
  return elements
}

/** Nested values, or one value for a shape of no axes. */
export type Nested = Scalar | readonly Nested[]

/** A block of nested lists of numbers: `block(int32, [[1, 2], [3, 4]])`. 64-bit integers may be numbers. */
export function block(dtype: DType, values: Nested): Block {
  const shape: number[] = []
  for (let level = values; Array.isArray(level); level = level[0]) shape.push(level.length)
  const flat = (Array.isArray(values) ? values.flat(Number.POSITIVE_INFINITY) : [values]) as Scalar[]
  assert.equal(flat.length, sizeOf(shape), 'the lists are not a block')
  const elements = new dtype.Elements(flat.length * dtype.lanes)
  for (const [index, value] of flat.entries()) {
    if (dtype.lanes === 2) {
      const { re, im } = typeof value === 'object' ? value : { re: Number(value), im: 0 }
      elements[index * 2] = re as never
      elements[index * 2 + 1] = im as never
    } else elements[index] = (isWide(dtype) ? BigInt(value as number) : Number(value)) as never
  }
  return blockOver(elements, dtype, shape)
}

/** The same elements in other memory: reversed along every axis, in column-major order, and with gaps. */
export function scattered(from: Block): Block {
  const { dtype, shape } = from
  const elements = rowMajorElements(from)
  const backwards = rowMajor([...shape].reverse()).reverse()
  const strides = backwards.map((stride) => -3 * stride)
  const size = sizeOf(shape)
  const offset = 1 + 3 * Math.max(0, size - 1)
  const data = new dtype.Elements((offset + 2) * dtype.lanes)
  data.fill((isWide(dtype) ? 1n : 1) as never) // so that a wrong stride is seen
  const at = new Array<number>(shape.length).fill(0)
  for (let index = 0; index < size; index += 1) {
    let to = offset
    for (const [axis, position] of at.entries()) to += position * strides[axis]!
    for (let lane = 0; lane < dtype.lanes; lane += 1) {
      data[to * dtype.lanes + lane] = elements[index * dtype.lanes + lane] as never
    }
    for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
      at[axis]! += 1
      if (at[axis]! < shape[axis]!) break
      at[axis] = 0
    }
  }
  return { dtype, shape, strides, offset, data }
}

/** How far an element may be from what is expected. Without either they must be the same bits, but any NaN is NaN. */
export interface Closeness {
  /** Units in the last place of the expected number; of a complex number, of its larger part. */
  readonly ulps?: number
  /** A multiple of the machine epsilon, times the largest finite expected magnitude in the block. */
  readonly epsilons?: number
  /** Is 0 the same as -0? */
  readonly zerosEqual?: boolean
}

/** Fails unless both have the same dtype, the same shape, and elements as close as asked for. */
export function assertBlock(actual: Block, expected: Block, closeness: Closeness = {}, what = 'the block'): void {
  assert.equal(actual.dtype.name, expected.dtype.name, `${what}: dtype`)
  assert.deepEqual([...actual.shape], [...expected.shape], `${what}: shape`)
  const left = rowMajorElements(actual)
  const right = rowMajorElements(expected)
  const bound = boundOf(right, expected.dtype, closeness)
  const { lanes } = expected.dtype
  for (let index = 0; index < right.length; index += 1) {
    const [one, other] = [left[index]!, right[index]!]
    if (Object.is(one, other) || (closeness.zerosEqual === true && one === other)) continue
    const magnitude = lanes === 1 ? Number(other) : Math.max(...[0, 1].map((lane) => size(right[(index & ~1) + lane])))
    if (typeof one === 'number' && Math.abs(one - (other as number)) <= bound(magnitude)) {
      if (lanes === 2 || one !== 0 || other !== 0) continue
    }
    const where = indicesOf(Math.floor(index / lanes), expected.shape)
    const part = lanes === 1 ? '' : ['.re', '.im'][index % 2]
    const [says, shall] = [one, other].map((value) => (Object.is(value, -0) ? '-0' : String(value)))
    assert.fail(`${what}: [${where}]${part} of ${expected.dtype} is ${says}, expected ${shall}`)
  }
}

function size(part: number | bigint | undefined): number {
  return Math.abs(Number(part))
}

function boundOf(expected: Elements, dtype: DType, closeness: Closeness): (magnitude: number) => number {
  const { ulps = 0, epsilons = 0 } = closeness
  const epsilon = realOf(dtype) === float32 ? 2 ** -23 : realOf(dtype) === float64 ? 2 ** -52 : 0
  const tiny = epsilon === 2 ** -23 ? 2 ** -149 : 2 ** -1074
  let largest = 0
  if (epsilons > 0) {
    for (const value of expected) {
      const magnitude = Math.abs(Number(value))
      if (magnitude > largest && magnitude < Number.POSITIVE_INFINITY) largest = magnitude
    }
  }
  if (epsilon === 0) return () => -1
  return (magnitude) => {
    if (!Number.isFinite(magnitude)) return -1
    const unit = Math.max(tiny, 2 ** Math.floor(Math.log2(Math.abs(magnitude))) * epsilon)
    return Math.max(ulps * unit, epsilons * epsilon * largest)
  }
}

function indicesOf(index: number, shape: readonly number[]): number[] {
  const indices: number[] = []
  for (let axis = shape.length - 1, rest = index; axis >= 0; axis -= 1) {
    indices.unshift(rest % shape[axis]!)
    rest = Math.floor(rest / shape[axis]!)
  }
  return indices
}

/** The elements as a flat list of what JavaScript has. */
export function values(of: Block): Scalar[] {
  const elements = rowMajorElements(of)
  if (of.dtype === bool) return Array.from(elements as Uint8Array, (value) => value !== 0)
  if (of.dtype.lanes === 1) return Array.from(elements as Iterable<number>)
  const list: Complex[] = []
  for (let at = 0; at < elements.length; at += 2) {
    list.push({ re: elements[at] as number, im: elements[at + 1] as number })
  }
  return list
}
