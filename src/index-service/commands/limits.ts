import type { StoredValue } from '../state/stored-value.ts'
import { HashValue } from '../values/hash-value.ts'
import type { CommandSpec } from './command.ts'
import { CommandFault, type FaultReply } from './reply.ts'

/** In place of Redis' proto-max-bulk-len, so that a string fits into a record with any key. */
export const STRING_BYTES_MAX: number = 4 * 2 ** 20
const KEY_BYTES_MAX = 65_536
/** A field of a hash and its value lie in one record, besides the key. */
const PAIR_BYTES_MAX: number = 7 * 2 ** 20

/** @throws CommandFault */
export function checkLength(lengthBytes: number): void {
  if (lengthBytes > STRING_BYTES_MAX) throw new CommandFault(TOO_LONG)
}

/** Of a value that comes as a whole: strings and fields have to fit into records. @throws CommandFault */
export function checkStored(value: StoredValue): void {
  if (value instanceof Uint8Array) checkLength(value.length)
  else if (value.collection instanceof HashValue)
    for (const [at, member] of value.collection.members.entries()) {
      const { length } = value.fields[at]!
      checkLength(length)
      if (member.length + length > PAIR_BYTES_MAX) throw new CommandFault(TOO_LONG)
    }
}

const TOO_LONG = 'string exceeds maximum allowed size (proto-max-bulk-len)'

/** Of arguments of which something could not be stored. */
export function faultOfLengths(spec: CommandSpec, args: readonly Uint8Array[]): FaultReply | undefined {
  let total = 0
  for (const argument of args) total += argument.length
  if (total <= KEY_BYTES_MAX) return undefined
  if (spec.keys(args).some((at) => (args[at]?.length ?? 0) > KEY_BYTES_MAX))
    return { fault: 'ERR', message: `a key has at most ${KEY_BYTES_MAX} bytes` }
  // What RESTORE makes of a dump is looked at there.
  if (spec.name === 'restore') return undefined
  const [longest = 0, second = 0] = args.map(({ length }) => length).sort((one, other) => other - one)
  if (longest <= STRING_BYTES_MAX && longest + second <= PAIR_BYTES_MAX) return undefined
  return { fault: 'ERR', message: TOO_LONG }
}
