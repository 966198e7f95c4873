import { type FaultReply, fitsArity, latin1Of, wrongArity } from '../../index-service/index.ts'
import { entryNamed } from './catalogue.ts'

const NAME_SHOWN = 128

/**
 * Why the subcommand that the first argument names is not there, or not with this many arguments. Redis says so before
 * it begins, and before the command waits for EXEC. `name`: of the command, in lower case.
 */
export function subcommandFault(name: string, args: readonly Uint8Array[]): FaultReply | undefined {
  const [first] = args
  const entry = entryNamed(name)
  if (first === undefined || entry === undefined || entry.subcommands.length === 0) return undefined
  const shown = latin1Of(first.subarray(0, NAME_SHOWN))
  const subcommand = entryNamed(`${name}|${shown.toLowerCase()}`)
  if (subcommand === undefined) return unknownSubcommand(name, shown)
  return fitsArity(subcommand, args.length) ? undefined : wrongArity(subcommand.name)
}

export function unknownSubcommand(name: string, shown: string): FaultReply {
  return { fault: 'ERR', message: `unknown subcommand '${shown}'. Try ${name.toUpperCase()} HELP.` }
}
