import { ArgumentError } from '../errors.ts'
import { shown } from './shown.ts'

/** The error of an argument that breaks a rule: `size must be a number above 0, not "x"`. */
export function mustBe(argument: string, rule: string, value: unknown): ArgumentError {
  return new ArgumentError(argument, `${argument} must be ${rule}, not ${shown(value)}`)
}

/** The longest delay of a timer of Node.js: one with a longer delay ends at once. 24 days. */
export const TIMER_MS_MAX: number = 2 ** 31 - 1

/** @throws ArgumentError unless it is a whole number from `least` to `most`. */
export function checkWhole(argument: string, value: unknown, least: number, most: number): void {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most) return
  throw mustBe(argument, `a whole number from ${numberText(least)} to ${numberText(most)}`, value)
}

/** @throws ArgumentError unless it is a number of milliseconds above 0; `Infinity` means without end. */
export function checkMilliseconds(argument: string, value: unknown): void {
  if (typeof value === 'number' && value > 0) return
  throw mustBe(argument, 'a number of milliseconds above 0', value)
}

/** @throws ArgumentError unless it is a bigint: numbers are not converted, since they are not exact. */
export function checkBigint(argument: string, value: unknown): void {
  if (typeof value !== 'bigint') throw mustBe(argument, 'a bigint, such as 1n', value)
}

/** @throws ArgumentError unless it is true or false. */
export function checkBoolean(argument: string, value: unknown): void {
  if (typeof value !== 'boolean') throw mustBe(argument, 'true or false', value)
}

/** @throws ArgumentError unless it is a string with at least one character. */
export function checkText(argument: string, value: unknown): void {
  if (typeof value !== 'string' || value === '') throw mustBe(argument, 'a string of at least one character', value)
}

/** @throws ArgumentError unless it is a function. `takes` says what it is called with: `which takes the endpoint`. */
export function checkFunction(argument: string, value: unknown, takes: string): void {
  if (typeof value !== 'function') throw mustBe(argument, `a function ${takes}`, value)
}

/** @throws ArgumentError unless it is bytes in memory. */
export function checkBytes(argument: string, value: unknown): void {
  if (!(value instanceof Uint8Array)) throw mustBe(argument, 'a Uint8Array', value)
}

/** @throws ArgumentError unless it is an iterable; what it yields is checked where it is used. */
export function checkIterable(argument: string, value: unknown, of: string): void {
  const isIterable = typeof value === 'object' && value !== null && Symbol.iterator in value
  if (!isIterable || ArrayBuffer.isView(value)) throw mustBe(argument, `an array or another iterable of ${of}`, value)
}

/** Also one whose constructor is private. */
interface OurClass {
  readonly name: string
  [Symbol.hasInstance](value: unknown): boolean
}

/**
 * @throws ArgumentError unless it is an object of a class of ours. `origin` says where to get one: `as open() returns`.
 */
export function checkInstance(argument: string, value: unknown, kind: OurClass, origin: string): void {
  if (value instanceof kind) return
  throw mustBe(argument, `${/^[AEIOU]/.test(kind.name) ? 'an' : 'a'} ${kind.name} ${origin}`, value)
}

/** Powers of two that people know by their exponent. */
function numberText(value: number): string {
  const exponent = Math.log2(value)
  return value >= 2 ** 20 && Number.isInteger(exponent) ? `2^${exponent}` : `${value}`
}
