import { ArrayError } from '../errors.ts'
import {
  bool,
  complex64,
  complex128,
  DTYPES,
  type DType,
  float32,
  float64,
  isComplex,
  isFloating,
  isInteger,
} from './dtype.ts'

/** The type that holds the elements of all; every kind of number is apart from the others. @throws ArrayError */
export function promote(first: DType, second: DType): DType {
  if (first === second) return first
  const common = isInteger(first) && isInteger(second) ? commonInteger(first, second) : commonFloating(first, second)
  if (common === undefined)
    throw new ArrayError('TYPE', `${first} and ${second} have no common data type; convert one of them with astype()`)
  return common
}

function commonInteger(first: DType, second: DType): DType | undefined {
  if (first.kind === second.kind) return first.bytes > second.bytes ? first : second
  const [signed, unsigned] = first.kind === 'signed integer' ? [first, second] : [second, first]
  if (signed.bytes > unsigned.bytes) return signed
  // The next wider signed type holds all of both; nothing is wider than 8 bytes.
  return Object.values(DTYPES).find(({ kind, bytes }) => kind === 'signed integer' && bytes === unsigned.bytes * 2)
}

function commonFloating(first: DType, second: DType): DType | undefined {
  if (!isFloating(first) || !isFloating(second)) return undefined
  const wide = [float64, complex128].includes(first) || [float64, complex128].includes(second)
  if (isComplex(first) || isComplex(second)) return wide ? complex128 : complex64
  return wide ? float64 : float32
}

/** May elements of one type become elements of the other by promotion? */
export function canCast(from: DType, to: DType): boolean {
  if (from === to) return true
  if (from === bool || to === bool || isInteger(from) !== isInteger(to)) return false
  return (isInteger(from) ? commonInteger(from, to) : commonFloating(from, to)) === to
}

/** May elements of one type be written to an array of the other? A width may get lost, a kind or a part may not. */
export function isAssignable(from: DType, to: DType): boolean {
  if (from === to) return true
  if (isComplex(from) && !isComplex(to)) return false
  return (isInteger(from) && isInteger(to)) || (isFloating(from) && isFloating(to))
}
