import { ArrayError } from '../errors.ts'
import type { Complex } from '../types/complex.ts'
import { bool, complex64, type DType, type Elements, float32, isComplex, isInteger, isWide } from '../types/dtype.ts'
import { complexComparisons, complexFunctions, complexToReal } from './complex-twins.ts'
import { boolUnary, integerBinary, integerUnary } from './integer-twins.ts'
import type { Step } from './program.ts'
import { nextAfterFloat32, realBinary, realUnary } from './real-twins.ts'
import { wideBinary, wideUnary } from './wide-twins.ts'

/** Computes `length` elements, which lie next to each other in every register from its start on. */
export type Kernel = (operands: readonly Elements[], result: Elements, length: number) => void

/**
 * The plain form of every kernel, which specifies it. The native one gives the same bits; that of a transcendental
 * function differs by at most the stated number of units in the last place.
 */
export function twinOf(step: Step): Kernel {
  const key = `${step.operation} ${step.from} ${step.to}`
  const known = twins.get(key)
  if (known !== undefined) return known
  const kernel = makeTwin(step)
  twins.set(key, kernel)
  return kernel
}

const twins = new Map<string, Kernel>()

const same = (x: number): number => x
const roundHalfEven = realUnary['round']!
const complexFamilies = {
  complex64: complexFunctions(Math.fround, roundHalfEven),
  complex128: complexFunctions(same, roundHalfEven),
}

function makeTwin({ operation, from, to }: Step): Kernel {
  if (operation === 'cast') return castTwin(from, to)
  if (operation === 'where') return isComplex(from) ? chooseComplex : choose
  const kernel = isComplex(from) ? complexTwin(operation, from) : numberTwin(operation, from)
  if (kernel === undefined) throw new ArrayError('TYPE', `${operation} is not defined for ${from}`)
  return kernel
}

function numberTwin(operation: string, from: DType): Kernel | undefined {
  if (from === float32 && operation === 'nextafter') return binary(nextAfterFloat32)
  const [one, two] = isWide(from)
    ? [wideUnary, wideBinary]
    : isInteger(from)
      ? [integerUnary, integerBinary]
      : from === bool
        ? [boolUnary, integerBinary]
        : [realUnary, realBinary]
  const unaryFunction = one[operation]
  if (unaryFunction !== undefined) return unary(unaryFunction as (x: number) => number)
  const binaryFunction = two[operation]
  return binaryFunction && binary(binaryFunction as (x: number, y: number) => number)
}

/** The typed arrays of all types but complex ones: what is stored wraps or is rounded as the type has it. */
type Numbers = Float64Array

function unary(compute: (x: number) => number): Kernel {
  return ([x], result, length) => {
    const from = x as Numbers
    const to = result as Numbers
    for (let index = 0; index < length; index += 1) to[index] = compute(from[index]!)
  }
}

function binary(compute: (x: number, y: number) => number): Kernel {
  return ([x, y], result, length) => {
    const first = x as Numbers
    const second = y as Numbers
    const to = result as Numbers
    for (let index = 0; index < length; index += 1) to[index] = compute(first[index]!, second[index]!)
  }
}

function complexTwin(operation: string, from: DType): Kernel | undefined {
  const toReal = complexToReal[operation]
  if (toReal !== undefined)
    return ([z], result, length) => {
      for (let index = 0; index < length; index += 1) result[index] = toReal(complexAt(z as Numbers, index))
    }
  const comparison = complexComparisons[operation]
  if (comparison !== undefined)
    return ([z, w], result, length) => {
      for (let index = 0; index < length; index += 1)
        result[index] = comparison(complexAt(z as Numbers, index), complexAt(w as Numbers, index))
    }
  const { unary: one, binary: two } = complexFamilies[from === complex64 ? 'complex64' : 'complex128']
  const unaryFunction = one[operation]
  if (unaryFunction !== undefined)
    return ([z], result, length) => {
      for (let index = 0; index < length; index += 1)
        setComplex(result as Numbers, index, unaryFunction(complexAt(z as Numbers, index)))
    }
  const binaryFunction = two[operation]
  return (
    binaryFunction &&
    (([z, w], result, length) => {
      for (let index = 0; index < length; index += 1)
        setComplex(
          result as Numbers,
          index,
          binaryFunction(complexAt(z as Numbers, index), complexAt(w as Numbers, index)),
        )
    })
  )
}

function complexAt(data: Numbers, index: number): Complex {
  return { re: data[2 * index]!, im: data[2 * index + 1]! }
}

function setComplex(data: Numbers, index: number, { re, im }: Complex): void {
  data[2 * index] = re
  data[2 * index + 1] = im
}

const choose: Kernel = ([condition, x, y], result, length) => {
  const bits = condition as Uint8Array
  const first = x as Numbers
  const second = y as Numbers
  const to = result as Numbers
  for (let index = 0; index < length; index += 1) to[index] = (bits[index] ? first[index] : second[index])!
}

const chooseComplex: Kernel = ([condition, x, y], result, length) => {
  const bits = condition as Uint8Array
  for (let index = 0; index < length; index += 1)
    setComplex(result as Numbers, index, complexAt((bits[index] ? x : y) as Numbers, index))
}

/** To bool: is it not zero? To integers: towards zero, then the low bits of the type; NaN and infinities give 0. */
function castTwin(from: DType, to: DType): Kernel {
  if (from === to)
    return ([x], result, length) => {
      const count = length * from.lanes
      ;(result as Numbers).set((x as Numbers).length === count ? (x as Numbers) : (x as Numbers).subarray(0, count))
    }
  if (isComplex(from)) return castComplex(to)
  if (isComplex(to))
    return ([x], result, length) => {
      for (let index = 0; index < length; index += 1)
        setComplex(result as Numbers, index, { re: Number((x as Numbers)[index]), im: 0 })
    }
  if (to === bool) return unary((x: number | bigint) => (x === 0 || x === 0n ? 0 : 1))
  if (isWide(from)) return unary((isWide(to) ? same : wideTo(to)) as (x: number) => number)
  if (isWide(to)) return unary(toWide as unknown as (x: number) => number)
  return unary(same)
}

function castComplex(to: DType): Kernel {
  if (isComplex(to)) return ([z], result, length) => (result as Numbers).set((z as Numbers).subarray(0, 2 * length))
  if (to === bool)
    return ([z], result, length) => {
      for (let index = 0; index < length; index += 1) {
        const { re, im } = complexAt(z as Numbers, index)
        result[index] = Number(re !== 0 || im !== 0)
      }
    }
  return ([z], result, length) => {
    for (let index = 0; index < length; index += 1)
      (result as unknown as (number | bigint)[])[index] = isWide(to)
        ? toWide((z as Numbers)[2 * index]!)
        : (z as Numbers)[2 * index]!
  }
}

function wideTo(to: DType): (x: unknown) => number {
  return isInteger(to) ? (x) => Number(BigInt.asIntN(32, x as bigint)) : (x) => Number(x)
}

function toWide(x: number): bigint {
  return Number.isFinite(x) ? BigInt(Math.trunc(x)) : 0n
}
