import type { Keyspace } from '../state/keyspace.ts'
import { bytesOf, latin1Of } from '../values/latin1.ts'
import { ListValue } from '../values/list-value.ts'
import { type CommandSpec, firstKey, frees, grows, reads } from './command.ts'
import { noSuchKey } from './keys.ts'
import { isWord, numberOf } from './numbers.ts'
import { atLeast, positiveOf } from './ranges.ts'
import { CommandFault, type Reply, syntaxFault } from './reply.ts'
import { rangeOf } from './strings.ts'

type Args = readonly Uint8Array[]

function pushes(name: string, isFirst: boolean, needsList: boolean): CommandSpec {
  return grows(name, -3, firstKey, (keyspace, args) => {
    const key = args[0]!
    const old = keyspace.list(key)
    if (old === undefined && needsList) return 0
    const list = old ?? new ListValue()
    for (let at = 1; at < args.length; at += 1) {
      const element = latin1Of(args[at]!)
      if (isFirst) list.pushFirst(element)
      else list.pushLast(element)
    }
    keyspace.changed(key, list)
    return list.size
  })
}

/** Take up to `count` elements from an end. */
export function popped(list: ListValue, isFirst: boolean, count: number): Uint8Array[] {
  const elements: Uint8Array[] = []
  while (elements.length < count && list.size > 0) elements.push(bytesOf(isFirst ? list.popFirst() : list.popLast()))
  return elements
}

function pops(name: string, isFirst: boolean): CommandSpec {
  return frees(name, -2, firstKey, (keyspace, args) => {
    const key = args[0]!
    if (args.length > 2) throw new CommandFault(`wrong number of arguments for '${name}' command`)
    const count = args.length === 2 ? positiveOf(args[1]!) : undefined
    const list = keyspace.list(key)
    if (list === undefined) return null
    if (count === 0) return []
    const elements = popped(list, isFirst, count ?? 1)
    keyspace.changed(key, list)
    return count === undefined ? elements[0]! : elements
  })
}

function lindex(keyspace: Keyspace, args: Args): Reply {
  const list = keyspace.list(args[0]!)
  if (list === undefined) return null
  const index = numberOf(args[1]!)
  const at = index < 0 ? index + list.size : index
  return at < 0 || at >= list.size ? null : bytesOf(list.at(at))
}

function lset(keyspace: Keyspace, args: Args): Reply {
  const list = keyspace.list(args[0]!)
  if (list === undefined) throw noSuchKey()
  const index = numberOf(args[1]!)
  const at = index < 0 ? index + list.size : index
  if (at < 0 || at >= list.size) throw new CommandFault('index out of range')
  list.set(at, latin1Of(args[2]!))
  keyspace.changed(args[0]!, list)
  return 'OK'
}

function lrange(keyspace: Keyspace, args: Args): Reply {
  const [start, end] = [numberOf(args[1]!), numberOf(args[2]!)]
  const list = keyspace.list(args[0]!)
  if (list === undefined) return []
  const { from, to } = rangeOf(start, end, list.size)
  const elements: Uint8Array[] = []
  for (let index = from; index < to; index += 1) elements.push(bytesOf(list.at(index)))
  return elements
}

function ltrim(keyspace: Keyspace, args: Args): Reply {
  const [start, end] = [numberOf(args[1]!), numberOf(args[2]!)]
  const list = keyspace.list(args[0]!)
  if (list === undefined) return 'OK'
  const { from, to } = rangeOf(start, end, list.size)
  list.trim(from, to)
  keyspace.changed(args[0]!, list)
  return 'OK'
}

function lrem(keyspace: Keyspace, args: Args): Reply {
  const count = numberOf(args[1]!)
  const list = keyspace.list(args[0]!)
  if (list === undefined) return 0
  const removed = list.remove(latin1Of(args[2]!), count === 0 ? Infinity : Math.abs(count), count < 0)
  if (removed > 0) keyspace.changed(args[0]!, list)
  return removed
}

function linsert(keyspace: Keyspace, args: Args): Reply {
  const isAfter = isWord(args[1]!, 'after')
  if (!isAfter && !isWord(args[1]!, 'before')) throw syntaxFault()
  const list = keyspace.list(args[0]!)
  if (list === undefined) return 0
  const pivot = latin1Of(args[2]!)
  for (let index = 0; index < list.size; index += 1) {
    if (list.at(index) !== pivot) continue
    list.insert(isAfter ? index + 1 : index, latin1Of(args[3]!))
    keyspace.changed(args[0]!, list)
    return list.size
  }
  return -1
}

interface PositionOptions {
  readonly rank: number
  readonly count: number | undefined
  readonly compared: number
}

function positionOptions(args: Args): PositionOptions {
  let [rank, compared] = [1, 0]
  let count: number | undefined
  for (let at = 2; at < args.length; at += 2) {
    const [option, value] = [args[at]!, args[at + 1]]
    if (value === undefined) throw syntaxFault()
    if (isWord(option, 'rank')) {
      rank = numberOf(value)
      if (rank === 0)
        throw new CommandFault(
          "RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from the end of the list",
        )
    } else if (isWord(option, 'count')) count = atLeast(value, 0, "COUNT can't be negative")
    else if (isWord(option, 'maxlen')) compared = atLeast(value, 0, "MAXLEN can't be negative")
    else throw syntaxFault()
  }
  return { rank, count, compared }
}

function lpos(keyspace: Keyspace, args: Args): Reply {
  const { rank, count, compared } = positionOptions(args)
  const list = keyspace.list(args[0]!)
  const element = latin1Of(args[1]!)
  const found: number[] = []
  const size = list?.size ?? 0
  const wanted = count === undefined ? 1 : count === 0 ? Infinity : count
  let skipped = 1
  for (let step = 0; step < size && (compared === 0 || step < compared) && found.length < wanted; step += 1) {
    const index = rank > 0 ? step : size - 1 - step
    if (list!.at(index) !== element) continue
    if (skipped < Math.abs(rank)) skipped += 1
    else found.push(index)
  }
  return count === undefined ? (found[0] ?? null) : found
}

/** Lists, except what waits for them. */
export const lists: readonly CommandSpec[] = [
  pushes('lpush', true, false),
  pushes('rpush', false, false),
  pushes('lpushx', true, true),
  pushes('rpushx', false, true),
  pops('lpop', true),
  pops('rpop', false),
  reads('llen', 2, firstKey, (keyspace, args) => keyspace.list(args[0]!)?.size ?? 0),
  reads('lindex', 3, firstKey, lindex),
  grows('lset', 4, firstKey, lset),
  reads('lrange', 4, firstKey, lrange),
  frees('ltrim', 4, firstKey, ltrim),
  frees('lrem', 4, firstKey, lrem),
  grows('linsert', 5, firstKey, linsert),
  reads('lpos', -3, firstKey, lpos),
]
