import type { Keyspace } from '../state/keyspace.ts'
import { RecordType } from '../state/record-format.ts'
import { bytesOf, latin1Of } from '../values/latin1.ts'
import type { Consumer, StreamGroup } from '../values/stream-group.ts'
import type { StreamValue } from '../values/stream-value.ts'
import { Blocked, type CommandContext, type CommandSpec, frees, reads } from './command.ts'
import { isTaken } from './list-moves.ts'
import { isWord, parseInteger } from './numbers.ts'
import { CommandFault, type Reply, syntaxFault } from './reply.ts'
import { seenConsumer } from './stream-groups.ts'
import { entryReply, ID_MAX, idReply, parseId } from './stream-ids.ts'
import { countOf } from './streams.ts'

type Args = readonly Uint8Array[]

const ONLY_GROUPS = 'option is only supported by XREADGROUP. You called XREAD instead.'

interface ReadQuery {
  /** undefined: it does not wait. */
  readonly blockMs: number | undefined
  /** Infinity: all. */
  readonly count: number
  readonly group: string | undefined
  readonly consumer: string
  readonly acknowledges: boolean
  readonly keys: Args
  readonly ids: Args
  /** Where the ids begin. */
  readonly idsAt: number
}

function blockOf(argument: Uint8Array): number {
  const ms = parseInteger(argument)
  if (ms === undefined) throw new CommandFault('timeout is not an integer or out of range')
  if (ms < 0) throw new CommandFault('timeout is negative')
  return Number(ms)
}

function readQuery(args: Args, name: string): ReadQuery {
  const isGroup = name === 'xreadgroup'
  let blockMs: number | undefined
  let [count, acknowledges, consumer, streamsAt] = [0, false, '', 0]
  let group: string | undefined
  for (let at = 0; at < args.length && streamsAt === 0; at += 1) {
    const option = args[at]!
    const left = args.length - 1 - at
    if (left > 0 && isWord(option, 'block')) {
      at += 1
      blockMs = blockOf(args[at]!)
    } else if (left > 0 && isWord(option, 'count')) {
      at += 1
      count = countOf(args[at]!)
    } else if (left > 0 && isWord(option, 'streams')) streamsAt = at + 1
    else if (left > 1 && isWord(option, 'group')) {
      if (!isGroup) throw new CommandFault(`The GROUP ${ONLY_GROUPS}`)
      group = latin1Of(args[at + 1]!)
      consumer = latin1Of(args[at + 2]!)
      at += 2
    } else if (isWord(option, 'noack')) {
      if (!isGroup) throw new CommandFault(`The NOACK ${ONLY_GROUPS}`)
      acknowledges = true
    } else throw syntaxFault()
  }
  if (streamsAt === 0) throw syntaxFault()
  const given = args.slice(streamsAt)
  if (given.length % 2 !== 0)
    throw new CommandFault("Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified.")
  if (isGroup && group === undefined) throw new CommandFault('Missing GROUP option for XREADGROUP')
  const half = given.length / 2
  return {
    blockMs,
    count: count === 0 ? Infinity : count,
    group,
    consumer,
    acknowledges,
    keys: given.slice(0, half),
    ids: given.slice(half),
    idsAt: streamsAt + half,
  }
}

/** Ids of XREAD: `$` is the last one that there is. */
function plainIds(keyspace: Keyspace, { keys, ids }: ReadQuery): bigint[] {
  return ids.map((argument, number) => {
    const stream = keyspace.stream(keys[number]!)
    if (isWord(argument, '$')) return stream?.lastId ?? 0n
    if (isWord(argument, '>'))
      throw new CommandFault(
        'The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option.',
      )
    return parseId(argument)
  })
}

/** The id up to which there is something to read. As in Redis, one who waits is served by what has come and gone. */
function newest(stream: StreamValue, { readyKey }: CommandContext): bigint {
  return readyKey === undefined ? (stream.last?.[0] ?? 0n) : stream.lastId
}

function xread(keyspace: Keyspace, args: Args, context: CommandContext): Reply | Blocked {
  const query = readQuery(args, 'xread')
  const ids = plainIds(keyspace, query)
  const found: Reply[] = []
  for (const [number, key] of query.keys.entries()) {
    const stream = isTaken(key, context) ? keyspace.stream(key) : undefined
    const after = ids[number]!
    if (stream === undefined || newest(stream, context) <= after) continue
    found.push(key, stream.range(after + 1n, ID_MAX, { count: query.count }).map(entryReply))
  }
  if (found.length > 0) return { byKey: found }
  if (query.blockMs === undefined || !context.mayBlock) return null
  // What `$` stands for is fixed now.
  return new Blocked([...args.slice(0, query.idsAt), ...ids.map(idReply)])
}

interface GroupRead {
  readonly key: Uint8Array
  readonly stream: StreamValue
  readonly group: StreamGroup
  /** undefined: entries that were not delivered to any consumer. */
  readonly after: bigint | undefined
}

function groupReads(keyspace: Keyspace, { keys, ids, group: name }: ReadQuery, context: CommandContext): GroupRead[] {
  return keys.map((key, number) => {
    const isGone = context.readyKey !== undefined && keyspace.typeOf(key) !== RecordType.Stream
    if (isGone) throw new CommandFault('the stream key no longer exists', 'UNBLOCKED')
    const stream = keyspace.stream(key)
    const group = stream?.group(name!)
    if (stream === undefined || group === undefined)
      throw new CommandFault(
        `No such key '${latin1Of(key)}' or consumer group '${name}' in XREADGROUP with GROUP option`,
        'NOGROUP',
      )
    const argument = ids[number]!
    if (isWord(argument, '$'))
      throw new CommandFault(
        'The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying a proper ID, or use the > ID to get new messages. The $ ID would just return an empty result set.',
      )
    return { key, stream, group, after: isWord(argument, '>') ? undefined : parseId(argument) }
  })
}

function xreadgroup(keyspace: Keyspace, args: Args, context: CommandContext): Reply | Blocked {
  const query = readQuery(args, 'xreadgroup')
  const found: Reply[] = []
  for (const read of groupReads(keyspace, query, context)) {
    const { key, stream, group, after } = read
    if (after === undefined && newest(stream, context) <= group.lastId) continue
    const consumer = seenConsumer(keyspace, key, { group, name: query.consumer, nowMs: context.timeMs })
    const reply = after === undefined ? delivered(read, consumer, query) : history(read, consumer, query)
    found.push(key, reply)
    keyspace.regrouped(key, stream)
  }
  if (found.length > 0) return { byKey: found }
  return query.blockMs === undefined || !context.mayBlock ? null : new Blocked(args)
}

/** Deliver entries that no consumer of the group had. */
function delivered({ stream, group }: GroupRead, consumer: Consumer, query: ReadQuery): Reply {
  const entries = stream.range(group.lastId + 1n, ID_MAX, { count: query.count })
  for (const [id] of entries) {
    if (group.entriesRead !== undefined && !stream.hasGapsFrom(id)) group.entriesRead += 1
    else if (stream.entriesAdded > 0) group.entriesRead = stream.addedUpTo(id)
    group.lastId = id
    if (!query.acknowledges) group.deliver(id, consumer, consumer.seenMs)
  }
  return entries.map(entryReply)
}

/** Entries that the consumer has already and did not acknowledge. */
function history({ stream, after }: GroupRead, consumer: Consumer, query: ReadQuery): Reply {
  const found: Reply[] = []
  if (after === ID_MAX) return found
  for (const [id, pending] of consumer.pending.entries({ from: after! + 1n })) {
    if (found.length >= query.count) break
    const fields = stream.get(id)
    found.push([idReply(id), fields === undefined ? null : fields.map(bytesOf)])
    if (fields === undefined) continue
    pending.deliveredMs = consumer.seenMs
    pending.deliveries += 1
  }
  return found
}

/** Behind STREAMS, which may also be the name of a group. */
function readKeys(args: Args): readonly number[] {
  let at = 0
  while (at < args.length && !isWord(args[at]!, 'streams')) {
    const hasOne = isWord(args[at]!, 'count') || isWord(args[at]!, 'block')
    at += isWord(args[at]!, 'group') ? 3 : hasOne ? 2 : 1
  }
  const half = Math.max(0, Math.floor((args.length - at - 1) / 2))
  return Array.from({ length: half }, (_, number) => at + 1 + number)
}

/** 0 if it waits without end; undefined if it does not wait. */
function blockMsOf(name: string): (args: Args) => number {
  return (args) => readQuery(args, name).blockMs ?? 0
}

/** What reads from several streams, or waits for them. */
export const streamReads: readonly CommandSpec[] = [
  {
    ...reads('xread', -4, readKeys, xread),
    blocking: { type: RecordType.Stream, timeoutMs: blockMsOf('xread') },
  },
  {
    ...frees('xreadgroup', -7, readKeys, xreadgroup),
    blocking: { type: RecordType.Stream, timeoutMs: blockMsOf('xreadgroup'), needsKey: true },
  },
]
