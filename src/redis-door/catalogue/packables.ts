import { type CommandSpec, commandNamed, NameTable } from '../../index-service/index.ts'
import { entryNamed } from './catalogue.ts'

/** The command whose name lies there, if requests of it may go to the log without a look at their arguments. */
export type PackableAt = (bytes: Uint8Array, start: number, lengthBytes: number) => CommandSpec | undefined

/** Whatever the arguments of those commands are, it is the index that answers, and not the door. */
export function packables(isOfDoor: (name: string) => boolean): PackableAt {
  const table = new NameTable((name) => {
    const spec = commandNamed(name)
    if (spec === undefined || spec.blocking !== undefined || isOfDoor(name)) return undefined
    // Its subcommand may be wrong.
    return (entryNamed(spec.name)?.subcommands.length ?? 0) > 0 ? undefined : spec
  })
  return (bytes, start, lengthBytes) => table.at(bytes, start, lengthBytes)
}
