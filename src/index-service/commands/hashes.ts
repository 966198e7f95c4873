import type { Keyspace } from '../state/keyspace.ts'
import { HashValue } from '../values/hash-value.ts'
import { bytesOf, latin1Of } from '../values/latin1.ts'
import { type CommandContext, type CommandSpec, firstKey, frees, grows, reads } from './command.ts'
import { parseLongDouble } from './long-double.ts'
import { integerOf, isWord, parseInteger } from './numbers.ts'
import { signedOf } from './ranges.ts'
import { CommandFault, type Reply, syntaxFault } from './reply.ts'
import { sampled } from './sampling.ts'
import { cursorOf, cursorReply, scanOptions } from './scanning.ts'
import { addFloat, copyOf, sumOf } from './strings.ts'

type Args = readonly Uint8Array[]

const COUNT_MAX = 2 ** 62

/** The values of fields that there are. */
function storedValue(keyspace: Keyspace, key: Uint8Array, name: string): Uint8Array {
  return copyOf(keyspace.field(key, bytesOf(name))!)
}

function setPairs(name: string): (keyspace: Keyspace, args: Args) => number {
  return (keyspace, args) => {
    if (args.length % 2 === 0) throw new CommandFault(`wrong number of arguments for '${name}' command`)
    const key = args[0]!
    const hash = keyspace.hash(key) ?? new HashValue()
    let added = 0
    for (let at = 1; at < args.length; at += 2) if (keyspace.setField(key, hash, args[at]!, args[at + 1]!)) added += 1
    keyspace.changed(key, hash)
    return added
  }
}

const hset = setPairs('hset')
const setMany = setPairs('hmset')

function hmset(keyspace: Keyspace, args: Args): Reply {
  setMany(keyspace, args)
  return 'OK'
}

function hsetnx(keyspace: Keyspace, args: Args): Reply {
  const [key, field, value] = args as [Uint8Array, Uint8Array, Uint8Array]
  const hash = keyspace.hash(key) ?? new HashValue()
  if (hash.has(latin1Of(field))) return 0
  keyspace.setField(key, hash, field, value)
  keyspace.changed(key, hash)
  return 1
}

function fieldOf(keyspace: Keyspace, key: Uint8Array, field: Uint8Array): Reply {
  const value = keyspace.field(key, field)
  return value === undefined ? null : copyOf(value)
}

function hget(keyspace: Keyspace, args: Args): Reply {
  return keyspace.hash(args[0]!) === undefined ? null : fieldOf(keyspace, args[0]!, args[1]!)
}

function hmget(keyspace: Keyspace, args: Args): Reply {
  const isThere = keyspace.hash(args[0]!) !== undefined
  return args.slice(1).map((field) => (isThere ? fieldOf(keyspace, args[0]!, field) : null))
}

function hdel(keyspace: Keyspace, args: Args): Reply {
  const key = args[0]!
  const hash = keyspace.hash(key)
  if (hash === undefined) return 0
  let deleted = 0
  for (let at = 1; at < args.length; at += 1) if (keyspace.deleteField(key, hash, args[at]!)) deleted += 1
  if (deleted > 0) keyspace.changed(key, hash)
  return deleted
}

function hgetall(keyspace: Keyspace, args: Args): Reply {
  const names = keyspace.hash(args[0]!)?.members ?? []
  return new Map<Reply, Reply>(names.map((name) => [bytesOf(name), storedValue(keyspace, args[0]!, name)]))
}

function hkeys(keyspace: Keyspace, args: Args): Reply {
  return (keyspace.hash(args[0]!)?.members ?? []).map(bytesOf)
}

function hvals(keyspace: Keyspace, args: Args): Reply {
  return (keyspace.hash(args[0]!)?.members ?? []).map((name) => storedValue(keyspace, args[0]!, name))
}

function hstrlen(keyspace: Keyspace, args: Args): Reply {
  return keyspace.hash(args[0]!) === undefined ? 0 : (keyspace.field(args[0]!, args[1]!)?.length ?? 0)
}

function hincrby(keyspace: Keyspace, args: Args): Reply {
  const [key, field] = args as [Uint8Array, Uint8Array]
  const by = integerOf(args[2]!)
  const hash = keyspace.hash(key) ?? new HashValue()
  const old = hash.has(latin1Of(field)) ? parseInteger(keyspace.field(key, field)!) : 0
  if (old === undefined) throw new CommandFault('hash value is not an integer')
  const sum = sumOf(old, by)
  if (sum === undefined) throw new CommandFault('increment or decrement would overflow')
  keyspace.setField(key, hash, field, bytesOf(String(sum)))
  keyspace.changed(key, hash)
  return sum
}

function hincrbyfloat(keyspace: Keyspace, args: Args): Reply {
  const [key, field] = args as [Uint8Array, Uint8Array]
  const by = parseLongDouble(args[2]!)
  if (by === undefined) throw new CommandFault('value is not a valid float')
  if (by === 'infinite') throw new CommandFault('value is NaN or Infinity')
  const hash = keyspace.hash(key) ?? new HashValue()
  const old = hash.has(latin1Of(field)) ? keyspace.field(key, field) : undefined
  const text = addFloat(old, args[2]!, 'hash value is not a float')
  keyspace.setField(key, hash, field, text)
  keyspace.changed(key, hash)
  return text
}

function hrandfield(keyspace: Keyspace, args: Args, context: CommandContext): Reply {
  const key = args[0]!
  if (args.length === 1) {
    const names = keyspace.hash(key)?.members ?? []
    return names.length === 0 ? null : bytesOf(names[context.random() % names.length]!)
  }
  const count = signedOf(args[1]!)
  const hasValues = args.length === 3 && isWord(args[2]!, 'withvalues')
  if (args.length > 3 || (args.length === 3 && !hasValues)) throw syntaxFault()
  if (hasValues && Math.abs(count) >= COUNT_MAX) throw new CommandFault('value is out of range')
  const names = keyspace.hash(key)?.members ?? []
  const chosen = sampled(names.length, count, context).map((index) => names[index]!)
  if (!hasValues) return chosen.map(bytesOf)
  return { pairs: chosen.flatMap((name) => [bytesOf(name), storedValue(keyspace, key, name)]) }
}

function hscan(keyspace: Keyspace, args: Args): Reply {
  const start = cursorOf(args[1]!)
  const hash = keyspace.hash(args[0]!)
  if (hash === undefined) return [cursorReply(0), []]
  const { count, isWanted } = scanOptions(args, 2, start)
  const { cursor, members } = hash.scan(start, count)
  const found = members.filter(isWanted).flatMap((name) => [bytesOf(name), storedValue(keyspace, args[0]!, name)])
  return [cursorReply(cursor), found]
}

/** Hashes. */
export const hashes: readonly CommandSpec[] = [
  grows('hset', -4, firstKey, hset),
  grows('hmset', -4, firstKey, hmset),
  grows('hsetnx', 4, firstKey, hsetnx),
  reads('hget', 3, firstKey, hget),
  reads('hmget', -3, firstKey, hmget),
  frees('hdel', -3, firstKey, hdel),
  reads('hlen', 2, firstKey, (keyspace, args) => keyspace.hash(args[0]!)?.size ?? 0),
  reads('hstrlen', 3, firstKey, hstrlen),
  reads('hexists', 3, firstKey, (keyspace, args) => (keyspace.hash(args[0]!)?.has(latin1Of(args[1]!)) ? 1 : 0)),
  reads('hgetall', 2, firstKey, hgetall),
  reads('hkeys', 2, firstKey, hkeys),
  reads('hvals', 2, firstKey, hvals),
  grows('hincrby', 4, firstKey, hincrby),
  grows('hincrbyfloat', 4, firstKey, hincrbyfloat),
  reads('hrandfield', -2, firstKey, hrandfield),
  reads('hscan', -3, firstKey, hscan),
]
