import { parseDouble } from './numbers.ts'
import { CommandFault } from './reply.ts'

/** A time that a blocking command gives in seconds, in milliseconds. 0: without end. @throws CommandFault */
export function timeoutMsOf(argument: Uint8Array): number {
  const seconds = parseDouble(argument)
  if (seconds === undefined) throw new CommandFault('timeout is not a float or out of range')
  const ms = Math.ceil(seconds * 1000)
  if (ms > 2 ** 63) throw new CommandFault('timeout is out of range')
  if (ms < 0) throw new CommandFault('timeout is negative')
  return ms
}
