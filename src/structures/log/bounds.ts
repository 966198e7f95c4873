import { ArgumentError } from '../../native/index.ts'

/** @throws ArgumentError unless it is an index. */
export function checkIndex(value: number, argument: string): number {
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new ArgumentError(argument, `${argument} must be an index, a whole number from 0 on, not ${String(value)}`)
}

/** `Infinity` means all. @throws ArgumentError unless it is a number of entries. */
export function checkCount(value: number, argument: string = 'count'): number {
  if (value === Number.POSITIVE_INFINITY || (Number.isSafeInteger(value) && value >= 0)) return value
  throw new ArgumentError(argument, `${argument} must be a whole number from 0 on, or Infinity, not ${String(value)}`)
}
