import { checkWhole, mustBe } from '../native/index.ts'

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

/** A bound that may be left out: 0 then. @throws ArgumentError */
export function boundOf(argument: string, value: number | undefined, max: number): number {
  if (value === undefined) return 0
  checkWhole(argument, value, 1, max)
  return value
}
