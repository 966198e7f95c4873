import { type CommandSpec, commandNamed, NameTable } from '../../index-service/index.ts'
import { doorCommandNamed } from '../commands/door-table.ts'
import { entryNamed } from './catalogue.ts'

const packable = new NameTable((name) => {
  const spec = commandNamed(name)
  if (spec === undefined || spec.blocking !== undefined || doorCommandNamed(name) !== undefined) return undefined
  // Its subcommand may be wrong.
  return (entryNamed(spec.name)?.subcommands.length ?? 0) > 0 ? undefined : spec
})

/**
 * The command whose name lies there, if requests of it may go to the log without a look at their arguments. Whatever
 * those are, it is the index that answers.
 */
export function packableAt(bytes: Uint8Array, start: number, lengthBytes: number): CommandSpec | undefined {
  return packable.at(bytes, start, lengthBytes)
}
