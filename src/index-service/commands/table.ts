import { latin1Of } from '../values/latin1.ts'
import { bitfields } from './bitfields.ts'
import { bits } from './bits.ts'
import type { CommandSpec } from './command.ts'
import { databases } from './databases.ts'
import { dumps } from './dump.ts'
import { hashes } from './hashes.ts'
import { keys } from './keys.ts'
import { listMoves } from './list-moves.ts'
import { lists } from './lists.ts'
import { memories } from './memory.ts'
import { cText, type FaultReply } from './reply.ts'
import { server } from './server.ts'
import { sets } from './sets.ts'
import { slots } from './slots.ts'
import { sorts } from './sort.ts'
import { sortedSetAlgebra } from './sorted-set-algebra.ts'
import { sortedSetPops } from './sorted-set-pops.ts'
import { sortedSetRanges } from './sorted-set-ranges.ts'
import { sortedSets } from './sorted-sets.ts'
import { streamClaims } from './stream-claims.ts'
import { streamGroups } from './stream-groups.ts'
import { streamInfo } from './stream-info.ts'
import { streamReads } from './stream-reads.ts'
import { streams } from './streams.ts'
import { strings } from './strings.ts'

const specs: readonly CommandSpec[] = [
  ...strings,
  ...bits,
  ...bitfields,
  ...keys,
  ...databases,
  ...dumps,
  ...hashes,
  ...lists,
  ...listMoves,
  ...sets,
  ...sortedSets,
  ...sortedSetRanges,
  ...sortedSetPops,
  ...sortedSetAlgebra,
  ...streams,
  ...streamReads,
  ...streamGroups,
  ...streamClaims,
  ...streamInfo,
  ...sorts,
  ...server,
  ...memories,
  ...slots,
]

/** In lower and in upper case, as programs write them. */
const byName = new Map<string, CommandSpec>(
  specs.flatMap((spec) => [
    [spec.name, spec],
    [spec.name.toUpperCase(), spec],
  ]),
)

/**
 * The format of commands that this release knows: that of its newest command. Nodes of several releases run a command
 * once all know its format, and till then all refuse it.
 */
export const COMMAND_FORMAT: number = Math.max(...specs.map(({ since = 1 }) => since))

/** In any case; undefined if there is no such command in that format. */
export function commandNamed(name: string, format: number = COMMAND_FORMAT): CommandSpec | undefined {
  const spec = byName.get(name) ?? byName.get(name.toLowerCase())
  return spec?.since !== undefined && spec.since > format ? undefined : spec
}

/** In lower case. */
export function commandNames(): string[] {
  return specs.map(({ name }) => name)
}

export function fitsArity({ arity }: Pick<CommandSpec, 'arity'>, argumentCount: number): boolean {
  return arity < 0 ? argumentCount + 1 >= -arity : argumentCount + 1 === arity
}

/** Of a name and of arguments in a message, as Redis has it. */
const SHOWN_CHARACTERS = 128

/** The error of a call whose command does not exist, or takes another number of arguments; undefined of others. */
export function faultOfCall(
  name: string,
  args: readonly Uint8Array[],
  format: number = COMMAND_FORMAT,
): FaultReply | undefined {
  const spec = commandNamed(name, format)
  if (spec === undefined) return unknownCommand(name, args)
  if (fitsArity(spec, args.length)) return undefined
  return wrongArity(spec.name)
}

export function wrongArity(name: string): FaultReply {
  return { fault: 'ERR', message: `wrong number of arguments for '${name}' command` }
}

function unknownCommand(name: string, args: readonly Uint8Array[]): FaultReply {
  let shown = ''
  for (const argument of args) {
    if (shown.length >= SHOWN_CHARACTERS) break
    shown += `'${cText(latin1Of(argument.subarray(0, SHOWN_CHARACTERS - shown.length)))}' `
  }
  const message = `unknown command '${cText(name.slice(0, SHOWN_CHARACTERS))}', with args beginning with: ${shown}`
  return { fault: 'ERR', message }
}

/** What a command that may take more memory is answered when all is used. */
export const OUT_OF_MEMORY: FaultReply = {
  fault: 'OOM',
  message: "command not allowed when used memory > 'maxmemory'.",
}
