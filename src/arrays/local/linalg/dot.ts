import type { Block } from '../../blocks/block.ts'
import { type DType, type Elements, isComplex, isFloating, isWide } from '../../types/dtype.ts'

/** A vector in the memory of a block: where it starts, and how far apart its elements are. */
interface Run {
  readonly data: Elements
  readonly dtype: DType
  readonly place: number
  readonly step: number
}

/** Writes the sum of products of two vectors as the element of `to` at a place. */
export type Dot = (first: Run, second: Run, count: number, to: Block, place: number) => void

/**
 * The sum of products for elements whose common type this is. Floating sums are of float64, in four parts. Integers
 * keep their low bits, as sums in their own type do.
 */
export function dotOf(dtype: DType): Dot {
  if (isComplex(dtype)) return complexDot
  if (isFloating(dtype)) return floatingDot
  return isWide(dtype) ? wideDot : integerDot
}

const floatingDot: Dot = (first, second, count, to, place) => {
  const a = first.data as Float64Array
  const b = second.data as Float64Array
  let i = first.place
  let j = second.place
  const { step: s } = first
  const { step: t } = second
  let sum0 = 0
  let sum1 = 0
  let sum2 = 0
  let sum3 = 0
  let k = 0
  for (; k + 4 <= count; k += 4) {
    sum0 += a[i]! * b[j]!
    sum1 += a[i + s]! * b[j + t]!
    sum2 += a[i + 2 * s]! * b[j + 2 * t]!
    sum3 += a[i + 3 * s]! * b[j + 3 * t]!
    i += 4 * s
    j += 4 * t
  }
  for (; k < count; k += 1) {
    sum0 += a[i]! * b[j]!
    i += s
    j += t
  }
  to.data[place] = sum0 + sum1 + (sum2 + sum3)
}

/** Either operand may be real. */
const complexDot: Dot = (first, second, count, to, place) => {
  const a = first.data as Float64Array
  const b = second.data as Float64Array
  const aIsComplex = isComplex(first.dtype)
  const bIsComplex = isComplex(second.dtype)
  let re = 0
  let im = 0
  for (let k = 0; k < count; k += 1) {
    const i = first.place + k * first.step
    const j = second.place + k * second.step
    const ar = aIsComplex ? a[2 * i]! : a[i]!
    const ai = aIsComplex ? a[2 * i + 1]! : 0
    const br = bIsComplex ? b[2 * j]! : b[j]!
    const bi = bIsComplex ? b[2 * j + 1]! : 0
    re += ar * br - ai * bi
    im += ar * bi + ai * br
  }
  to.data[2 * place] = re
  to.data[2 * place + 1] = im
}

/** Modulo 2 to the 32nd, of which narrower types keep fewer bits; for booleans, whether any product is true. */
const integerDot: Dot = (first, second, count, to, place) => {
  const a = first.data as Int32Array
  const b = second.data as Int32Array
  let sum = 0
  for (let k = 0; k < count; k += 1)
    sum = (sum + Math.imul(a[first.place + k * first.step]!, b[second.place + k * second.step]!)) | 0
  to.data[place] = to.dtype.kind === 'bool' ? Number(sum !== 0) : sum
}

const wideDot: Dot = (first, second, count, to, place) => {
  let sum = 0n
  for (let k = 0; k < count; k += 1)
    sum += BigInt(first.data[first.place + k * first.step]!) * BigInt(second.data[second.place + k * second.step]!)
  to.data[place] = sum
}
