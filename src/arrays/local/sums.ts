import type { DType, Elements } from '../types/dtype.ts'
import { bool, float32, float64, isComplex, isWide, realOf } from '../types/dtype.ts'
import { PIECE, type Reduction } from './reduction.ts'

/** Numbers of typed arrays that are stored as they are. */
type Numbers = Float64Array

/**
 * The sum of numbers that lie `step` apart: lane i of eight takes numbers i, i + 8, …, from -0 on, to which adding
 * changes nothing. The lanes are added as ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)).
 */
function sumNumbers(from: Numbers, start: number, count: number, step: number): number {
  let a = -0
  let b = -0
  let c = -0
  let d = -0
  let e = -0
  let f = -0
  let g = -0
  let h = -0
  const end = start + (count - 7) * step
  let at = start
  for (; at < end; at += 8 * step) {
    a += from[at]!
    b += from[at + step]!
    c += from[at + 2 * step]!
    d += from[at + 3 * step]!
    e += from[at + 4 * step]!
    f += from[at + 5 * step]!
    g += from[at + 6 * step]!
    h += from[at + 7 * step]!
  }
  const rest = count % 8
  if (rest > 0) a += from[at]!
  if (rest > 1) b += from[at + step]!
  if (rest > 2) c += from[at + 2 * step]!
  if (rest > 3) d += from[at + 3 * step]!
  if (rest > 4) e += from[at + 4 * step]!
  if (rest > 5) f += from[at + 5 * step]!
  if (rest > 6) g += from[at + 6 * step]!
  return a + b + (c + d) + (e + f + (g + h))
}

const round = Math.fround

/** As above, with every sum rounded to float32. */
function sumSingles(from: Float32Array, start: number, count: number, step: number): number {
  let a = round(-0)
  let b = a
  let c = a
  let d = a
  let e = a
  let f = a
  let g = a
  let h = a
  const end = start + (count - 7) * step
  let at = start
  for (; at < end; at += 8 * step) {
    a = round(a + from[at]!)
    b = round(b + from[at + step]!)
    c = round(c + from[at + 2 * step]!)
    d = round(d + from[at + 3 * step]!)
    e = round(e + from[at + 4 * step]!)
    f = round(f + from[at + 5 * step]!)
    g = round(g + from[at + 6 * step]!)
    h = round(h + from[at + 7 * step]!)
  }
  const rest = count % 8
  if (rest > 0) a = round(a + from[at]!)
  if (rest > 1) b = round(b + from[at + step]!)
  if (rest > 2) c = round(c + from[at + 2 * step]!)
  if (rest > 3) d = round(d + from[at + 3 * step]!)
  if (rest > 4) e = round(e + from[at + 4 * step]!)
  if (rest > 5) f = round(f + from[at + 5 * step]!)
  if (rest > 6) g = round(g + from[at + 6 * step]!)
  return round(round(round(a + b) + round(c + d)) + round(round(e + f) + round(g + h)))
}

/** Sums of elements of one type as another, which is the same or a wider integer. */
export function sumOf(from: DType, to: DType): Reduction {
  const place = 16 * from.number + to.number
  const sum = sums[place] ?? { ...sumTwin(from, to), native: 'sum' }
  sums[place] = sum
  return sum
}

/** By the numbers of both types. */
const sums: Reduction[] = []

function sumTwin(from: DType, to: DType): Reduction {
  if (isComplex(to)) return complexSum(to)
  if (isWide(to)) return isWide(from) ? wideSum(from, to) : { to, from: float64, piece: exactSum, join: addWords }
  if (to === float32)
    return {
      to,
      from: float32,
      piece: (numbers, start, count, result, at) => {
        result[at] = sumSingles(numbers as Float32Array, start, count, 1)
      },
      join: add,
    }
  // What is stored to an array of integers wraps as it should: a sum of so few is exact.
  return {
    to,
    from: float64,
    piece: (numbers, start, count, result, at) => {
      result[at] = sumNumbers(numbers as Numbers, start, count, 1)
    },
    join: add,
  }
}

const add: Reduction['join'] = (to, at, other) => {
  ;(to as Numbers)[at]! += (to as Numbers)[other]!
}

function complexSum(to: DType): Reduction {
  const sum = (realOf(to) === float32 ? sumSingles : sumNumbers) as typeof sumNumbers
  return {
    to,
    from: to,
    piece: (numbers, start, count, result, at) => {
      result[2 * at] = sum(numbers as Numbers, 2 * start, count, 2)
      result[2 * at + 1] = sum(numbers as Numbers, 2 * start + 1, count, 2)
    },
    join: (result, at, other) => {
      add(result, 2 * at, 2 * other)
      add(result, 2 * at + 1, 2 * other + 1)
    },
  }
}

/** A sum of 4,096 integers of 32 bits is exact in a number. */
const exactSum: Reduction['piece'] = (numbers, start, count, result, at) =>
  writeWords(result, at, sumNumbers(numbers as Numbers, start, count, 1))

/** Lower and upper halves are summed apart, each exactly: modulo 2^64 the sign of a number does not matter. */
function wideSum(from: DType, to: DType): Reduction {
  return {
    to,
    from,
    piece: (numbers, start, count, result, at) => {
      const words = numbers as Uint32Array
      let lower = 0
      let upper = 0
      for (let index = 2 * start; index < 2 * (start + count); index += 2) {
        lower += words[index]!
        upper += words[index + 1]!
      }
      writeWords(result, at, lower)
      ;(result as Uint32Array)[2 * at + 1]! += upper
    },
    join: addWords,
  }
}

/** Writes a whole number below 2^53 in magnitude as two words. */
function writeWords(to: Elements, at: number, value: number): void {
  to[2 * at] = value
  to[2 * at + 1] = Math.floor(value / 2 ** 32)
}

/** Adds modulo 2^64. */
export const addWords: Reduction['join'] = (to, at, other) => {
  const words = to as Uint32Array
  const lower = words[2 * at]! + words[2 * other]!
  words[2 * at] = lower
  words[2 * at + 1]! += words[2 * other + 1]! + (lower >= 2 ** 32 ? 1 : 0)
}

/** Sums of squares of what elements differ from the center of their output; of a complex one, of its magnitude. */
export function squaresAbout(center: Elements, from: DType): Reduction {
  const to = realOf(from)
  const sum = to === float32 ? sumOf(float32, float32) : sumOf(float64, float64)
  const squares = new to.Elements(PIECE) as Numbers
  const rounded = to === float32 ? round : (value: number): number => value
  const piece: Reduction['piece'] = isComplex(from)
    ? (numbers, start, count, result, at, output) => {
        const [re, im] = [center[2 * output] as number, center[2 * output + 1] as number]
        for (let index = 0; index < count; index += 1) {
          const real = rounded((numbers as Numbers)[2 * (start + index)]! - re)
          const imaginary = rounded((numbers as Numbers)[2 * (start + index) + 1]! - im)
          squares[index] = rounded(real * real) + rounded(imaginary * imaginary)
        }
        sum.piece(squares, 0, count, result, at, output)
      }
    : (numbers, start, count, result, at, output) => {
        const middle = center[output] as number
        for (let index = 0; index < count; index += 1) {
          const difference = rounded((numbers as Numbers)[start + index]! - middle)
          squares[index] = difference * difference
        }
        sum.piece(squares, 0, count, result, at, output)
      }
  return { to, from, piece, join: sum.join }
}

/** How many elements of a mask are true. */
export const countOfTrue: Reduction['piece'] = (mask, start, count, result, at) => {
  const bytes = mask as Uint8Array
  let sum = 0
  for (let index = start; index < start + count; index += 1) sum += bytes[index]!
  writeWords(result, at, sum)
}

/** Is one element of a mask `wanted`? The result says so, or the opposite if `wanted` is 0. */
export function search(wanted: 0 | 1): Reduction {
  return {
    to: bool,
    from: bool,
    piece: (mask, start, count, result, at) => {
      const bytes = mask as Uint8Array
      let found = 1 - wanted
      for (let index = start; index < start + count; index += 1) {
        if (bytes[index] === wanted) {
          found = wanted
          break
        }
      }
      result[at] = found
    },
    join: (result, at, other) => {
      if (result[other] === wanted) result[at] = wanted
    },
  }
}
