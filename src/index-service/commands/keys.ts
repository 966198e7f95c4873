import { copyOf } from '../memory/copy.ts'
import type { Keyspace } from '../state/keyspace.ts'
import { HEAD_BYTES, RecordType, typeOf } from '../state/record-format.ts'
import { bytesOf, latin1Of } from '../values/latin1.ts'
import {
  allKeys,
  type CommandContext,
  type CommandSpec,
  firstKey,
  firstTwoKeys,
  frees,
  glances,
  noKeys,
  reads,
} from './command.ts'
import { type ExpiryUnit, expiryAt, MILLISECONDS, SECONDS, UNIX_MILLISECONDS, UNIX_SECONDS } from './expiry-options.ts'
import { integerOf, isWord, numberOf } from './numbers.ts'
import { matches } from './patterns.ts'
import { atLeast } from './ranges.ts'
import { CommandFault, type Reply, syntaxFault } from './reply.ts'
import { cursorOf, cursorReply, scanOptions } from './scanning.ts'

type Args = readonly Uint8Array[]

/** By type of record. */
const TYPE_NAMES = ['none', 'string', 'hash', 'list', 'set', 'zset', 'stream']

export function noSuchKey(): CommandFault {
  return new CommandFault('no such key')
}

function del(keyspace: Keyspace, args: Args): Reply {
  let count = 0
  for (const key of args) if (keyspace.remove(key)) count += 1
  return count
}

function exists(keyspace: Keyspace, args: Args): Reply {
  let count = 0
  for (const key of args) if (keyspace.has(key)) count += 1
  return count
}

function typeNamed(keyspace: Keyspace, key: Uint8Array): string {
  return TYPE_NAMES[keyspace.typeOf(key)]!
}

interface ExpireConditions {
  readonly isNew: boolean
  readonly isOld: boolean
  readonly isGreater: boolean
  readonly isLess: boolean
}

function expireConditions(args: Args): ExpireConditions {
  let [isNew, isOld, isGreater, isLess] = [false, false, false, false]
  for (const option of args.slice(2)) {
    if (isWord(option, 'nx')) isNew = true
    else if (isWord(option, 'xx')) isOld = true
    else if (isWord(option, 'gt')) isGreater = true
    else if (isWord(option, 'lt')) isLess = true
    else throw new CommandFault(`Unsupported option ${latin1Of(option)}`)
  }
  if (isNew && (isOld || isGreater || isLess))
    throw new CommandFault('NX and XX, GT or LT options at the same time are not compatible')
  if (isGreater && isLess) throw new CommandFault('GT and LT options at the same time are not compatible')
  return { isNew, isOld, isGreater, isLess }
}

function expires(name: string, unit: ExpiryUnit): CommandSpec {
  return frees(name, -3, firstKey, (keyspace, args, { timeMs }) => {
    const key = args[0]!
    const { isNew, isOld, isGreater, isLess } = expireConditions(args)
    const atMs = expiryAt(integerOf(args[1]!), unit, name, timeMs)
    const oldMs = keyspace.expiryOf(key)
    if (oldMs === undefined) return 0
    if ((isNew && oldMs !== 0) || (isOld && oldMs === 0)) return 0
    if (isGreater && (oldMs === 0 || atMs <= oldMs)) return 0
    if (isLess && oldMs !== 0 && atMs >= oldMs) return 0
    if (atMs <= timeMs) keyspace.remove(key)
    else keyspace.setExpiry(key, atMs)
    return 1
  })
}

function tells(name: string, { scale, isAbsolute }: ExpiryUnit): CommandSpec {
  return glances(name, 2, firstKey, (keyspace, args, { timeMs }) => {
    const atMs = keyspace.expiryOf(args[0]!)
    if (atMs === undefined) return -2
    if (atMs === 0) return -1
    const ms = isAbsolute ? atMs : Math.max(0, atMs - timeMs)
    const told = scale === 1 ? ms : Math.floor((ms + 500) / 1000)
    return Number.isSafeInteger(told) ? told : BigInt(told)
  })
}

function persist(keyspace: Keyspace, args: Args): Reply {
  if ((keyspace.expiryOf(args[0]!) ?? 0) === 0) return 0
  keyspace.setExpiry(args[0]!, 0)
  return 1
}

function keysLike({ listing }: Keyspace, args: Args): Reply {
  const pattern = latin1Of(args[0]!)
  return listing
    .sorted()
    .filter((name) => pattern === '*' || matches(pattern, name))
    .map(bytesOf)
}

function scan(keyspace: Keyspace, args: Args, { isRead }: CommandContext): Reply {
  const start = cursorOf(args[0]!)
  const { count, isWanted, type } = scanOptions(args, 1, start)
  const { cursor, keys } = keyspace.listing.scan(start, count, isRead)
  const wanted = keys.filter(
    (key) => isWanted(latin1Of(key)) && (type === undefined || typeNamed(keyspace, key) === type),
  )
  return [cursorReply(cursor), wanted]
}

function rename(keyspace: Keyspace, args: Args): boolean {
  const [from, to] = args as [Uint8Array, Uint8Array]
  if (!keyspace.has(from)) throw noSuchKey()
  const isOther = latin1Of(from) !== latin1Of(to)
  if (isOther) {
    keyspace.copyFrom(keyspace, from, to)
    keyspace.discard(from)
    keyspace.tell('rename_from', from)
    keyspace.tell('rename_to', to)
  }
  return isOther
}

function renamenx(keyspace: Keyspace, args: Args): Reply {
  if (!keyspace.has(args[0]!)) throw noSuchKey()
  if (keyspace.has(args[1]!)) return 0
  rename(keyspace, args)
  return 1
}

function randomKey({ listing, size }: Keyspace, _args: Args, { random, isRead }: CommandContext): Reply {
  return size === 0 ? null : (listing.any(random(), isRead) ?? null)
}

interface RangeOptions {
  readonly isReverse: boolean
  readonly keysOnly: boolean
  readonly limit: number
  /** Of keys and values: with as many or more it ends. */
  readonly bytes: number
}

function rangeOptions(args: Args): RangeOptions {
  let [isReverse, limit, bytes, keysOnly] = [false, Infinity, Infinity, false]
  for (let at = 2; at < args.length; at += 1) {
    if (isWord(args[at]!, 'rev')) isReverse = true
    else if (isWord(args[at]!, 'keys')) keysOnly = true
    else if (isWord(args[at]!, 'limit') && at + 1 < args.length) {
      at += 1
      limit = numberOf(args[at]!)
      if (limit < 0) throw new CommandFault("LIMIT can't be negative")
    } else if (isWord(args[at]!, 'bytes') && at + 1 < args.length) {
      at += 1
      bytes = atLeast(args[at]!, 1, 'BYTES must be positive')
    } else throw syntaxFault()
  }
  return { isReverse, limit, bytes, keysOnly }
}

/** Our own: keys that are encoded tuples, in their order, with the values of strings. */
function range(keyspace: Keyspace, args: Args): Reply {
  const { isReverse, limit, bytes, keysOnly } = rangeOptions(args)
  const found: Uint8Array[] = []
  let left = limit
  let leftBytes = bytes
  if (limit === 0) return found
  keyspace.range(args[0]!, args[1]!, isReverse, (key, record) => {
    if (keysOnly) found.push(key)
    else if (typeOf(record) !== RecordType.String) return true
    else {
      const value = copyOf(record, HEAD_BYTES, record.length)
      found.push(key, value)
      leftBytes -= value.length
    }
    leftBytes -= key.length
    left -= 1
    return left > 0 && leftBytes > 0
  })
  return found
}

/** Keys, whatever they hold, and when they expire. */
export const keys: readonly CommandSpec[] = [
  frees('del', -2, allKeys, del),
  frees('unlink', -2, allKeys, del),
  reads('exists', -2, allKeys, exists),
  reads('touch', -2, allKeys, exists),
  glances('type', 2, firstKey, (keyspace, args) => typeNamed(keyspace, args[0]!)),
  expires('expire', SECONDS),
  expires('pexpire', MILLISECONDS),
  expires('expireat', UNIX_SECONDS),
  expires('pexpireat', UNIX_MILLISECONDS),
  tells('ttl', SECONDS),
  tells('pttl', MILLISECONDS),
  tells('expiretime', UNIX_SECONDS),
  tells('pexpiretime', UNIX_MILLISECONDS),
  frees('persist', 2, firstKey, persist),
  glances('keys', 2, noKeys, keysLike),
  glances('scan', -2, noKeys, scan),
  glances('randomkey', 1, noKeys, randomKey),
  frees('rename', 3, firstTwoKeys, (keyspace, args) => {
    rename(keyspace, args)
    return 'OK'
  }),
  frees('renamenx', 3, firstTwoKeys, renamenx),
  reads('range', -3, noKeys, range),
]
