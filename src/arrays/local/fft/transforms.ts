import type { Block } from '../../blocks/block.ts'
import { axisOf } from '../../blocks/layout.ts'
import { ArrayError } from '../../errors.ts'
import { complex128, complexOf, type DType, float64, isComplex, isFloating, realOf } from '../../types/dtype.ts'
import { conjugate } from '../conjugate.ts'
import { type AxisTransform, transformAlong } from './along-axis.ts'

/**
 * Discrete Fourier transforms along one axis. Sums are of float64 for every data type and are rounded once at the end.
 * The norm of the error is at most about 5 log2(n) units of float64's rounding, relative to the norm of the result.
 */
export type Norm = 'backward' | 'ortho' | 'forward'

/** How one axis is transformed: to `n` elements, which are cut or filled up with zeros. */
export interface TransformOptions {
  readonly n?: number | bigint | null
  readonly axis?: number | bigint
  readonly norm?: Norm | null
}

export function fft(x: Block, options: TransformOptions = {}): Block {
  return transformOne(x, 'complex', 'forward', options)
}

export function ifft(x: Block, options: TransformOptions = {}): Block {
  return transformOne(x, 'complex', 'backward', options)
}

export function rfft(x: Block, options: TransformOptions = {}): Block {
  return transformOne(requireReal(x, 'rfft'), 'to half', 'forward', options)
}

export function irfft(x: Block, options: TransformOptions = {}): Block {
  return transformOne(x, 'from half', 'backward', options)
}

/** The transform of a Hermitian signal, of which the first half is given: a backward transform of the conjugate. */
export function hfft(x: Block, options: TransformOptions = {}): Block {
  return transformOne(conjugate(x), 'from half', 'forward', options)
}

export function ihfft(x: Block, options: TransformOptions = {}): Block {
  return conjugate(transformOne(requireReal(x, 'ihfft'), 'to half', 'backward', options))
}

/**
 * @param sign Which way the factor goes; the exponent of half transforms goes the way of their kind.
 */
function transformOne(
  x: Block,
  kind: AxisTransform['kind'],
  sign: AxisTransform['sign'],
  { n, axis = -1, norm }: TransformOptions,
): Block {
  const position = axisOf(axis, x.shape.length)
  const extent = x.shape[position]!
  const length = lengthOf(n, kind === 'from half' ? 2 * (extent - 1) : extent)
  const factor = factorOf(length, sign, norm)
  return transformAlong(x, { axis: position, length, kind, sign, factor, dtype: resultOf(x.dtype, kind) })
}

/** The number of points of a transform. @throws ArrayError */
export function lengthOf(n: number | bigint | null | undefined, otherwise: number): number {
  const length = n === undefined || n === null ? otherwise : Number(n)
  if (Number.isInteger(length) && length >= 1) return length
  throw new ArrayError('VALUE', `Invalid number of FFT data points (${length}) specified.`)
}

/** What a transform of n points is multiplied by. @throws ArrayError */
export function factorOf(length: number, sign: AxisTransform['sign'], norm?: Norm | null): number {
  const division = norm ?? 'backward'
  if (division === 'ortho') return 1 / Math.sqrt(length)
  if (division !== 'backward' && division !== 'forward')
    throw new ArrayError('VALUE', `Invalid norm value ${norm}; should be "backward", "ortho" or "forward".`)
  return division === sign ? 1 / length : 1
}

/** The data type of a transform: that of float64 for integers. */
export function resultOf(type: DType, kind: AxisTransform['kind']): DType {
  if (kind === 'from half') return isFloating(type) ? realOf(type) : float64
  return isFloating(type) ? complexOf(type) : complex128
}

export function requireReal<X extends Pick<Block, 'dtype'>>(x: X, name: string): X {
  if (isComplex(x.dtype))
    throw new ArrayError(
      'TYPE',
      `${name} takes real numbers, not ${x.dtype}; call ${name === 'rfftn' ? 'fftn' : 'fft'}`,
    )
  return x
}
