import { bytesOf, CommandFault, latin1Of } from '../../index-service/index.ts'
import type { DoorClient } from '../connection/client.ts'
import { clientLine } from '../connection/client-line.ts'
import { type DoorReply, NO_REPLY } from '../protocol/door-reply.ts'
import { integerOf, syntaxFault, wordOf } from './arguments.ts'
import { clientsOfType, killClients } from './client-choice.ts'
import { nameOf } from './connections.ts'
import type { DoorCommand } from './door-command.ts'
import { type RunSubcommand, withSubcommands } from './subcommands.ts'
import { trackingSubcommands } from './tracking.ts'

const ON_OFF = ['on', 'off'] as const

const list: RunSubcommand = ({ clients }, _client, args) => {
  const [option, ...values] = args
  if (option === undefined) return lines([...clients])
  const word = wordOf(option, ['type', 'id'])
  if (word === 'type' && values.length === 1) return lines(clientsOfType(clients, latin1Of(values[0]!)))
  if (word !== 'id' || values.length === 0) throw syntaxFault()
  const ids = values.map((value) => integerOf(value, 'Invalid client ID'))
  return lines(ids.flatMap((id) => clients.get(id) ?? []))
}

function lines(clients: readonly DoorClient[]): DoorReply {
  return { verbatim: clients.map((client) => `${clientLine(client)}\n`).join('') }
}

const setInfo: RunSubcommand = (_door, client, args) => {
  const [option, value] = args as [Uint8Array, Uint8Array]
  const word = wordOf(option, ['lib-name', 'lib-ver'])
  if (word === undefined) throw new CommandFault(`Unrecognized option '${latin1Of(option)}'`)
  const text = latin1Of(value)
  if (!/^[!-~]*$/.test(text)) throw new CommandFault(`${word} cannot contain spaces, newlines or special characters.`)
  if (word === 'lib-name') client.libraryName = text
  else client.libraryVersion = text
  return 'OK'
}

/** The one that waits is told that its time is over, or an error. */
const unblock: RunSubcommand = ({ clients }, _client, args) => {
  const reason = args.length === 1 ? 'timeout' : wordOf(args[1], ['timeout', 'error'])
  if (reason === undefined) throw new CommandFault('CLIENT UNBLOCK reason should be TIMEOUT or ERROR')
  const blocked = clients.get(integerOf(args[0]!))?.blocked
  if (blocked === undefined) return 0
  const fault = { fault: 'UNBLOCKED', message: 'client unblocked via CLIENT UNBLOCK' }
  blocked.abort(reason === 'error' ? fault : null)
  return 1
}

const pause: RunSubcommand = (door, _client, args) => {
  const mode = args.length === 1 ? 'all' : wordOf(args[1], ['write', 'all'])
  if (mode === undefined) throw new CommandFault('CLIENT PAUSE mode must be WRITE or ALL')
  const timeoutMs = integerOf(args[0]!, 'timeout is not an integer or out of range')
  if (timeoutMs < 0) throw new CommandFault('timeout is negative')
  door.pause.begin(timeoutMs, mode)
  return 'OK'
}

const reply: RunSubcommand = (_door, client, args) => {
  const mode = wordOf(args[0], ['on', 'off', 'skip'])
  if (mode === undefined) throw syntaxFault()
  // SKIP leaves what is off as it is.
  if (mode !== 'skip' || client.replyMode === 'on') client.replyMode = mode
  return mode === 'on' ? 'OK' : NO_REPLY
}

const setName: RunSubcommand = (_door, client, args) => {
  client.name = nameOf(args[0]!)
  return 'OK'
}

const noEvict: RunSubcommand = (_door, client, args) => {
  client.isNotEvicted = onOff(args[0]!)
  return 'OK'
}

function onOff(argument: Uint8Array): boolean {
  const word = wordOf(argument, ON_OFF)
  if (word === undefined) throw syntaxFault()
  return word === 'on'
}

/** By the clock of this process. */
function time(): DoorReply {
  const us = Math.floor((performance.timeOrigin + performance.now()) * 1000)
  return [bytesOf(String(Math.floor(us / 1e6))), bytesOf(String(us % 1e6))]
}

const client = withSubcommands({
  name: 'client',
  subcommands: {
    id: (_door, { id }) => id,
    getname: (_door, { name }) => (name === '' ? null : bytesOf(name)),
    setname: setName,
    setinfo: setInfo,
    info: (_door, self) => ({ verbatim: `${clientLine(self)}\n` }),
    list,
    kill: killClients,
    unblock,
    pause,
    unpause(door) {
      door.pause.end()
      return 'OK'
    },
    reply,
    ...trackingSubcommands,
    'no-evict': noEvict,
    'no-touch'(_door, _client, args) {
      onOff(args[0]!)
      return 'OK'
    },
  },
})

/** CLIENT, and what answers without the index. */
export const clientCommands: readonly DoorCommand[] = [
  client,
  { name: 'echo', arity: 2, run: (_door, _client, args) => args[0]! },
  { name: 'time', arity: 1, run: time },
]
