import type { Keyspace } from '../state/keyspace.ts'
import { latin1Of } from '../values/latin1.ts'
import { StreamValue } from '../values/stream-value.ts'
import { type CommandContext, type CommandSpec, firstKey, frees, grows, reads } from './command.ts'
import { noSuchKey } from './keys.ts'
import { isWord, numberOf } from './numbers.ts'
import { CommandFault, type Reply, syntaxFault } from './reply.ts'
import { endOf, entryReply, ID_MAX, idReply, nextId, parseId, startOf } from './stream-ids.ts'

type Args = readonly Uint8Array[]

/** Redis removes whole nodes if it may be inexact. They have this many entries. */
const NODE_ENTRIES = 100
const APPROXIMATE_MAX = 100 * NODE_ENTRIES

interface Trimming {
  /** How many entries are too many. */
  readonly surplusOf: (stream: StreamValue) => number
  readonly isApproximate: boolean
}

interface AddOptions {
  readonly trimming: Trimming | undefined
  readonly limit: number
  readonly makesStream: boolean
  /** Where the options end. */
  readonly end: number
}

/** Options of XADD and XTRIM. */
function addOptions(args: Args, isAdd: boolean): AddOptions {
  let trimming: Trimming | undefined
  let limit: number | undefined
  let makesStream = true
  let at = 1
  for (; at < args.length; at += 1) {
    const option = args[at]!
    const hasMore = at + 1 < args.length
    const isLength = isWord(option, 'maxlen')
    if (isAdd && isWord(option, '*')) break
    if (hasMore && (isLength || isWord(option, 'minid'))) {
      if (trimming !== undefined)
        throw new CommandFault('syntax error, MAXLEN and MINID options at the same time are not compatible')
      const isApproximate = at + 2 < args.length && isWord(args[at + 1]!, '~')
      at += isApproximate || (at + 2 < args.length && isWord(args[at + 1]!, '=')) ? 2 : 1
      trimming = trimmingOf(args[at]!, isLength, isApproximate)
    } else if (hasMore && isWord(option, 'limit')) {
      at += 1
      limit = numberOf(args[at]!)
      if (limit < 0) throw new CommandFault('The LIMIT argument must be >= 0.')
    } else if (isAdd && isWord(option, 'nomkstream')) makesStream = false
    else if (isAdd) {
      // It has to be an id.
      nextId(option, 0n, 0)
      break
    } else throw syntaxFault()
  }
  checkTrimming(trimming, limit, isAdd)
  return { trimming, limit: limit ?? APPROXIMATE_MAX, makesStream, end: at }
}

function trimmingOf(argument: Uint8Array, isLength: boolean, isApproximate: boolean): Trimming {
  if (!isLength) {
    const id = parseId(argument)
    return { surplusOf: (stream) => stream.countBelow(id), isApproximate }
  }
  const length = numberOf(argument)
  if (length < 0) throw new CommandFault('The MAXLEN argument must be >= 0.')
  return { surplusOf: (stream) => stream.size - length, isApproximate }
}

function checkTrimming(trimming: Trimming | undefined, limit: number | undefined, isAdd: boolean): void {
  if (limit !== undefined && limit !== 0 && trimming === undefined)
    throw new CommandFault('syntax error, LIMIT cannot be used without specifying a trimming strategy')
  if (!isAdd && trimming === undefined)
    throw new CommandFault('syntax error, XTRIM must be called with at least one trimming strategy')
  if (limit !== undefined && trimming?.isApproximate !== true)
    throw new CommandFault('syntax error, LIMIT cannot be used without the special ~ option')
}

/** How many entries lie in whole nodes at the start. */
function inNodes(surplus: number, size: number, limit: number): number {
  const bound = limit === 0 ? surplus : Math.min(surplus, limit)
  let removed = 0
  for (;;) {
    const node = Math.min(NODE_ENTRIES, size - removed)
    if (node === 0 || removed + node > bound) return removed
    removed += node
  }
}

/** Remove what is too much. Returns how many entries that were. */
function trim(stream: StreamValue, { surplusOf, isApproximate }: Trimming, limit: number): number {
  const surplus = Math.max(0, surplusOf(stream))
  const removed = isApproximate ? inNodes(surplus, stream.size, limit) : surplus
  stream.removeFirst(removed)
  return removed
}

function xadd(keyspace: Keyspace, args: Args, { timeMs }: CommandContext): Reply {
  const options = addOptions(args, true)
  const { end, trimming, limit, makesStream } = options
  const fields = args.slice(end + 1)
  if (fields.length < 2 || fields.length % 2 !== 0)
    throw new CommandFault("wrong number of arguments for 'xadd' command")
  const id = args[end]!
  const isGiven = !latin1Of(id).includes('*')
  if (isGiven && parseId(id) === 0n) throw new CommandFault('The ID specified in XADD must be greater than 0-0')
  const old = keyspace.stream(args[0]!)
  if (old === undefined && !makesStream) return null
  const stream = old ?? new StreamValue()
  if (stream.lastId === ID_MAX)
    throw new CommandFault('The stream has exhausted the last possible ID, unable to add more items')
  const next = nextId(id, stream.lastId, timeMs)
  if (next === undefined)
    throw new CommandFault('The ID specified in XADD is equal or smaller than the target stream top item')
  stream.append(next, fields.map(latin1Of))
  const trimmed = trimming === undefined ? 0 : trim(stream, trimming, limit)
  keyspace.changed(args[0]!, stream)
  if (trimmed > 0) keyspace.tell('xtrim', args[0]!)
  keyspace.signal(args[0]!)
  return idReply(next)
}

function xtrim(keyspace: Keyspace, args: Args): Reply {
  const { trimming, limit } = addOptions(args, false)
  const stream = keyspace.stream(args[0]!)
  if (stream === undefined) return 0
  const removed = trim(stream, trimming!, limit)
  if (removed > 0) keyspace.changed(args[0]!, stream)
  return removed
}

/** The argument of COUNT; a negative one counts as 0. */
export function countOf(argument: Uint8Array): number {
  return Math.max(0, numberOf(argument))
}

function range(keyspace: Keyspace, args: Args, isReverse: boolean): Reply {
  const [start, end] = isReverse ? [startOf(args[2]!), endOf(args[1]!)] : [startOf(args[1]!), endOf(args[2]!)]
  let count: number | undefined
  for (let at = 3; at < args.length; at += 2) {
    if (!isWord(args[at]!, 'count') || at + 1 >= args.length) throw syntaxFault()
    count = countOf(args[at + 1]!)
  }
  const stream = keyspace.stream(args[0]!)
  if (stream === undefined) return []
  if (count === 0) return null
  return stream.range(start, end, { ...(count !== undefined && { count }), isReverse }).map(entryReply)
}

function xdel(keyspace: Keyspace, args: Args): Reply {
  const stream = keyspace.stream(args[0]!)
  if (stream === undefined) return 0
  const ids = args.slice(1).map((argument) => parseId(argument))
  let deleted = 0
  for (const id of ids) if (stream.delete(id)) deleted += 1
  if (deleted > 0) keyspace.changed(args[0]!, stream)
  return deleted
}

function xsetid(keyspace: Keyspace, args: Args): Reply {
  const id = parseId(args[1]!)
  let added: number | undefined
  let maxDeleted: bigint | undefined
  for (let at = 2; at < args.length; at += 2) {
    const value = args[at + 1]
    if (value !== undefined && isWord(args[at]!, 'entriesadded')) {
      added = numberOf(value)
      if (added < 0) throw new CommandFault('entries_added must be positive')
    } else if (value !== undefined && isWord(args[at]!, 'maxdeletedid')) {
      maxDeleted = parseId(value)
      if (id < maxDeleted)
        throw new CommandFault('The ID specified in XSETID is smaller than the provided max_deleted_entry_id')
    } else throw syntaxFault()
  }
  const stream = keyspace.stream(args[0]!)
  if (stream === undefined) throw noSuchKey()
  if (stream.last !== undefined && id < stream.last[0])
    throw new CommandFault('The ID specified in XSETID is smaller than the target stream top item')
  if (stream.last !== undefined && added !== undefined && stream.size > added)
    throw new CommandFault('The entries_added specified in XSETID is smaller than the target stream length')
  stream.lastId = id
  if (added !== undefined) stream.entriesAdded = added
  if (maxDeleted !== undefined && maxDeleted !== 0n) stream.maxDeletedId = maxDeleted
  keyspace.regrouped(args[0]!, stream)
  return 'OK'
}

/** Streams, without groups and what waits for them. */
export const streams: readonly CommandSpec[] = [
  grows('xadd', -5, firstKey, xadd),
  frees('xtrim', -4, firstKey, xtrim),
  reads('xlen', 2, firstKey, (keyspace, args) => keyspace.stream(args[0]!)?.size ?? 0),
  reads('xrange', -4, firstKey, (keyspace, args) => range(keyspace, args, false)),
  reads('xrevrange', -4, firstKey, (keyspace, args) => range(keyspace, args, true)),
  frees('xdel', -3, firstKey, xdel),
  grows('xsetid', -3, firstKey, xsetid),
]
