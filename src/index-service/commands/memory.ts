import type { Keyspace } from '../state/keyspace.ts'
import { type CommandSpec, glances } from './command.ts'
import { isWord, numberOf } from './numbers.ts'
import { type Reply, syntaxFault } from './reply.ts'
import { subcommandOf } from './stream-groups.ts'

type Args = readonly Uint8Array[]

const ARITIES = { usage: -3, help: 2 }
const HELP = [
  'MEMORY <subcommand> [<arg> [value] [opt] ...]. Subcommands are:',
  'USAGE <key> [SAMPLES <count>]',
  '    The bytes that a key and its value take. All of it is counted, without samples.',
  'HELP',
  '    This text.',
]

function memory(keyspace: Keyspace, args: Args): Reply {
  if (subcommandOf('memory', args, ARITIES) === 'help') return HELP
  for (let at = 2; at < args.length; at += 2) {
    const value = args[at + 1]
    if (!isWord(args[at]!, 'samples') || value === undefined) throw syntaxFault()
    if (numberOf(value) < 0) throw syntaxFault()
  }
  return keyspace.has(args[1]!) ? Math.ceil(keyspace.usedBytesOf(args[1]!)) : null
}

/** What keys take. */
export const memories: readonly CommandSpec[] = [glances('memory', -2, (args) => (args.length > 1 ? [1] : []), memory)]
