import { randomBytes } from 'node:crypto'
import {
  bytesOf,
  CommandFault,
  commandNamed,
  type FaultReply,
  faultOfCall,
  fitsArity,
  latin1Of,
  wrongArity,
} from '../../index-service/index.ts'
import { wishOf } from '../access/door-users.ts'
import type { Refused, Selector } from '../access/selector.ts'
import { entries } from '../catalogue/catalogue.ts'
import { commandCategories } from '../catalogue/command-flags.ts'
import type { DoorClient } from '../connection/client.ts'
import type { DoorServices } from '../door-services.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import { integerOf, wordOf } from './arguments.ts'
import type { DoorCommand } from './door-command.ts'
import { type RunSubcommand, withSubcommands } from './subcommands.ts'

const BITS_MAX = 4096
const LOG_SHOWN = 10
const NO_FILE =
  'This door has no file of users: those of ACL SETUSER are there until the process ends. Set the password of default with --password-file'

const setUser: RunSubcommand = (door, _client, args) => {
  const [name, ...rules] = args.map(latin1Of) as [string, ...string[]]
  if (/[ \0]/.test(name)) throw new CommandFault("Usernames can't contain spaces or null characters")
  door.users.change(name, rules)
  return 'OK'
}

/** Connections of a user that is gone end. */
const deleteUsers: RunSubcommand = (door, self, args) => {
  let deleted = 0
  for (const name of args.map(latin1Of)) {
    if (name === 'default') throw new CommandFault("The 'default' user cannot be removed")
    const user = door.users.get(name)
    if (user === undefined) continue
    door.users.delete(name)
    deleted += 1
    for (const client of [...door.clients])
      if (client.user === user) {
        if (client === self) client.line.end()
        else client.line.destroy()
      }
  }
  return deleted
}

const getUser: RunSubcommand = (door, _client, args) => {
  const user = door.users.get(latin1Of(args[0]!))
  if (user === undefined) return null
  return {
    table: [
      ...[bytesOf('flags'), new Set(user.flags.map(bytesOf))],
      ...[bytesOf('passwords'), [...user.passwords].map(bytesOf)],
      ...aboutSelector(user.root),
      ...[bytesOf('selectors'), { list: user.selectors.map((selector) => ({ table: aboutSelector(selector) })) }],
    ],
  }
}

function aboutSelector({ commandsText, keysText, channelsText }: Selector): DoorReply[] {
  return [
    ...[bytesOf('commands'), bytesOf(commandsText)],
    ...[bytesOf('keys'), bytesOf(keysText)],
    ...[bytesOf('channels'), bytesOf(channelsText)],
  ]
}

const generate: RunSubcommand = (_door, _client, args) => {
  const wrong = `ACL GENPASS argument must be the number of bits for the output password, a positive number up to ${BITS_MAX}`
  const bits = args.length === 0 ? 256 : integerOf(args[0]!, wrong)
  if (args.length > 1 || bits < 1 || bits > BITS_MAX) throw new CommandFault(wrong)
  const digits = Math.ceil(bits / 4)
  return bytesOf(
    randomBytes(Math.ceil(digits / 2))
      .toString('hex')
      .slice(0, digits),
  )
}

const log: RunSubcommand = (door, _client, args) => {
  const { log: refusals } = door.users
  if (wordOf(args[0], ['reset']) !== undefined) {
    refusals.reset()
    return 'OK'
  }
  const count = args.length === 0 ? LOG_SHOWN : Math.max(0, integerOf(args[0]!))
  const nowMs = Date.now()
  const list = refusals.entries.slice(0, count).map((entry): DoorReply => {
    const { reason, context, object, user, timeMs, client } = entry
    return {
      table: [
        ...[bytesOf('count'), entry.count],
        ...[bytesOf('reason'), bytesOf(reason)],
        ...[bytesOf('context'), bytesOf(context)],
        ...[bytesOf('object'), bytesOf(object)],
        ...[bytesOf('username'), bytesOf(user)],
        ...[bytesOf('age-seconds'), { double: (nowMs - timeMs) / 1000 }],
        ...[bytesOf('client-info'), bytesOf(client)],
      ],
    }
  })
  return { list }
}

/** ACL. `commandOf`: the door's own commands, which hold these here. */
export function userCommands(commandOf: (name: string) => DoorCommand | undefined): readonly DoorCommand[] {
  const isThere = (name: string): boolean => commandOf(name) !== undefined || commandNamed(name) !== undefined
  const noFile = (): never => {
    throw new CommandFault(NO_FILE)
  }
  const acl = withSubcommands({
    name: 'acl',
    subcommands: {
      whoami: (_door, { user }) => bytesOf(user.name),
      users: ({ users }) => [...users].map(({ name }) => bytesOf(name)).sort(byBytes),
      list: ({ users }) => [...users].map((user) => bytesOf(String(user))).sort(byBytes),
      getuser: getUser,
      setuser: setUser,
      deluser: deleteUsers,
      cat: (_door, _client, args) => categoryOf(args, isThere),
      genpass: generate,
      log,
      dryrun: (door, client, args) => dryRun(door, client, args, commandOf),
      load: noFile,
      save: noFile,
    },
  })
  return [acl]
}

function byBytes(one: Uint8Array, other: Uint8Array): number {
  return Buffer.compare(one, other)
}

function categoryOf(args: readonly Uint8Array[], isThere: (name: string) => boolean): DoorReply {
  if (args.length > 1)
    throw new CommandFault("unknown subcommand or wrong number of arguments for 'CAT'. Try ACL HELP.")
  if (args.length === 0) return commandCategories.map(bytesOf)
  const category = latin1Of(args[0]!).toLowerCase()
  if (!commandCategories.includes(category)) throw new CommandFault(`Unknown category '${latin1Of(args[0]!)}'`)
  const all = entries().flatMap((entry) => (isThere(entry.name) ? [entry, ...entry.subcommands] : []))
  const listed = all.filter(({ categories }) => categories.has(category))
  return listed.map(({ name }) => bytesOf(name))
}

function dryRun(
  door: DoorServices,
  _client: DoorClient,
  [name, command, ...args]: readonly Uint8Array[],
  commandOf: (name: string) => DoorCommand | undefined,
): DoorReply {
  const user = door.users.get(latin1Of(name!))
  if (user === undefined) throw new CommandFault(`User '${latin1Of(name!)}' not found`)
  const called = latin1Of(command!).toLowerCase()
  const fault = faultBefore(called, args, commandOf(called))
  if (fault !== undefined) throw new CommandFault(fault.message, fault.fault)
  const wish = wishOf(called, args)
  const refused = wish && user.refuses(wish)
  return refused === undefined ? 'OK' : bytesOf(messageOf(refused))
}

function faultBefore(
  name: string,
  args: readonly Uint8Array[],
  command: DoorCommand | undefined,
): FaultReply | undefined {
  if (command !== undefined) return fitsArity(command, args.length) ? command.refusal?.(args) : wrongArity(command.name)
  if (commandNamed(name) === undefined) return { fault: 'ERR', message: `Command '${name}' not found` }
  return faultOfCall(name, args)
}

function messageOf({ reason, object }: Refused): string {
  if (reason === 'command') return `This user has no permissions to run the '${object}' command`
  return `This user has no permissions to access the '${object}' ${reason}`
}
