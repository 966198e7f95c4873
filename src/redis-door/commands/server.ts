import { setTimeout as sleep } from 'node:timers/promises'
import { bytesOf, CommandFault, latin1Of } from '../../index-service/index.ts'
import type { DoorServices } from '../door-services.ts'
import { figuresOf, followersOf } from '../information/door-figures.ts'
import { information } from '../information/sections.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import { NO_REPLY } from '../protocol/door-reply.ts'
import { integerOf, syntaxFault, wordOf } from './arguments.ts'
import type { DoorCommand } from './door-command.ts'

/** How often WAIT looks. */
const LOOK_MS = 10
const NOT_A_REPLICA = 'an index is replicated by its own log: start more nodes with aether serve --replicas'

const info: DoorCommand['run'] = async (door, _client, args) => {
  const asked = args.map((name) => latin1Of(name).toLowerCase())
  return { verbatim: information(door, await figuresOf(door), asked) }
}

/** What was answered is in the log. So there is nothing to save, and it is done when it is asked for. */
function saved(door: DoorServices): void {
  door.lastSaveMs = Date.now()
}

const backgroundSave: DoorCommand['run'] = (door, _client, args) => {
  if (args.length > 1 || (args.length === 1 && wordOf(args[0], ['schedule']) === undefined)) throw syntaxFault()
  saved(door)
  return 'Background saving started'
}

/** Writes were in the logs of a majority when they were answered. This waits for those of further nodes. */
const wait: DoorCommand['run'] = async (door, client, args) => {
  const wanted = integerOf(args[0]!)
  const timeoutMs = integerOf(args[1]!, 'timeout is not an integer or out of range')
  if (timeoutMs < 0) throw new CommandFault('timeout is negative')
  const endMs = timeoutMs === 0 ? Infinity : Date.now() + timeoutMs
  for (;;) {
    const followers = await followersOf(door)
    // A transaction cannot wait.
    if (followers >= wanted || Date.now() >= endMs || client.transaction !== undefined) return followers
    await sleep(LOOK_MS, undefined, { signal: client.line.ended })
  }
}

const shutdown: DoorCommand['run'] = ({ settings }, _client, args) => {
  for (const arg of args)
    if (wordOf(arg, ['nosave', 'save', 'now', 'force', 'abort']) === undefined) throw syntaxFault()
  if (args.some((arg) => wordOf(arg, ['abort']) !== undefined)) throw new CommandFault('No shutdown in progress.')
  if (settings.onShutdown === undefined) throw new CommandFault('SHUTDOWN is not possible: this process has other work')
  settings.onShutdown()
  return NO_REPLY
}

function notAReplica(): DoorReply {
  throw new CommandFault(NOT_A_REPLICA)
}

/** The server as a whole. */
export const serverCommands: readonly DoorCommand[] = [
  { name: 'info', arity: -1, run: info },
  {
    name: 'save',
    arity: 1,
    inTransaction: 'refused',
    run(door) {
      saved(door)
      return 'OK'
    },
  },
  { name: 'bgsave', arity: -1, run: backgroundSave },
  { name: 'bgrewriteaof', arity: 1, run: () => 'Background append only file rewriting started' },
  { name: 'lastsave', arity: 1, run: ({ lastSaveMs }) => Math.floor(lastSaveMs / 1000) },
  { name: 'wait', arity: 3, run: wait },
  { name: 'shutdown', arity: -1, inTransaction: 'refused', run: shutdown },
  { name: 'role', arity: 1, run: () => [bytesOf('master'), 0, []] },
  { name: 'replicaof', arity: 3, run: notAReplica },
  { name: 'slaveof', arity: 3, run: notAReplica },
]
