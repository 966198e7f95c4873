import { INT64_MAX, INT64_MIN, integerOf, isWord, narrow } from './numbers.ts'
import { CommandFault } from './reply.ts'

/** A time of expiry as an argument gives it. */
export interface ExpiryUnit {
  readonly scale: number
  readonly isAbsolute: boolean
}

export const SECONDS: ExpiryUnit = { scale: 1000, isAbsolute: false }
export const MILLISECONDS: ExpiryUnit = { scale: 1, isAbsolute: false }
export const UNIX_SECONDS: ExpiryUnit = { scale: 1000, isAbsolute: true }
export const UNIX_MILLISECONDS: ExpiryUnit = { scale: 1, isAbsolute: true }

/** The unit that an option of SET and GETEX names. */
export function unitNamed(option: Uint8Array): ExpiryUnit | undefined {
  if (isWord(option, 'ex')) return SECONDS
  if (isWord(option, 'px')) return MILLISECONDS
  if (isWord(option, 'exat')) return UNIX_SECONDS
  return isWord(option, 'pxat') ? UNIX_MILLISECONDS : undefined
}

function invalid(command: string): CommandFault {
  return new CommandFault(`invalid expire time in '${command}' command`)
}

/** Milliseconds since 1970, as SET and its like demand them: after the start. @throws CommandFault */
export function expiryOf(argument: Uint8Array, unit: ExpiryUnit, command: string, nowMs: number): number {
  const value = integerOf(argument)
  if (value <= 0) throw invalid(command)
  return expiryAt(value, unit, command, nowMs)
}

/** Milliseconds since 1970, which may lie in the past. @throws CommandFault if 64 bits do not hold them. */
export function expiryAt(value: number | bigint, unit: ExpiryUnit, command: string, nowMs: number): number {
  const ms = BigInt(value) * BigInt(unit.scale)
  if (ms < INT64_MIN) throw invalid(command)
  const exact = ms + (unit.isAbsolute ? 0n : BigInt(Math.floor(nowMs)))
  if (exact > INT64_MAX || exact < -INT64_MAX) throw invalid(command)
  return Number(narrow(exact))
}
