import { type FaultReply, fitsArity, latin1Of, unknownSubcommand, wrongArity } from '../../index-service/index.ts'
import { entryNamed } from '../catalogue/catalogue.ts'
import type { DoorCommand } from './door-command.ts'

/** `args` are without the names of the command and of the subcommand. */
export type RunSubcommand = DoorCommand['run']

const NAME_SHOWN = 128
/** How the catalogue begins to say of a subcommand why there is none. */
const REFUSED = 'Refused: '

interface Container {
  readonly name: string
  readonly subcommands: Readonly<Record<string, RunSubcommand>>
  /** What the command does by itself. Without it, a subcommand has to be named. */
  readonly alone?: RunSubcommand
}

/**
 * A command of subcommands, each by its name in lower case. How many arguments they take, the catalogue says; HELP is
 * made of it, too.
 */
export function withSubcommands(
  { name, subcommands, alone }: Container,
  rest: Omit<Partial<DoorCommand>, 'name' | 'run'> = {},
): DoorCommand {
  const known = new Map([...Object.entries(subcommands), ['help', () => helpOf(name)] as const])
  return {
    name,
    arity: alone === undefined ? -2 : -1,
    refusal: (args) => (args.length === 0 ? undefined : refusalOf(name, known, args)),
    run(door, client, args) {
      if (args.length === 0) return alone!(door, client, args)
      const word = wordOf(args[0]!)
      client.lastCommand = `${name}|${word}`
      return known.get(word)!(door, client, args.slice(1))
    },
    ...rest,
  }
}

function refusalOf(
  name: string,
  known: ReadonlyMap<string, RunSubcommand>,
  args: readonly Uint8Array[],
): FaultReply | undefined {
  const word = wordOf(args[0]!)
  const entry = entryNamed(`${name}|${word}`)
  if (!known.has(word)) {
    if (entry?.summary.startsWith(REFUSED) === true)
      return { fault: 'ERR', message: `${entry.name} is refused: ${entry.summary.slice(REFUSED.length)}` }
    return { fault: 'ERR', message: unknownSubcommand(name, args[0]!) }
  }
  // Arity counts both names.
  return entry === undefined || fitsArity(entry, args.length) ? undefined : wrongArity(entry.name)
}

function wordOf(argument: Uint8Array): string {
  return latin1Of(argument.subarray(0, NAME_SHOWN)).toLowerCase()
}

function helpOf(name: string): string[] {
  const lines = (entryNamed(name)?.subcommands ?? []).flatMap((entry) => [
    entry.name.slice(name.length + 1).toUpperCase(),
    `    ${entry.summary}`,
  ])
  return [`${name.toUpperCase()} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:`, ...lines]
}
