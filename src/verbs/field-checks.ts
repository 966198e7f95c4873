import { ArgumentError } from '../native/index.ts'

/** Return an address, a length or an id that a double holds exactly. @throws ArgumentError */
export function exact(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new ArgumentError(name, `${name} must be an integer from 0 to 2^53 - 1, not ${value}`)
  return value
}

/** Return a key, a queue pair number or an immediate that fits 32 bits. @throws ArgumentError */
export function word32(name: string, value: number): number {
  if (!Number.isInteger(value) || value < 0 || value > 0xffffffff)
    throw new ArgumentError(name, `${name} must be an integer of 32 bits, not ${value}`)
  return value
}

/** Return an operand of an atomic. @throws ArgumentError */
export function word64(name: string, value: bigint): bigint {
  if (typeof value !== 'bigint')
    throw new ArgumentError(name, `${name} must be a bigint that fits 64 bits, not ${typeof value}`)
  return value
}
