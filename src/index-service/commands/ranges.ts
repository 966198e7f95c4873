import { notAnInteger, parseInteger } from './numbers.ts'
import { CommandFault } from './reply.ts'

const LONG_MAX = 2 ** 63

/** A whole number of at least `min`. `message` says what is wrong with any other argument. @throws CommandFault */
export function atLeast(argument: Uint8Array, min: number, message: string): number {
  const value = parseInteger(argument)
  if (value === undefined || value < min) throw new CommandFault(message)
  return Number(value)
}

export function positiveOf(argument: Uint8Array): number {
  return atLeast(argument, 0, 'value is out of range, must be positive')
}

/** A count whose sign may be turned round: LONG_MIN is refused as Redis does. @throws CommandFault */
export function signedOf(argument: Uint8Array): number {
  const value = parseInteger(argument)
  if (value === undefined) throw notAnInteger()
  if (Number(value) <= -LONG_MAX && value === -(2n ** 63n))
    throw new CommandFault(`value is out of range, value must between -${LONG_TEXT} and ${LONG_TEXT}`)
  return Number(value)
}

const LONG_TEXT = '9223372036854775807'
