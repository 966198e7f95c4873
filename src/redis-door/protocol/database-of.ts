import { CommandFault, latin1Of } from '../../index-service/index.ts'

const DATABASES = 16
/** Of 32 bits. */
const INTEGER_MAX = 2 ** 31 - 1

/** The number of a database, as SELECT has it. @throws CommandFault */
export function databaseOf(bytes: Uint8Array): number {
  const text = latin1Of(bytes)
  const db = Number(text)
  if (!/^(0|-?[1-9]\d*)$/.test(text) || !(db >= -(2 ** 63) && db < 2 ** 63))
    throw new CommandFault('value is not an integer or out of range')
  if (db < -INTEGER_MAX - 1 || db > INTEGER_MAX)
    throw new CommandFault(`value is out of range, value must between -${INTEGER_MAX + 1} and ${INTEGER_MAX}`)
  if (db < 0 || db >= DATABASES) throw new CommandFault('DB index is out of range')
  return db
}
