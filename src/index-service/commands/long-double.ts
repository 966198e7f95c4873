import { latin1Of } from '../values/latin1.ts'

/**
 * Floating point with 64 bits of mantissa, as Redis computes INCRBYFLOAT and HINCRBYFLOAT on x64 (C's long double). A
 * double would answer 10.59999999999999964 where Redis answers 10.6.
 */
export interface LongDouble {
  /** value = mantissa * 2^exponent */
  readonly mantissa: bigint
  readonly exponent: number
}

const BITS = 64
/** The largest value is just below 2^16384. */
const EXPONENT_MAX = 16_384
const DECIMAL = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/
const HEXADECIMAL = /^([+-]?)0[xX]([\da-fA-F]*)\.?([\da-fA-F]*)(?:[pP]([+-]?\d+))?$/
const SCALE = 10n ** 17n

/** undefined: it is not a number. 'infinite': it says so. */
export function parseLongDouble(bytes: Uint8Array): LongDouble | 'infinite' | undefined {
  const text = latin1Of(bytes)
  if (/^[+-]?inf(?:inity)?$/i.test(text)) return 'infinite'
  const match = DECIMAL.exec(text)
  if (match === null) return parseHexadecimal(text)
  const [, sign, whole = '', fraction = '', power = '0'] = match
  if (whole + fraction === '') return undefined
  const digits = BigInt(whole + fraction)
  if (digits === 0n) return { mantissa: 0n, exponent: 0 }
  const scale = Number(power) - fraction.length
  if (Math.abs(scale + whole.length + fraction.length) > 5_000) return undefined
  const signed = sign === '-' ? -digits : digits
  const value = scale >= 0 ? rounded(signed * 10n ** BigInt(scale), 1n) : rounded(signed, 10n ** BigInt(-scale))
  return value.exponent + BITS > EXPONENT_MAX ? undefined : value
}

function parseHexadecimal(text: string): LongDouble | undefined {
  const match = HEXADECIMAL.exec(text)
  if (match === null) return undefined
  const [, sign, whole = '', fraction = '', power = '0'] = match
  const scale = Number(power) - 4 * fraction.length
  if (whole + fraction === '' || Math.abs(scale) > EXPONENT_MAX) return undefined
  const digits = BigInt(`0x${whole}${fraction}`)
  const { mantissa, exponent } = rounded(sign === '-' ? -digits : digits, 1n)
  return exponent + scale + BITS > EXPONENT_MAX ? undefined : { mantissa, exponent: exponent + scale }
}

/** undefined: it would be infinite. */
export function addLongDoubles(one: LongDouble, other: LongDouble): LongDouble | undefined {
  const exponent = Math.min(one.exponent, other.exponent)
  const sum = (one.mantissa << BigInt(one.exponent - exponent)) + (other.mantissa << BigInt(other.exponent - exponent))
  const { mantissa, exponent: shift } = rounded(sum, 1n)
  return shift + exponent + BITS > EXPONENT_MAX ? undefined : { mantissa, exponent: shift + exponent }
}

/** With up to 17 digits behind the point. */
export function formatLongDouble({ mantissa, exponent }: LongDouble): string {
  const magnitude = (mantissa < 0n ? -mantissa : mantissa) * SCALE
  const scaled = exponent >= 0 ? magnitude << BigInt(exponent) : divideEven(magnitude, 1n << BigInt(-exponent))
  const fraction = String(scaled % SCALE)
    .padStart(17, '0')
    .replace(/0+$/, '')
  const text = fraction === '' ? String(scaled / SCALE) : `${scaled / SCALE}.${fraction}`
  return mantissa < 0n && scaled !== 0n ? `-${text}` : text
}

/** The nearest with 64 bits to a fraction. */
function rounded(numerator: bigint, denominator: bigint): LongDouble {
  if (numerator === 0n) return { mantissa: 0n, exponent: 0 }
  const magnitude = numerator < 0n ? -numerator : numerator
  let exponent = bitLength(magnitude) - bitLength(denominator) - BITS
  let mantissa = shiftedQuotient(magnitude, denominator, exponent)
  // The quotient has 64 or 65 bits.
  if (bitLength(mantissa) > BITS) {
    exponent += 1
    mantissa = shiftedQuotient(magnitude, denominator, exponent)
  }
  return { mantissa: numerator < 0n ? -mantissa : mantissa, exponent }
}

function shiftedQuotient(numerator: bigint, denominator: bigint, exponent: number): bigint {
  return exponent >= 0
    ? divideEven(numerator, denominator << BigInt(exponent))
    : divideEven(numerator << BigInt(-exponent), denominator)
}

/** Rounds to the nearest, and halves to even. */
function divideEven(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator
  const twice = (numerator % denominator) * 2n
  return twice > denominator || (twice === denominator && (quotient & 1n) === 1n) ? quotient + 1n : quotient
}

function bitLength(value: bigint): number {
  const hexadecimal = value.toString(16)
  return hexadecimal.length * 4 - Math.clz32(Number.parseInt(hexadecimal[0]!, 16)) + 28
}
