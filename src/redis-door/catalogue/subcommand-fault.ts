import { type FaultReply, fitsArity, latin1Of, unknownSubcommand, wrongArity } from '../../index-service/index.ts'
import { entryNamed } from './catalogue.ts'

/** No subcommand has a longer name. */
const NAME_MAX = 128

/**
 * Why the subcommand that the first argument names is not there, or not with this many arguments. Redis says so before
 * it begins, and before the command waits for EXEC. `name`: of the command, in lower case.
 */
export function subcommandFault(name: string, args: readonly Uint8Array[]): FaultReply | undefined {
  const [first] = args
  const entry = entryNamed(name)
  if (first === undefined || entry === undefined || entry.subcommands.length === 0) return undefined
  const subcommand = entryNamed(`${name}|${latin1Of(first.subarray(0, NAME_MAX)).toLowerCase()}`)
  if (subcommand === undefined) return { fault: 'ERR', message: unknownSubcommand(name, first) }
  return fitsArity(subcommand, args.length) ? undefined : wrongArity(subcommand.name)
}
