import { bytesOf, CommandFault, latin1Of, matches } from '../../index-service/index.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import { syntaxFault } from './arguments.ts'
import type { DoorCommand } from './door-command.ts'
import { type RunSubcommand, withSubcommands } from './subcommands.ts'

const get: RunSubcommand = ({ parameters }, _client, args): DoorReply => {
  const patterns = args.map((pattern) => latin1Of(pattern).toLowerCase())
  const names = parameters.names.filter((name) => patterns.some((pattern) => matches(pattern, name)))
  return { table: names.flatMap((name) => [bytesOf(name), bytesOf(parameters.get(name)!)]) }
}

const set: RunSubcommand = ({ parameters }, _client, args) => {
  if (args.length % 2 !== 0) throw syntaxFault()
  const texts = args.map(latin1Of)
  parameters.set(texts.flatMap((name, at) => (at % 2 === 0 ? [[name, texts[at + 1]!] as const] : [])))
  return 'OK'
}

/** CONFIG. What is set holds until the process ends. */
export const configCommands: readonly DoorCommand[] = [
  withSubcommands({
    name: 'config',
    subcommands: {
      get,
      set,
      resetstat({ activity }) {
        activity.statistics.reset()
        return 'OK'
      },
      rewrite() {
        throw new CommandFault('The server is running without a config file')
      },
    },
  }),
]
