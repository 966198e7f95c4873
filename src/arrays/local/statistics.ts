import { type Block, blockOver, newResult, sizeOf } from '../blocks/block.ts'
import { ArrayError } from '../errors.ts'
import type { Step } from '../kernels/program.ts'
import { runProgram } from '../kernels/run-program.ts'
import {
  bool,
  type DType,
  type Elements,
  float64,
  int64,
  isComplex,
  isFloating,
  isInteger,
  isWide,
  realOf,
  uint64,
} from '../types/dtype.ts'
import { castTo } from './casting.ts'
import { productOf } from './products.ts'
import { type Reduction, type ReductionOptions, reduce, reducedCount, reducedShape } from './reduction.ts'
import { squaresAbout, sumOf } from './sums.ts'

export interface TypedOptions extends ReductionOptions {
  readonly dtype?: DType | null
}

export interface SpreadOptions extends ReductionOptions {
  /** The divisor is the number of elements less this. */
  readonly correction?: number | bigint
}

/** The type of a sum or a product: integers are summed in 64 bits, and what is true counts as 1. */
function accumulatorOf(dtype: DType): DType {
  if (dtype.kind === 'unsigned integer') return uint64
  return dtype === bool || isInteger(dtype) ? int64 : dtype
}

export function sum(x: Block, options: TypedOptions = {}): Block {
  const { source, to } = accumulated(x, options, 'sum')
  return reduce(source, options, sumOf(source.dtype, to))
}

export function prod(x: Block, options: TypedOptions = {}): Block {
  const { source, to } = accumulated(x, options, 'prod')
  const result = reduce(source, options, productOf(source.dtype, to))
  if (sizeOf(source.shape) === 0) fillWithOne(result)
  return result
}

/** The type of a sum or a product, given or by default. */
export function accumulatedType(dtype: DType, options: { readonly dtype?: DType | null }, name: string): DType {
  const to = options.dtype ?? accumulatorOf(dtype)
  if (to === bool) throw new ArrayError('TYPE', `${name} cannot be of dtype bool; use any() or all()`)
  return to
}

/** The operand as the type in which it is summed; small integers need no copy for that. */
function accumulated(x: Block, options: TypedOptions, name: string): { source: Block; to: DType } {
  const to = accumulatedType(x.dtype, options, name)
  const fits = isInteger(to) && !isFloating(x.dtype) && (isWide(to) || !isWide(x.dtype))
  return { source: fits ? x : castTo(x, to), to }
}

export function fillWithOne(block: Block): void {
  const { data, dtype } = block
  if (isComplex(dtype)) for (let index = 0; index < data.length; index += 2) data[index] = 1
  else data.fill((isWide(dtype) ? 1n : 1) as never)
}

/** The type of a mean: that of floating elements, else the default real type. */
export function meanType(dtype: DType): DType {
  return isFloating(dtype) ? dtype : float64
}

export function mean(x: Block, options: ReductionOptions = {}): Block {
  const { source, result } = meanOf(x, options)
  divide(result.data, reducedCount(source.shape, options))
  return result
}

function meanOf(x: Block, options: ReductionOptions): { source: Block; result: Block } {
  // Integers of at most 32 bits are read as float64 anyway.
  const source = isWide(x.dtype) ? castTo(x, float64) : x
  return { source, result: reduce(source, options, sumOf(source.dtype, meanType(x.dtype))) }
}

function divide(data: Elements, by: number): void {
  const numbers = data as Float64Array
  for (let index = 0; index < numbers.length; index += 1) numbers[index]! /= by
}

export function std(x: Block, options: SpreadOptions = {}): Block {
  const result = variance(x, options)
  const numbers = result.data as Float64Array
  for (let index = 0; index < numbers.length; index += 1) numbers[index] = Math.sqrt(numbers[index]!)
  return result
}

/** The mean of squares about the mean, in two passes. `var` is a word of JavaScript. */
export function variance(x: Block, options: SpreadOptions = {}): Block {
  const { source, result: center } = meanOf(x, options)
  const count = reducedCount(source.shape, options)
  divide(center.data, count)
  const result = sumOfSquares(source, center, options)
  const divisor = count - Number(options.correction ?? 0)
  divide(result.data, divisor > 0 ? divisor : Number.NaN)
  return result
}

/** More bytes of squares are not kept at a time. */
const SQUARES_BYTES_MAX = 2 ** 28

/**
 * The sum of squares about the center of each output. All squares are computed at once by kernels, and then summed:
 * their sums are those of `squaresAbout`, which does it piece by piece.
 */
function sumOfSquares(source: Block, center: Block, options: ReductionOptions): Block {
  const { dtype: type } = center
  if (isComplex(type) || sizeOf(source.shape) * type.bytes > SQUARES_BYTES_MAX)
    return reduce(source, options, squaresAbout(center.data, type))
  const squares = newResult(type, source.shape)
  const middle = blockOver(center.data, type, reducedShape(source.shape, { ...options, keepdims: true }))
  const isOther = source.dtype !== type
  const [read, difference] = isOther ? [2, 3] : [0, 2]
  const steps: Step[] = [
    ...(isOther ? [{ operation: 'cast', from: source.dtype, to: type, operands: [0] }] : []),
    { operation: 'subtract', from: type, to: type, operands: [read, 1] },
    { operation: 'multiply', from: type, to: type, operands: [difference, difference] },
  ]
  const outputs = [{ register: difference + 1, block: squares }]
  runProgram({ shape: source.shape, inputs: [source, middle], constants: [], steps, outputs })
  return reduce(squares, options, sumOf(type, type))
}

/** The type of a variance. */
export function spreadType(dtype: DType): DType {
  return realOf(meanType(dtype))
}

/** The greatest element; NaN if one is. 0 is greater than -0. */
export function max(x: Block, options: ReductionOptions = {}): Block {
  return extremum(x, options, 'max')
}

/** The least element; NaN if one is. -0 is less than 0. */
export function min(x: Block, options: ReductionOptions = {}): Block {
  return extremum(x, options, 'min')
}

function extremum(x: Block, options: ReductionOptions, name: 'max' | 'min'): Block {
  extremumResult(name)(x, options)
  return reduce(x, options, { ...extremumOf(x.dtype, name), native: name })
}

/** The type and the shape of `max` and `min`. */
export function extremumResult(name: 'max' | 'min') {
  return ({ dtype, shape }: Block, options: ReductionOptions = {}): { dtype: DType; shape: number[] } => {
    if (isComplex(dtype))
      throw new ArrayError('TYPE', `Only real-valued data types are allowed in ${name}, not ${dtype}`)
    const reduced = reducedShape(shape, options)
    if (sizeOf(shape) === 0 && sizeOf(reduced) > 0)
      throw new ArrayError('VALUE', `zero-size array to reduction operation ${name}imum which has no identity`)
    return { dtype, shape: reduced }
  }
}

function extremumOf(dtype: DType, name: 'max' | 'min'): Reduction {
  if (isWide(dtype)) return wideExtremum(dtype, name)
  const choose = Math[name]
  const piece: Reduction['piece'] =
    name === 'max'
      ? (numbers, start, count, result, at) => {
          let most = (numbers as Float64Array)[start]!
          for (let index = start; index < start + count; index += 1)
            most = Math.max(most, (numbers as Float64Array)[index]!)
          result[at] = most
        }
      : (numbers, start, count, result, at) => {
          let least = (numbers as Float64Array)[start]!
          for (let index = start; index < start + count; index += 1)
            least = Math.min(least, (numbers as Float64Array)[index]!)
          result[at] = least
        }
  return {
    to: dtype,
    from: float64,
    piece,
    join: (result, at, other) => {
      result[at] = choose(result[at] as number, result[other] as number)
    },
  }
}

function wideExtremum(dtype: DType, name: 'max' | 'min'): Reduction {
  const copy = (result: Elements, at: number, words: Elements, from: number): void => {
    result[2 * at] = words[2 * from] as number
    result[2 * at + 1] = words[2 * from + 1] as number
  }
  const place = extremePlace(dtype, name)
  return {
    to: dtype,
    from: dtype,
    piece: (words, start, count, result, at) => copy(result, at, words, place(words as Uint32Array, start, count, 1)),
    join: (result, at, other) => copy(result, at, result, place(result as Uint32Array, at, 2, other - at)),
  }
}

/**
 * Where the first of the greatest or least of `count` 64-bit integers is, which lie `step` apart. Their words are
 * compared as signed ones: the sign is turned over of those that are not, and all bits for the least.
 */
function extremePlace(
  dtype: DType,
  name: 'max' | 'min',
): (words: Uint32Array, start: number, count: number, step: number) => number {
  const turn = name === 'max' ? 0 : -1
  const turnLower = turn ^ 0x80000000
  const turnUpper = dtype === int64 ? turn : turnLower
  return (words, start, count, step) => {
    let first = start
    let upper = words[2 * start + 1]! ^ turnUpper
    let lower = words[2 * start]! ^ turnLower
    for (let index = start + step; index < start + count * step; index += step) {
      const high = words[2 * index + 1]! ^ turnUpper
      if (high < upper) continue
      const low = words[2 * index]! ^ turnLower
      if (high === upper && low <= lower) continue
      first = index
      upper = high
      lower = low
    }
    return first
  }
}
