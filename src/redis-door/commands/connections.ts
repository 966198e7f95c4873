import { bytesOf, CommandFault, latin1Of } from '../../index-service/index.ts'
import type { DoorClient } from '../connection/client.ts'
import type { DoorServices } from '../door-services.ts'
import { databaseOf } from '../protocol/database-of.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import { REDIS_VERSION } from '../protocol/redis-version.ts'
import type { DoorCommand } from './door-command.ts'

const auth: DoorCommand['run'] = (door, client, args) => {
  if (args.length > 2) throw new CommandFault('syntax error')
  if (args.length === 1 && door.users.default.needsNoPassword)
    throw new CommandFault(
      'AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?',
    )
  const [user, password] = args.length === 1 ? ['default', latin1Of(args[0]!)] : args.map(latin1Of)
  door.users.authenticate(client, user!, password!)
  return 'OK'
}

const hello: DoorCommand['run'] = (door, client, args) => {
  const [version] = args
  const text = version === undefined ? String(client.protocol) : latin1Of(version)
  const wanted = Number(text)
  if (!/^(0|-?[1-9]\d{0,17})$/.test(text)) throw new CommandFault('Protocol version is not an integer or out of range')
  if (wanted !== 2 && wanted !== 3) throw new CommandFault('unsupported protocol version', 'NOPROTO')
  let name: string | undefined
  for (let at = 1; at < args.length; at += 1) {
    const option = latin1Of(args[at]!).toLowerCase()
    if (option === 'auth' && at + 2 < args.length) {
      door.users.authenticate(client, latin1Of(args[at + 1]!), latin1Of(args[at + 2]!))
      at += 2
    } else if (option === 'setname' && at + 1 < args.length) {
      name = nameOf(args[at + 1]!)
      at += 1
    } else throw new CommandFault(`Syntax error in HELLO option '${latin1Of(args[at]!)}'`)
  }
  if (!client.isAuthenticated)
    throw new CommandFault(
      'HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time',
      'NOAUTH',
    )
  if (name !== undefined) client.name = name
  client.protocol = wanted
  return { table: about(door.settings.isCluster, client) }
}

function about(isCluster: boolean, { id, protocol }: DoorClient): DoorReply[] {
  return [
    ...[bytesOf('server'), bytesOf('redis')],
    ...[bytesOf('version'), bytesOf(REDIS_VERSION)],
    ...[bytesOf('proto'), protocol],
    ...[bytesOf('id'), id],
    ...[bytesOf('mode'), bytesOf(isCluster ? 'cluster' : 'standalone')],
    ...[bytesOf('role'), bytesOf('master')],
    ...[bytesOf('modules'), []],
  ]
}

/** @throws CommandFault */
export function nameOf(bytes: Uint8Array): string {
  const name = latin1Of(bytes)
  if (!/^[!-~]*$/.test(name))
    throw new CommandFault('Client names cannot contain spaces, newlines or special characters.')
  return name
}

/** What SELECT chooses. @throws CommandFault */
export function chosenDatabase({ settings }: DoorServices, args: readonly Uint8Array[]): number {
  const db = databaseOf(args[0]!)
  if (settings.isCluster && db !== 0) throw new CommandFault('SELECT is not allowed in cluster mode')
  return db
}

const select: DoorCommand['run'] = (door, client, args) => {
  client.db = chosenDatabase(door, args)
  return 'OK'
}

/** The user, the version of RESP and the database of a connection. */
export const connections: readonly DoorCommand[] = [
  { name: 'auth', arity: -2, isOpen: true, run: auth },
  { name: 'hello', arity: -1, isOpen: true, inTransaction: 'refused', run: hello },
  { name: 'select', arity: 2, run: select },
  {
    name: 'quit',
    arity: -1,
    isOpen: true,
    isForSubscribers: true,
    inTransaction: 'at once',
    run: (_door, client) => {
      client.line.end()
      return 'OK'
    },
  },
]
