import { type DType, type Elements, float32, float64, isComplex, isInteger, isWide, realOf } from '../types/dtype.ts'
import type { Reduction } from './reduction.ts'

type Numbers = Float64Array

/** Products of elements of one type as another, which is the same or a wider integer; lanes as for sums. */
export function productOf(from: DType, to: DType): Reduction {
  return { ...productTwin(from, to), native: 'prod' }
}

function productTwin(from: DType, to: DType): Reduction {
  if (isWide(to))
    return { to, from: isWide(from) ? from : float64, piece: isWide(from) ? wide : narrow, join: joinWords }
  if (isComplex(to)) return complexProduct(to)
  if (isInteger(to)) return { to, from: float64, piece: wrapping, join: joinWrapping }
  const lanes = new to.Elements(8) as Numbers
  const piece: Reduction['piece'] = (numbers, start, count, result, at) => {
    lanes.fill(1)
    for (let index = 0; index < count; index += 1) lanes[index & 7]! *= (numbers as Numbers)[start + index]!
    for (let step = 1; step < 8; step *= 2)
      for (let lane = 0; lane < 8; lane += 2 * step) lanes[lane]! *= lanes[lane + step]!
    result[at] = lanes[0]!
  }
  const join: Reduction['join'] = (result, at, other) => {
    ;(result as Numbers)[at]! *= (result as Numbers)[other]!
  }
  return { to, from: to === float32 ? float32 : float64, piece, join }
}

/** Integers of up to 32 bits, modulo 2^32: what is stored is as many low bits as the type has. */
const wrapping: Reduction['piece'] = (numbers, start, count, result, at) => {
  let product = 1
  for (let index = start; index < start + count; index += 1) product = Math.imul(product, (numbers as Numbers)[index]!)
  result[at] = product
}

const joinWrapping: Reduction['join'] = (result, at, other) => {
  result[at] = Math.imul(result[at] as number, result[other] as number)
}

/** A product modulo 2^64 in two words. */
const product = { lower: 1, upper: 0 }

function multiplyBy(lower: number, upper: number): void {
  const [a, b] = [product.lower & 0xffff, product.lower >>> 16]
  const [c, d] = [lower & 0xffff, lower >>> 16]
  const middle = b * c + ((a * c) >>> 16)
  const carried = Math.floor(middle / 2 ** 16) + Math.floor(((middle & 0xffff) + a * d) / 2 ** 16)
  product.upper = (Math.imul(product.lower, upper) + Math.imul(product.upper, lower) + b * d + carried) >>> 0
  product.lower = Math.imul(product.lower, lower) >>> 0
}

function startProduct(): void {
  product.lower = 1
  product.upper = 0
}

const wide: Reduction['piece'] = (numbers, start, count, result, at) => {
  const words = numbers as Uint32Array
  startProduct()
  for (let index = start; index < start + count; index += 1) multiplyBy(words[2 * index]!, words[2 * index + 1]!)
  writeProduct(result, at)
}

const narrow: Reduction['piece'] = (numbers, start, count, result, at) => {
  startProduct()
  for (let index = start; index < start + count; index += 1) {
    const value = (numbers as Numbers)[index]!
    multiplyBy(value >>> 0, value < 0 ? 0xffffffff : 0)
  }
  writeProduct(result, at)
}

const joinWords: Reduction['join'] = (result, at, other) => {
  const words = result as Uint32Array
  product.lower = words[2 * at]!
  product.upper = words[2 * at + 1]!
  multiplyBy(words[2 * other]!, words[2 * other + 1]!)
  writeProduct(result, at)
}

function writeProduct(result: Elements, at: number): void {
  result[2 * at] = product.lower
  result[2 * at + 1] = product.upper
}

/** `cumulative_prod` of 64-bit integers: words of each product so far, from words. */
export function runningProduct(words: Uint32Array, start: number, count: number, to: Uint32Array, at: number): void {
  startProduct()
  for (let index = 0; index < count; index += 1) {
    multiplyBy(words[2 * (start + index)]!, words[2 * (start + index) + 1]!)
    writeProduct(to, at + index)
  }
}

function complexProduct(to: DType): Reduction {
  const rounded = realOf(to) === float32 ? Math.fround : (value: number): number => value
  const lanes = new to.Elements(16) as Numbers
  /** Multiplies lane by a number. */
  const multiply = (data: Numbers, at: number, re: number, im: number): void => {
    const [real, imaginary] = [data[2 * at]!, data[2 * at + 1]!]
    data[2 * at] = rounded(real * re) - rounded(imaginary * im)
    data[2 * at + 1] = rounded(real * im) + rounded(imaginary * re)
  }
  return {
    to,
    from: to,
    piece: (numbers, start, count, result, at) => {
      const used = Math.min(8, count)
      // Lanes begin with their first number, not with 1: multiplying by 1 would make a NaN of an infinity.
      for (let index = 0; index < 2 * used; index += 1) lanes[index] = (numbers as Numbers)[2 * start + index]!
      for (let index = 8; index < count; index += 1)
        multiply(
          lanes,
          index & 7,
          (numbers as Numbers)[2 * (start + index)]!,
          (numbers as Numbers)[2 * (start + index) + 1]!,
        )
      for (let step = 1; step < used; step *= 2)
        for (let lane = 0; lane + step < used; lane += 2 * step)
          multiply(lanes, lane, lanes[2 * (lane + step)]!, lanes[2 * (lane + step) + 1]!)
      result[2 * at] = lanes[0]!
      result[2 * at + 1] = lanes[1]!
    },
    join: (result, at, other) =>
      multiply(result as Numbers, at, result[2 * other] as number, result[2 * other + 1] as number),
  }
}
