import { type CommandSpec, latin1Of } from '../../index-service/index.ts'
import { entryNamed, entryOfCall } from './catalogue.ts'
import { keysWithFlags } from './key-uses.ts'

const SUBCOMMAND_MAX = 32
const NONE: readonly Uint8Array[] = []

/** The keys of a command that only reads; none of any other one. `spec`: of the index, if it is one of its own. */
export function readKeys(
  name: string,
  args: readonly Uint8Array[],
  spec: CommandSpec | undefined,
): readonly Uint8Array[] {
  const command = entryNamed(name)
  if (command === undefined) return NONE
  const hasSubcommand = command.subcommands.length > 0 && args.length > 0
  const entry = hasSubcommand ? entryOfCall(command, latin1Of(args[0]!.subarray(0, SUBCOMMAND_MAX))) : command
  if (!entry.flags.has('readonly')) return NONE
  return keysWithFlags(entry, spec, args).flatMap(({ at }) => args[at] ?? [])
}
