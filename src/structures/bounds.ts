import { mustBe } from '../native/index.ts'

export function isIndex(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

/** @throws ArgumentError unless it is an index. */
export function checkIndex(value: number, argument: string): number {
  if (isIndex(value)) return value
  throw mustBe(argument, 'an index, a whole number from 0 on', value)
}

/** `Infinity` means all. @throws ArgumentError unless it is a number of entries. */
export function checkCount(value: number, argument: string = 'count'): number {
  if (value === Number.POSITIVE_INFINITY || (Number.isSafeInteger(value) && value >= 0)) return value
  throw mustBe(argument, 'a whole number from 0 on, or Infinity', value)
}

/** The bound as it is kept: 0 for none. Undefined: the opener does not say. @throws ArgumentError */
export function boundOf(argument: string, value: number | undefined, max: number): number | undefined {
  if (value === undefined) return undefined
  if (value === Number.POSITIVE_INFINITY) return 0
  if (Number.isSafeInteger(value) && value >= 1 && value <= max) return value
  throw mustBe(argument, `a whole number from 1 to ${max}, or Infinity for no bound`, value)
}

const TTL_MS_MAX = 2 ** 52

/** How long entries live, as a bound; 0 is also for ever. @throws ArgumentError */
export function ttlOf(ttlMs: number | undefined): number | undefined {
  return ttlMs === 0 ? 0 : boundOf('options.ttlMs', ttlMs, TTL_MS_MAX)
}
