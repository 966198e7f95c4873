import { ArrayError } from '../errors.ts'
import { type Complex, isComplexNumber, type Scalar } from './complex.ts'
import { bool, complex128, type DType, float64, int64, isComplex, isFloating, isInteger, isWide } from './dtype.ts'

export function isScalar(value: unknown): value is Scalar {
  const type = typeof value
  return type === 'number' || type === 'boolean' || type === 'bigint' || isComplexNumber(value)
}

/** The data type that a scalar has by itself. */
export function dtypeOfScalar(value: Scalar): DType {
  if (typeof value === 'number') return float64
  if (typeof value === 'boolean') return bool
  return typeof value === 'bigint' ? int64 : complex128
}

/** The least and the greatest element of an integer type. */
export function integerBounds(type: DType): { readonly min: bigint; readonly max: bigint } {
  const bits = BigInt(type.bytes * 8)
  if (type.kind === 'unsigned integer') return { min: 0n, max: (1n << bits) - 1n }
  return { min: -(1n << (bits - 1n)), max: (1n << (bits - 1n)) - 1n }
}

/**
 * The scalar as an operand beside an array of this type, whose type it takes. A boolean meets bool, a whole number any
 * number, a fraction floating types, a complex number complex types.
 *
 * @throws ArrayError
 */
export function scalarBeside(value: Scalar, type: DType): Scalar {
  const fits =
    typeof value === 'boolean'
      ? type === bool
      : isComplexNumber(value)
        ? isComplex(type)
        : isFloating(type) || (isInteger(type) && (typeof value === 'bigint' || Number.isInteger(value)))
  if (!fits)
    throw new ArrayError(
      'TYPE',
      `${scalarText(value)} cannot stand beside an array of ${type}; convert it with astype()`,
    )
  return elementOf(value, type)
}

/** The scalar as an element of the type: a fraction loses what follows the point. @throws ArrayError */
export function elementOf(value: Scalar, type: DType): Scalar {
  if (!isScalar(value))
    throw new ArrayError('TYPE', `a scalar is needed for ${type}, not a value of type ${typeof value}`)
  if (type === bool) return isComplexNumber(value) ? value.re !== 0 || value.im !== 0 : Boolean(value)
  if (isComplex(type)) return isComplexNumber(value) ? value : { re: Number(value), im: 0 }
  if (isComplexNumber(value))
    throw new ArrayError(
      'TYPE',
      `${scalarText(value)} cannot be an element of ${type}; take its real or imaginary part`,
    )
  return isInteger(type) ? wholeElement(value, type) : Number(value)
}

function wholeElement(value: boolean | number | bigint, type: DType): number | bigint {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new ArrayError('VALUE', `cannot convert ${value} to an element of ${type}`)
  const whole = typeof value === 'bigint' ? value : BigInt(Math.trunc(Number(value)))
  const { min, max } = integerBounds(type)
  if (whole < min || whole > max) throw new ArrayError('VALUE', `${whole} is out of bounds for ${type}`)
  return isWide(type) ? whole : Number(whole)
}

function scalarText(value: Scalar): string {
  return isComplexNumber(value) ? complexText(value) : String(value)
}

function complexText({ re, im }: Complex): string {
  return `(${re}${im < 0 || Object.is(im, -0) ? '-' : '+'}${Math.abs(im)}j)`
}
