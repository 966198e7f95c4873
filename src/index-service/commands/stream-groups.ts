import type { Keyspace } from '../state/keyspace.ts'
import { latin1Of } from '../values/latin1.ts'
import { type Consumer, StreamGroup } from '../values/stream-group.ts'
import { StreamValue } from '../values/stream-value.ts'
import { type CommandContext, type CommandSpec, firstKey, frees, grows } from './command.ts'
import { isWord, numberOf } from './numbers.ts'
import { CommandFault, type Reply, shownName, unknownSubcommand } from './reply.ts'
import { parseId, startOf } from './stream-ids.ts'

type Args = readonly Uint8Array[]

const HELP = [
  'XGROUP <subcommand> [<arg> [value] [opt] ...]. Subcommands are:',
  'CREATE <key> <group> <id|$> [MKSTREAM] [ENTRIESREAD <count>]',
  '    Makes a group that reads what comes behind an entry; MKSTREAM: and the stream, if there is none.',
  'CREATECONSUMER <key> <group> <consumer>',
  '    Makes a consumer of a group.',
  'DELCONSUMER <key> <group> <consumer>',
  '    Removes a consumer, with what it has not acknowledged.',
  'DESTROY <key> <group>',
  '    Removes a group.',
  'SETID <key> <group> <id|$> [ENTRIESREAD <count>]',
  '    Lets a group go on behind another entry.',
  'HELP',
  '    This text.',
]

/** Arities of subcommands, as of commands. */
const ARITIES: Readonly<Record<string, number>> = {
  create: -5,
  setid: -5,
  destroy: 4,
  createconsumer: 5,
  delconsumer: 5,
  help: 2,
}

/** The subcommand in lower case. @throws CommandFault */
export function subcommandOf(command: string, args: Args, arities: Readonly<Record<string, number>>): string {
  const name = Object.keys(arities).find((known) => isWord(args[0]!, known))
  if (name === undefined) throw new CommandFault(unknownSubcommand(command, args[0]!))
  const arity = arities[name]!
  const count = args.length + 1
  if (arity < 0 ? count < -arity : count !== arity)
    throw new CommandFault(`wrong number of arguments for '${command}|${name}' command`)
  return name
}

interface GroupOptions {
  readonly makesStream: boolean
  readonly entriesRead: number | undefined
}

function groupOptions(args: Args, name: string): GroupOptions {
  let makesStream = false
  let entriesRead: number | undefined
  for (let at = 4; at < args.length; at += 1) {
    const option = args[at]!
    if (name === 'create' && isWord(option, 'mkstream')) makesStream = true
    else if ((name === 'create' || name === 'setid') && isWord(option, 'entriesread') && at + 1 < args.length) {
      at += 1
      const count = numberOf(args[at]!)
      if (count < -1) throw new CommandFault('value for ENTRIESREAD must be positive or -1')
      entriesRead = count === -1 ? undefined : count
    } else
      throw new CommandFault(
        `unknown subcommand or wrong number of arguments for '${shownName(args[0]!)}'. Try XGROUP HELP.`,
      )
  }
  return { makesStream, entriesRead }
}

export function noGroup(group: Uint8Array, key: Uint8Array): CommandFault {
  return new CommandFault(`No such consumer group '${latin1Of(group)}' for key name '${latin1Of(key)}'`, 'NOGROUP')
}

/** A consumer that asks for entries. It is made if it is not known. */
export function seenConsumer(
  keyspace: Keyspace,
  key: Uint8Array,
  { group, name, nowMs }: { readonly group: StreamGroup; readonly name: string; readonly nowMs: number },
): Consumer {
  if (group.consumer(name) === undefined) keyspace.tell('xgroup-createconsumer', key)
  const consumer = group.consumerFrom(name, nowMs)
  consumer.seenMs = nowMs
  return consumer
}

function idAt(argument: Uint8Array, stream: StreamValue | undefined): bigint {
  return isWord(argument, '$') ? (stream?.lastId ?? 0n) : parseId(argument)
}

function xgroup(keyspace: Keyspace, args: Args, context: CommandContext): Reply {
  const name = subcommandOf('xgroup', args, ARITIES)
  if (name === 'help') return HELP
  const [, key, groupName] = args as [Uint8Array, Uint8Array, Uint8Array]
  const { makesStream, entriesRead } = groupOptions(args, name)
  const stream = keyspace.stream(key)
  if (stream === undefined && !makesStream)
    throw new CommandFault(
      'The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically.',
    )
  if (name === 'create') {
    const group = new StreamGroup(latin1Of(groupName), idAt(args[3]!, stream), entriesRead)
    return created(keyspace, key, stream ?? new StreamValue(), group)
  }
  const group = stream!.group(latin1Of(groupName))
  if (name === 'destroy') return destroyed(keyspace, key, stream!, group)
  if (group === undefined) throw noGroup(groupName, key)
  if (name === 'setid') {
    const isEnd = isWord(args[3]!, '-') || isWord(args[3]!, '+')
    group.lastId = isEnd ? startOf(args[3]!) : idAt(args[3]!, stream)
    group.entriesRead = entriesRead
    keyspace.regrouped(key, stream!, 'xgroup-setid')
    return 'OK'
  }
  const consumer = latin1Of(args[3]!)
  const isKnown = group.consumer(consumer) !== undefined
  if (name === 'createconsumer') group.consumerFrom(consumer, context.timeMs)
  const pending = name === 'delconsumer' ? (group.deleteConsumer(consumer) ?? 0) : 0
  const hasChanged = isKnown === (name === 'delconsumer')
  if (hasChanged) keyspace.regrouped(key, stream!, `xgroup-${name}`)
  return name === 'createconsumer' ? (isKnown ? 0 : 1) : pending
}

function created(keyspace: Keyspace, key: Uint8Array, stream: StreamValue, group: StreamGroup): Reply {
  const isKnown = stream.group(group.name) !== undefined
  if (isKnown) throw new CommandFault('Consumer Group name already exists', 'BUSYGROUP')
  stream.addGroup(group)
  keyspace.regrouped(key, stream, 'xgroup-create')
  return 'OK'
}

/** Consumers that wait are told. */
function destroyed(keyspace: Keyspace, key: Uint8Array, stream: StreamValue, group: StreamGroup | undefined): Reply {
  if (group === undefined) return 0
  stream.deleteGroup(group.name)
  keyspace.regrouped(key, stream, 'xgroup-destroy')
  keyspace.signal(key)
  return 1
}

function xack(keyspace: Keyspace, args: Args): Reply {
  const stream = keyspace.stream(args[0]!)
  const group = stream?.group(latin1Of(args[1]!))
  if (stream === undefined || group === undefined) return 0
  const ids = args.slice(2).map((argument) => parseId(argument))
  let acknowledged = 0
  for (const id of ids) if (group.acknowledge(id)) acknowledged += 1
  if (acknowledged > 0) keyspace.regrouped(args[0]!, stream)
  return acknowledged
}

/** Groups of streams. */
export const streamGroups: readonly CommandSpec[] = [
  grows('xgroup', -2, (args) => (args.length > 1 ? [1] : []), xgroup),
  frees('xack', -4, firstKey, xack),
]
