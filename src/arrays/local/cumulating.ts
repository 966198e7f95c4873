import { type Block, newResult } from '../blocks/block.ts'
import { axisOf, reshapeView } from '../blocks/layout.ts'
import { ArrayError } from '../errors.ts'
import { type DType, float32, float64, isComplex, isWide, realOf } from '../types/dtype.ts'
import { castTo } from './casting.ts'
import { linesOf } from './lines.ts'
import { runningProduct } from './products.ts'
import { wordsOf } from './reduction.ts'
import { accumulatedType, fillWithOne } from './statistics.ts'

export interface CumulativeOptions {
  /** May be left out for one axis only. */
  readonly axis?: number | null
  readonly dtype?: DType | null
  /** Does the result begin with 0, or for products with 1? */
  readonly includeInitial?: boolean
}

type Numbers = Float64Array

/** Writes the sums or products so far of `count` numbers, the first of which is at `start`. */
type Line = (from: Numbers, start: number, count: number, to: Numbers, at: number) => void

/** Each element is the sum of those up to it along the axis, added one after another. */
export function cumulativeSum(x: Block, options: CumulativeOptions = {}): Block {
  return cumulate(x, options, 'sum')
}

/** Each element is the product of those up to it along the axis, multiplied one after another. */
export function cumulativeProd(x: Block, options: CumulativeOptions = {}): Block {
  return cumulate(x, options, 'product')
}

/** The type and the shape of a cumulation. A block of no axes is one of one element. */
export function cumulativeResult(name: 'cumulative_sum' | 'cumulative_prod') {
  return ({ dtype, shape }: Block, options: CumulativeOptions = {}): { dtype: DType; shape: readonly number[] } => {
    const from = shape.length === 0 ? [1] : shape
    if (from.length > 1 && (options.axis === undefined || options.axis === null))
      throw new ArrayError('AXIS', 'For arrays which have more than one dimension ``axis`` argument is required.')
    const axis = axisOf(options.axis ?? 0, from.length)
    const extent = from[axis]! + Number(options.includeInitial ?? false)
    return { dtype: accumulatedType(dtype, options, name), shape: from.with(axis, extent) }
  }
}

function cumulate(x: Block, options: CumulativeOptions, what: 'sum' | 'product'): Block {
  const { dtype: to } = cumulativeResult(what === 'sum' ? 'cumulative_sum' : 'cumulative_prod')(x, options)
  const operand = x.shape.length === 0 ? reshapeView(x, [1])! : x
  const { block, length, count, restore } = linesOf(castTo(operand, to), options.axis ?? 0)
  const initial = options.includeInitial === true ? 1 : 0
  const lines = newResult(to, block.shape.with(-1, length + initial))
  if (initial === 1) lines.data.fill((isWide(to) ? 0n : 0) as never)
  if (initial === 1 && what === 'product') fillWithOne(lines)
  const line = lineOf(to, what)
  const from = (isWide(to) ? wordsOf(block.data) : block.data) as Numbers
  const target = (isWide(to) ? wordsOf(lines.data) : lines.data) as Numbers
  for (let index = 0; index < count; index += 1)
    line(from, block.offset + index * length, length, target, index * (length + initial) + initial)
  return restore(lines)
}

function lineOf(to: DType, what: 'sum' | 'product'): Line {
  if (isWide(to)) return (what === 'sum' ? runningSum : runningProduct) as unknown as Line
  if (isComplex(to)) return what === 'sum' ? complexSums : complexProducts(realOf(to) === float32)
  if (what === 'sum' && to === float64) return doubleSums
  if (what === 'sum' && to === float32) return singleSums as unknown as Line
  return what === 'sum' ? sums : to.kind === 'real floating' ? products : wrappingProducts
}

// A loop for each of these types: of one for several, the engine makes slower code.

const doubleSums = (from: Float64Array, start: number, count: number, to: Float64Array, at: number): void => {
  let sum = -0
  for (let index = 0; index < count; index += 1) {
    sum += from[start + index]!
    to[at + index] = sum
  }
}

const singleSums = (from: Float32Array, start: number, count: number, to: Float32Array, at: number): void => {
  let sum = Math.fround(-0)
  for (let index = 0; index < count; index += 1) {
    sum = Math.fround(sum + from[start + index]!)
    to[at + index] = sum
  }
}

// What is read back is rounded, or wrapped, as the type has it.

const sums: Line = (from, start, count, to, at) => {
  let sum = -0
  for (let index = 0; index < count; index += 1) {
    to[at + index] = sum + from[start + index]!
    sum = to[at + index]!
  }
}

const products: Line = (from, start, count, to, at) => {
  let product = 1
  for (let index = 0; index < count; index += 1) {
    to[at + index] = product * from[start + index]!
    product = to[at + index]!
  }
}

const wrappingProducts: Line = (from, start, count, to, at) => {
  let product = 1
  for (let index = 0; index < count; index += 1) {
    to[at + index] = product = Math.imul(product, from[start + index]!)
  }
}

const complexSums: Line = (from, start, count, to, at) => {
  let re = -0
  let im = -0
  for (let index = 0; index < count; index += 1) {
    to[2 * (at + index)] = re + from[2 * (start + index)]!
    to[2 * (at + index) + 1] = im + from[2 * (start + index) + 1]!
    re = to[2 * (at + index)]!
    im = to[2 * (at + index) + 1]!
  }
}

function complexProducts(single: boolean): Line {
  const rounded = single ? Math.fround : (value: number): number => value
  return (from, start, count, to, at) => {
    for (let index = 0; index < count; index += 1) {
      const re = from[2 * (start + index)]!
      const im = from[2 * (start + index) + 1]!
      const place = 2 * (at + index)
      const [real, imaginary] = index === 0 ? [1, 0] : [to[place - 2]!, to[place - 1]!]
      to[place] = index === 0 ? re : rounded(real * re) - rounded(imaginary * im)
      to[place + 1] = index === 0 ? im : rounded(real * im) + rounded(imaginary * re)
    }
  }
}

/** Sums modulo 2^64, in words. */
function runningSum(words: Uint32Array, start: number, count: number, to: Uint32Array, at: number): void {
  let lower = 0
  let upper = 0
  for (let index = 0; index < count; index += 1) {
    lower += words[2 * (start + index)]!
    upper += words[2 * (start + index) + 1]!
    if (lower >= 2 ** 32) {
      lower -= 2 ** 32
      upper += 1
    }
    upper >>>= 0
    to[2 * (at + index)] = lower
    to[2 * (at + index) + 1] = upper
  }
}
