import { type Block, newResult, sizeOf } from '../../blocks/block.ts'
import { contiguous } from '../../blocks/copying.ts'
import { axisOf } from '../../blocks/layout.ts'
import { ArrayError } from '../../errors.ts'
import type { PartOfArray } from '../../partitions/runs.ts'
import { bool, type DType, float32, float64, int64, isInteger } from '../../types/dtype.ts'
import { integerBounds } from '../../types/scalar.ts'
import { fillIntegers } from './integers.ts'
import { fillNormal32, fillNormal64 } from './normal.ts'
import { fillUniform32, fillUniform64 } from './uniform.ts'
import { type StreamSource, WordStream } from './word-stream.ts'

/** A shape, or the one extent of it. */
export type Size = number | readonly number[]

export interface RealOptions {
  readonly dtype?: DType
}

export interface IntegersOptions {
  readonly dtype?: DType
  /** Is `high` among the integers? */
  readonly endpoint?: boolean
}

export interface PermutationOptions {
  readonly axis?: number
}

/**
 * Random numbers as NumPy's `Generator(Philox(…))` gives them, bit for bit and in the same order of calls. What a call
 * returns hangs only on the seed and on the calls before it.
 *
 * Of normal numbers beyond ±3.65, one in 4,000, the last bit is that of the platform's logarithm.
 */
export class RandomGenerator {
  readonly #stream: WordStream

  /** From a seed as `Philox(seed)`, or from `{ key, counter }` as `Philox(key=key, counter=counter)`. */
  constructor(source: number | bigint | StreamSource) {
    this.#stream = new WordStream(typeof source === 'object' ? source : { seed: source })
  }

  /** Real numbers in [0, 1). */
  random(size: Size = [], options: RealOptions = {}): Block {
    const { block, data } = this.#reals(size, options.dtype)
    if (data instanceof Float64Array) fillUniform64(this.#stream, data)
    else fillUniform32(this.#stream, data)
    return block
  }

  /** The part of `random(size)` that a rank has, without the numbers of others: each takes one word. */
  randomPart(size: Size, part: PartOfArray): Block {
    const stream = this.#stream
    const first = stream.position
    const block = newResult(float64, part.shape)
    const data = block.data as Float64Array
    let at = 0
    for (const { start, length } of part.runs) {
      stream.seek(first + start)
      fillUniform64(stream, data.subarray(at, at + length))
      at += length
    }
    stream.seek(first + sizeOf(shapeOf(size)))
    return block
  }

  /** Real numbers in [low, high). */
  uniform(low = 0, high = 1, size: Size = []): Block {
    const span = spanOf(low, high)
    return this.#scaled(this.random(size), low, span)
  }

  /** The part of `uniform(low, high, size)` that a rank has. */
  uniformPart(low: number, high: number, size: Size, part: PartOfArray): Block {
    const span = spanOf(low, high)
    return this.#scaled(this.randomPart(size, part), low, span)
  }

  /** Normal numbers of mean 0 and variance 1. */
  standardNormal(size: Size = [], options: RealOptions = {}): Block {
    const { block, data } = this.#reals(size, options.dtype)
    if (data instanceof Float64Array) fillNormal64(this.#stream, data)
    else fillNormal32(this.#stream, data)
    return block
  }

  /** Normal numbers of this mean and standard deviation. */
  normal(mean = 0, deviation = 1, size: Size = []): Block {
    if (deviation < 0 || Object.is(deviation, -0)) throw new ArrayError('VALUE', 'scale < 0')
    return this.#scaled(this.standardNormal(size), mean, deviation)
  }

  /** Integers from `low` to below `high`, or below `low` and from 0 where `high` is not there. */
  integers(low: number | bigint, high?: number | bigint | null, size: Size = [], options: IntegersOptions = {}): Block {
    const { dtype = int64, endpoint = false } = options
    if (dtype !== bool && !isInteger(dtype)) throw new ArrayError('TYPE', `Unsupported dtype ${dtype} for integers`)
    const [first, end] = high === undefined || high === null ? [0, low] : [low, high]
    const from = wholeOf(first, 'low')
    const to = wholeOf(end, 'high') - (endpoint ? 0n : 1n)
    const { min, max } = dtype === bool ? { min: 0n, max: 1n } : integerBounds(dtype)
    if (from < min) throw new ArrayError('VALUE', `low is out of bounds for ${dtype}`)
    if (to > max) throw new ArrayError('VALUE', `high is out of bounds for ${dtype}`)
    if (from > to) throw new ArrayError('VALUE', endpoint ? 'low > high' : 'low >= high')
    const block = newResult(dtype, shapeOf(size))
    fillIntegers(this.#stream, block.data, dtype, from, to - from)
    return block
  }

  /** The integers below `x` in random order, or the parts of a block along an axis. */
  permutation(x: number | bigint | Block, options: PermutationOptions = {}): Block {
    if (typeof x !== 'object') return int64Block(this.#order(Number(wholeOf(x, 'x'))))
    const axis = axisOf(options.axis ?? 0, x.shape.length)
    return inOrder(contiguous(x), axis, this.#order(x.shape[axis]!))
  }

  /** A random order of `count` things: Durstenfeld's shuffle from the end (CACM 7, 1964), as NumPy does it. */
  #order(count: number): Uint32Array {
    if (count < 0 || count >= 2 ** 32)
      throw new ArrayError('VALUE', `cannot permute ${count} elements; at least 0 and below 2**32 can be`)
    const order = new Uint32Array(count)
    for (let index = 0; index < count; index += 1) order[index] = index
    for (let index = count - 1; index > 0; index -= 1) {
      const other = this.#below(index)
      const kept = order[index]!
      order[index] = order[other]!
      order[other] = kept
    }
    return order
  }

  /** An integer from 0 to `last`: the lowest bits of as many words as it takes. NumPy keeps this way for shuffles. */
  #below(last: number): number {
    const shift = Math.clz32(last)
    for (;;) {
      const value = (this.#stream.next32() << shift) >>> shift
      if (value <= last) return value
    }
  }

  #reals(size: Size, dtype: DType = float64): { block: Block; data: Float32Array | Float64Array } {
    if (dtype !== float32 && dtype !== float64)
      throw new ArrayError('TYPE', `Unsupported dtype ${dtype}; random real numbers are float32 or float64`)
    const block = newResult(dtype, shapeOf(size))
    return { block, data: block.data as Float64Array }
  }

  #scaled(block: Block, offset: number, factor: number): Block {
    const data = block.data as Float64Array
    for (let index = 0; index < data.length; index += 1) data[index] = offset + factor * data[index]!
    return block
  }
}

function spanOf(low: number, high: number): number {
  const span = high - low
  if (!Number.isFinite(span)) throw new ArrayError('VALUE', 'high - low range exceeds valid bounds')
  return span
}

function shapeOf(size: Size): readonly number[] {
  const shape = typeof size === 'number' ? [size] : size
  for (const extent of shape)
    if (!Number.isSafeInteger(extent) || extent < 0)
      throw new ArrayError('SHAPE', `negative dimensions are not allowed, nor fractions: ${extent}`)
  if (sizeOf(shape) > 2 ** 32) throw new ArrayError('MEMORY', `a block of ${sizeOf(shape)} elements is too large`)
  return shape
}

function wholeOf(value: number | bigint, name: string): bigint {
  if (typeof value === 'number' && !Number.isInteger(value))
    throw new ArrayError('VALUE', `${name} is ${value}; it must be a whole number`)
  return BigInt(value)
}

/** Written as halves: a BigInt for each would take longer. */
function int64Block(order: Uint32Array): Block {
  const block = newResult(int64, [order.length])
  const halves = new Uint32Array(block.data.buffer)
  for (let index = 0; index < order.length; index += 1) halves[2 * index] = order[index]!
  return block
}

/** A copy whose part i along an axis is part `order[i]` of the source. */
function inOrder(source: Block, axis: number, order: Uint32Array): Block {
  const target = newResult(source.dtype, source.shape)
  const inner = sizeOf(source.shape.slice(axis + 1)) * source.dtype.lanes
  const outer = sizeOf(source.shape.slice(0, axis))
  const start = source.offset * source.dtype.lanes
  const from = source.data as Float64Array
  const to = target.data as Float64Array
  let at = 0
  for (let outerIndex = 0; outerIndex < outer; outerIndex += 1) {
    const base = start + outerIndex * order.length * inner
    for (let index = 0; index < order.length; index += 1) {
      const place = base + order[index]! * inner
      for (let lane = 0; lane < inner; lane += 1) to[at++] = from[place + lane]!
    }
  }
  return target
}
