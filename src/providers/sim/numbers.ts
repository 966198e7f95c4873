import { mustBe } from '../../native/index.ts'

/** @throws ArgumentError unless it is a time that virtual time can count. */
export function checkTime(argument: string, value: unknown): void {
  if (typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER) return
  throw mustBe(argument, 'a number of nanoseconds from 0 to 2^53', value)
}

/** @throws ArgumentError */
export function checkProbability(argument: string, value: unknown): void {
  if (typeof value === 'number' && value >= 0 && value <= 1) return
  throw mustBe(argument, 'a probability, a number from 0 to 1', value)
}

/** @throws ArgumentError unless it is a rate or a factor. */
export function checkFactor(argument: string, value: unknown): void {
  if (typeof value === 'number' && value > 0 && Number.isFinite(value)) return
  throw mustBe(argument, 'a number above 0', value)
}
