import { native } from '../../native/index.ts'
import { kernels } from './call.ts'

/** Complex numbers, real and imaginary parts apart. */
export interface Split {
  readonly re: Float64Array
  readonly im: Float64Array
}

/** Numbers of a line in the memory of a block of complex128: the first one's place, and how far apart they are. */
interface ComplexLine {
  readonly numbers: Float64Array
  readonly place: number
  readonly step: number
}

/** A transform of one length by the addon. */
export interface NativeTransform {
  /** Transforms `data` in place, forward. */
  readonly inPlace: (data: Split, work: Split) => void
  /** Transforms a line, filled up with zeros from number `count` on, to another one. `data` is written over. */
  readonly fromLine: (lines: LinesOfTransform, data: Split, work: Split) => void
}

interface LinesOfTransform {
  readonly source: ComplexLine
  readonly count: number
  readonly target: ComplexLine
  readonly factor: number
  readonly isBackward: boolean
}

/** The numbers before those of the passes. */
const HEADER = 8

/** The passes of `mixedRadix` with these roots; undefined where the twin has to do it. */
export function nativeTransform(factors: readonly number[], roots: Float64Array): NativeTransform | undefined {
  const table = kernels()
  if (table === undefined || factors.some((radix) => radix > 5)) return undefined
  const numbers = new Float64Array(HEADER + factors.length)
  numbers[0] = table.threads
  numbers.set(factors, HEADER)
  return {
    inPlace: ({ re, im }, work) => native.transformLine(numbers, roots, re, im, work.re, work.im),
    fromLine: ({ source, count, target, factor, isBackward }, { re, im }, work) => {
      numbers[1] = source.place
      numbers[2] = source.step
      numbers[3] = count
      numbers[4] = target.place
      numbers[5] = target.step
      numbers[6] = factor
      numbers[7] = Number(isBackward)
      native.transformLine(numbers, roots, re, im, work.re, work.im, source.numbers, target.numbers)
    },
  }
}
