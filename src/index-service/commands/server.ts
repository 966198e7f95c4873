import { bytesOf } from '../values/latin1.ts'
import { type CommandContext, type CommandSpec, frees, glances, noKeys, reads } from './command.ts'
import { isWord } from './numbers.ts'
import { objectAbout } from './object.ts'
import { CommandFault, type Reply, syntaxFault } from './reply.ts'

function ping(args: readonly Uint8Array[]): Reply {
  if (args.length > 1) throw new CommandFault("wrong number of arguments for 'ping' command")
  return args[0] ?? 'PONG'
}

/** All that goes on is at once, so both ways are one. */
function flushes(name: string, flush: (context: CommandContext) => void): CommandSpec {
  return frees(name, -1, noKeys, (_keyspace, args, context) => {
    const isKnown = args.length === 0 || (args.length === 1 && (isWord(args[0]!, 'sync') || isWord(args[0]!, 'async')))
    if (!isKnown) throw syntaxFault()
    flush(context)
    return 'OK'
  })
}

/** The time by the log, as seconds and microseconds. */
const time: CommandSpec['run'] = (_keyspace, _args, { timeMs }) => {
  const ms = Math.floor(timeMs)
  return [bytesOf(String(Math.floor(ms / 1000))), bytesOf(String((ms % 1000) * 1000))]
}

/** The shard as a whole. What is about connections belongs to the door. */
export const server: readonly CommandSpec[] = [
  reads('ping', -1, noKeys, (_keyspace, args) => ping(args)),
  reads('echo', 2, noKeys, (_keyspace, args) => args[0]!),
  reads('dbsize', 1, noKeys, (keyspace) => keyspace.size),
  flushes('flushdb', ({ db, databases }) => databases().flush(db)),
  flushes('flushall', ({ databases }) => databases().flushAll()),
  reads('time', 1, noKeys, time),
  glances('object', -2, (args) => (args.length > 1 ? [1] : []), objectAbout),
]
