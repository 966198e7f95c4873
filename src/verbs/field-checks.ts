import { ArgumentError } from '../native/index.ts'

/** An address, a length or an id: what a double holds exactly. @throws ArgumentError */
export function exact(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new ArgumentError(name, `${name} must be an integer from 0 to 2^53 - 1, not ${value}`)
  return value
}

/** A key, a number of a queue pair, an immediate. @throws ArgumentError */
export function word32(name: string, value: number): number {
  if (!Number.isInteger(value) || value < 0 || value > 0xffffffff)
    throw new ArgumentError(name, `${name} must fit 32 bits, not ${value}`)
  return value
}

/** An operand of an atomic. @throws ArgumentError */
export function word64(name: string, value: bigint): bigint {
  if (typeof value !== 'bigint')
    throw new ArgumentError(name, `${name} must be a bigint of 64 bits, not ${typeof value}`)
  return value
}
