import type { Keyspace } from '../state/keyspace.ts'
import { bytesOf, latin1Of } from '../values/latin1.ts'
import type { Consumer, Pending, StreamGroup } from '../values/stream-group.ts'
import type { StreamValue } from '../values/stream-value.ts'
import { type CommandContext, type CommandSpec, firstKey, frees, reads } from './command.ts'
import { isWord, numberOf, parseInteger } from './numbers.ts'
import { atLeast } from './ranges.ts'
import { CommandFault, type Reply, syntaxFault } from './reply.ts'
import { seenConsumer } from './stream-groups.ts'
import { endOf, entryReply, idReply, isId, parseId, startOf } from './stream-ids.ts'
import { countOf } from './streams.ts'

type Args = readonly Uint8Array[]

const CLAIMED = 100
/** How many entries are looked at for each that is wanted. */
const ATTEMPTS = 10

interface Found {
  readonly stream: StreamValue
  readonly group: StreamGroup
}

function groupAt(keyspace: Keyspace, [key, name]: Args): Found {
  const stream = keyspace.stream(key!)
  const group = stream?.group(latin1Of(name!))
  if (stream !== undefined && group !== undefined) return { stream, group }
  throw new CommandFault(`No such key '${latin1Of(key!)}' or consumer group '${latin1Of(name!)}'`, 'NOGROUP')
}

function xpending(keyspace: Keyspace, args: Args, { timeMs }: CommandContext): Reply {
  if (args.length === 2) return summary(groupAt(keyspace, args).group)
  if (args.length < 5 || args.length > 8) throw syntaxFault()
  const hasIdle = isWord(args[2]!, 'idle')
  const idleMs = hasIdle ? numberOf(args[3]!) : 0
  if (hasIdle && args.length < 7) throw syntaxFault()
  const [first, last, limit, name] = args.slice(hasIdle ? 4 : 2) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array?]
  const count = countOf(limit)
  const [start, end] = [startOf(first), endOf(last)]
  const { group } = groupAt(keyspace, args)
  const pending = name === undefined ? group.pending : group.consumer(latin1Of(name))?.pending
  const found: Reply[] = []
  if (pending === undefined) return found
  for (const [id, { consumer, deliveredMs, deliveries }] of pending.entries({ from: start })) {
    if (id > end || found.length >= count) break
    const ownIdleMs = Math.max(0, timeMs - deliveredMs)
    if (ownIdleMs >= idleMs) found.push([idReply(id), bytesOf(consumer.name), ownIdleMs, deliveries])
  }
  return found
}

function summary({ pending, consumers }: StreamGroup): Reply {
  if (pending.size === 0) return [0, null, null, null]
  const counts = consumers.filter((consumer) => consumer.pending.size > 0)
  return [
    pending.size,
    idReply(pending.first()![0]),
    idReply(pending.last()![0]),
    counts.map((consumer) => [bytesOf(consumer.name), bytesOf(String(consumer.pending.size))]),
  ]
}

interface ClaimOptions {
  readonly isForced: boolean
  readonly onlyIds: boolean
  readonly deliveredMs: number | undefined
  readonly deliveries: number | undefined
  readonly lastId: bigint
}

function claimNumber(argument: Uint8Array, option: string): number {
  const value = parseInteger(argument)
  if (value === undefined) throw new CommandFault(`Invalid ${option} option argument for XCLAIM`)
  return Number(value)
}

function claimOptions(args: Args, start: number, nowMs: number): ClaimOptions {
  let [isForced, onlyIds, lastId] = [false, false, 0n]
  let deliveredMs: number | undefined
  let deliveries: number | undefined
  for (let at = start; at < args.length; at += 1) {
    const option = args[at]!
    const value = args[at + 1]
    if (isWord(option, 'force')) isForced = true
    else if (isWord(option, 'justid')) onlyIds = true
    else if (value !== undefined && isWord(option, 'idle')) deliveredMs = nowMs - claimNumber(value, 'IDLE')
    else if (value !== undefined && isWord(option, 'time')) deliveredMs = claimNumber(value, 'TIME')
    else if (value !== undefined && isWord(option, 'retrycount')) deliveries = claimNumber(value, 'RETRYCOUNT')
    else if (value !== undefined && isWord(option, 'lastid')) lastId = parseId(value)
    else throw new CommandFault(`Unrecognized XCLAIM option '${latin1Of(option)}'`)
    if (!isWord(option, 'force') && !isWord(option, 'justid')) at += 1
  }
  return { isForced, onlyIds, deliveredMs, deliveries, lastId }
}

function idleOf(argument: Uint8Array, command: string): number {
  const value = parseInteger(argument)
  if (value === undefined) throw new CommandFault(`Invalid min-idle-time argument for ${command}`)
  return Math.max(0, Number(value))
}

function xclaim(keyspace: Keyspace, args: Args, { timeMs }: CommandContext): Reply {
  const { stream, group } = groupAt(keyspace, args)
  const idleMs = idleOf(args[3]!, 'XCLAIM')
  let end = 4
  while (end < args.length && isId(args[end]!)) end += 1
  const options = claimOptions(args, end, timeMs)
  if (options.lastId > group.lastId) group.lastId = options.lastId
  const given = options.deliveredMs
  const deliveredMs = given === undefined || given < 0 || given > timeMs ? timeMs : given
  const claimed: Reply[] = []
  const name = latin1Of(args[2]!)
  for (const argument of args.slice(4, end)) {
    const id = parseId(argument)
    const fields = stream.get(id)
    if (fields === undefined) {
      group.acknowledge(id)
      continue
    }
    const pending = group.pending.get(id)
    if (pending === undefined && !options.isForced) continue
    if (pending !== undefined && timeMs - pending.deliveredMs < idleMs) continue
    // It is made when it gets its first entry.
    const consumer = seenConsumer(keyspace, args[0]!, { group, name, nowMs: timeMs })
    const taken = pending ?? forced(group, id, consumer)
    group.give(taken, consumer)
    taken.deliveredMs = deliveredMs
    if (options.deliveries !== undefined && options.deliveries >= 0) taken.deliveries = options.deliveries
    else if (!options.onlyIds) taken.deliveries += 1
    claimed.push(options.onlyIds ? idReply(id) : entryReply([id, fields]))
  }
  keyspace.regrouped(args[0]!, stream)
  return claimed
}

/** An entry that counts as delivered although no consumer had it. */
function forced(group: StreamGroup, id: bigint, consumer: Consumer): Pending {
  const pending: Pending = { id, consumer, deliveredMs: 0, deliveries: 1 }
  group.add(pending)
  return pending
}

function autoclaimOptions(args: Args): { readonly count: number; readonly onlyIds: boolean } {
  let [count, onlyIds] = [CLAIMED, false]
  for (let at = 5; at < args.length; at += 1) {
    if (at + 1 < args.length && isWord(args[at]!, 'count')) {
      at += 1
      count = atLeast(args[at]!, 1, 'COUNT must be > 0')
      if (count > 2 ** 63 / 16) throw new CommandFault('COUNT must be > 0')
    } else if (isWord(args[at]!, 'justid')) onlyIds = true
    else throw syntaxFault()
  }
  return { count, onlyIds }
}

function xautoclaim(keyspace: Keyspace, args: Args, { timeMs }: CommandContext): Reply {
  const idleMs = idleOf(args[3]!, 'XAUTOCLAIM')
  const start = startOf(args[4]!)
  const { count, onlyIds } = autoclaimOptions(args)
  const { stream, group } = groupAt(keyspace, args)
  const [claimed, deleted]: [Reply[], Reply[]] = [[], []]
  const name = latin1Of(args[2]!)
  const cursor = group.pending.cursor({ from: start })
  for (let attempts = count * ATTEMPTS; attempts > 0 && claimed.length + deleted.length < count; attempts -= 1) {
    if (!cursor.next()) break
    const { key: id, value: pending } = cursor
    const fields = stream.get(id)
    if (fields === undefined) {
      group.acknowledge(id)
      deleted.push(idReply(id))
      continue
    }
    if (timeMs - pending.deliveredMs < idleMs) continue
    group.give(pending, seenConsumer(keyspace, args[0]!, { group, name, nowMs: timeMs }))
    pending.deliveredMs = timeMs
    if (!onlyIds) pending.deliveries += 1
    claimed.push(onlyIds ? idReply(id) : entryReply([id, fields]))
  }
  keyspace.regrouped(args[0]!, stream)
  return [idReply(cursor.next() ? cursor.key : 0n), claimed, deleted]
}

/** Entries that were delivered and not acknowledged. */
export const streamClaims: readonly CommandSpec[] = [
  reads('xpending', -3, firstKey, xpending),
  frees('xclaim', -6, firstKey, xclaim),
  frees('xautoclaim', -6, firstKey, xautoclaim),
]
