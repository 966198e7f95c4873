import { latin1Of } from '../values/latin1.ts'
import { CommandFault } from './reply.ts'

export const INT64_MAX: bigint = 2n ** 63n - 1n
export const INT64_MIN: bigint = -(2n ** 63n)
/** Decimal digits that are always exact in a number. */
const EXACT_DIGITS = 15
const [ZERO, NINE, MINUS] = [0x30, 0x39, 0x2d]

/**
 * A whole number of 64 bits, written as Redis writes it: no sign +, no leading zero, no space. A bigint if a number
 * would not be exact.
 */
export function parseInteger(bytes: Uint8Array): number | bigint | undefined {
  const { length } = bytes
  if (length === 0 || length > 20) return undefined
  const start = bytes[0] === MINUS ? 1 : 0
  const first = bytes[start]
  if (first === ZERO) return length === 1 ? 0 : undefined
  let value = 0
  for (let at = start; at < length; at += 1) {
    const digit = bytes[at]!
    if (digit < ZERO || digit > NINE) return undefined
    value = value * 10 + digit - ZERO
  }
  if (length === start) return undefined
  if (length - start <= EXACT_DIGITS) return start === 1 ? -value : value
  const exact = BigInt(latin1Of(bytes))
  return exact < INT64_MIN || exact > INT64_MAX ? undefined : narrow(exact)
}

/** The same as a number, if that is exact. */
export function narrow(value: bigint): number | bigint {
  const narrowed = Number(value)
  return Number.isSafeInteger(narrowed) ? narrowed : value
}

export function notAnInteger(): CommandFault {
  return new CommandFault('value is not an integer or out of range')
}

/** @throws CommandFault */
export function integerOf(bytes: Uint8Array): number | bigint {
  const value = parseInteger(bytes)
  if (value === undefined) throw notAnInteger()
  return value
}

/** For what is cut to a range anyway: a large number loses digits. @throws CommandFault */
export function numberOf(bytes: Uint8Array): number {
  return Number(integerOf(bytes))
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const HEXADECIMAL = /^([+-]?)0[xX]([\da-fA-F]*)\.?([\da-fA-F]*)(?:[pP]([+-]?\d+))?$/
const INFINITY = /^([+-]?)inf(?:inity)?$/i

/** A number as C's strtod reads it; undefined for NaN, and if it is too large or too small. */
export function parseDouble(bytes: Uint8Array): number | undefined {
  const whole = parseInteger(bytes)
  if (typeof whole === 'number') return whole
  const text = latin1Of(bytes)
  const infinity = INFINITY.exec(text)
  if (infinity !== null) return infinity[1] === '-' ? -Infinity : Infinity
  if (!DECIMAL.test(text)) return parseHexadecimal(text)
  const value = Number(text)
  if (!Number.isFinite(value) || (value === 0 && /^[^eE]*[1-9]/.test(text))) return undefined
  return value
}

function parseHexadecimal(text: string): number | undefined {
  const match = HEXADECIMAL.exec(text)
  if (match === null) return undefined
  const [, sign, whole = '', fraction = '', power = '0'] = match
  if (whole + fraction === '') return undefined
  const value = Number.parseInt(whole + fraction, 16) * 2 ** (Number(power) - 4 * fraction.length)
  return sign === '-' ? -value : value
}

/** @throws CommandFault */
export function doubleOf(bytes: Uint8Array, message: string = 'value is not a valid float'): number {
  const value = parseDouble(bytes)
  if (value === undefined) throw new CommandFault(message)
  return value
}

/** True if the argument is this word, which is given in lower case, in any case. */
export function isWord(bytes: Uint8Array, word: string): boolean {
  if (bytes.length !== word.length) return false
  for (let at = 0; at < word.length; at += 1) {
    const byte = bytes[at]!
    const lower = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
    if (lower !== word.charCodeAt(at)) return false
  }
  return true
}
