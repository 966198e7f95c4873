import type { Keyspace } from '../state/keyspace.ts'
import { bytesOf, latin1Of } from '../values/latin1.ts'
import type { StreamGroup } from '../values/stream-group.ts'
import type { StreamEntry, StreamValue } from '../values/stream-value.ts'
import { type CommandContext, type CommandSpec, reads } from './command.ts'
import { noSuchKey } from './keys.ts'
import { isWord } from './numbers.ts'
import { CommandFault, type Reply, shownName } from './reply.ts'
import { noGroup, subcommandOf } from './stream-groups.ts'
import { entryReply, ID_MAX, idReply } from './stream-ids.ts'
import { countOf } from './streams.ts'

type Args = readonly Uint8Array[]

const FULL_COUNT = 10
const ARITIES: Readonly<Record<string, number>> = { stream: -3, groups: 3, consumers: 4, help: 2 }
const HELP = [
  'XINFO <subcommand> [<arg> [value] [opt] ...]. Subcommands are:',
  'CONSUMERS <key> <group>',
  '    The consumers of a group, and what they have not acknowledged.',
  'GROUPS <key>',
  '    The groups of a stream, and how far they are.',
  'STREAM <key> [FULL [COUNT <count>]]',
  '    A stream with its first and last entry; FULL: with its entries, groups and consumers.',
  'HELP',
  '    This text.',
]

function named(values: Readonly<Record<string, Reply>>): Reply {
  return new Map<Reply, Reply>(Object.entries(values).map(([name, value]) => [bytesOf(name), value]))
}

function xinfo(keyspace: Keyspace, args: Args, { timeMs }: CommandContext): Reply {
  const name = subcommandOf('xinfo', args, ARITIES)
  if (name === 'help') return HELP
  const stream = keyspace.stream(args[1]!)
  if (stream === undefined) throw noSuchKey()
  if (name === 'stream') return aboutStream(stream, args)
  if (name === 'groups') return stream.groups.map((group) => aboutGroup(stream, group))
  const group = stream.group(latin1Of(args[2]!))
  if (group === undefined) throw noGroup(args[2]!, args[1]!)
  return group.consumers.map((consumer) =>
    named({
      name: bytesOf(consumer.name),
      pending: consumer.pending.size,
      idle: Math.max(0, timeMs - consumer.seenMs),
    }),
  )
}

function aboutGroup(stream: StreamValue, group: StreamGroup): Reply {
  return named({
    name: bytesOf(group.name),
    consumers: group.consumers.length,
    pending: group.pending.size,
    'last-delivered-id': idReply(group.lastId),
    'entries-read': group.entriesRead ?? null,
    lag: stream.lagOf(group) ?? null,
  })
}

function aboutStream(stream: StreamValue, args: Args): Reply {
  const isFull = args.length > 2 && isWord(args[2]!, 'full')
  const hasCount = args.length === 5 && isWord(args[3]!, 'count')
  const isKnown = args.length === 2 || (isFull && (args.length === 3 || hasCount))
  if (!isKnown)
    throw new CommandFault(
      `unknown subcommand or wrong number of arguments for '${shownName(args[0]!)}'. Try XINFO HELP.`,
    )
  const count = hasCount ? countOf(args[4]!) : FULL_COUNT
  const head = {
    length: stream.size,
    // A tree of Redis, which there is not here: as small as one can be.
    'radix-tree-keys': stream.size === 0 ? 0 : 1,
    'radix-tree-nodes': stream.size === 0 ? 1 : 2,
    'last-generated-id': idReply(stream.lastId),
    'max-deleted-entry-id': idReply(stream.maxDeletedId),
    'entries-added': stream.entriesAdded,
    'recorded-first-entry-id': idReply(stream.first?.[0] ?? 0n),
  }
  const entryOrNull = (entry: StreamEntry | undefined): Reply => (entry === undefined ? null : entryReply(entry))
  if (!isFull)
    return named({
      ...head,
      groups: stream.groups.length,
      'first-entry': entryOrNull(stream.first),
      'last-entry': entryOrNull(stream.last),
    })
  const limit = count === 0 ? Infinity : count
  return named({
    ...head,
    entries: stream.range(0n, ID_MAX, { count: limit }).map(entryReply),
    groups: stream.groups.map((group) => wholeGroup(stream, group, limit)),
  })
}

function wholeGroup(stream: StreamValue, group: StreamGroup, limit: number): Reply {
  const pending = [...group.pending].slice(0, limit)
  return named({
    name: bytesOf(group.name),
    'last-delivered-id': idReply(group.lastId),
    'entries-read': group.entriesRead ?? null,
    lag: stream.lagOf(group) ?? null,
    'pel-count': group.pending.size,
    pending: pending.map(([id, { consumer, deliveredMs, deliveries }]) => [
      idReply(id),
      bytesOf(consumer.name),
      deliveredMs,
      deliveries,
    ]),
    consumers: group.consumers.map((consumer) =>
      named({
        name: bytesOf(consumer.name),
        'seen-time': consumer.seenMs,
        'pel-count': consumer.pending.size,
        pending: [...consumer.pending]
          .slice(0, limit)
          .map(([id, { deliveredMs, deliveries }]) => [idReply(id), deliveredMs, deliveries]),
      }),
    ),
  })
}

/** What is known of streams and their groups. */
export const streamInfo: readonly CommandSpec[] = [reads('xinfo', -2, (args) => (args.length > 1 ? [1] : []), xinfo)]
