import type { Keyspace } from '../state/keyspace.ts'
import { bytesOf, latin1Of } from '../values/latin1.ts'
import { SortedSetValue } from '../values/sorted-set-value.ts'
import { type CommandContext, type CommandSpec, firstKey, frees, grows, reads } from './command.ts'
import { doubleOf, isWord } from './numbers.ts'
import { signedOf } from './ranges.ts'
import { CommandFault, type Reply, syntaxFault } from './reply.ts'
import { below, sampled } from './sampling.ts'
import { cursorOf, cursorReply, scanOptions } from './scanning.ts'
import { scoredReply } from './sorted-set-ranges.ts'

type Args = readonly Uint8Array[]

const COUNT_MAX = 2 ** 62

interface AddOptions {
  readonly onlyNew: boolean
  readonly onlyOld: boolean
  readonly onlyGreater: boolean
  readonly onlyLess: boolean
}

interface Addition extends AddOptions {
  readonly countsChanged: boolean
  readonly isIncrement: boolean
  /** Where scores and members begin. */
  readonly start: number
}

/** Without options. */
const PLAIN: Addition = {
  ...{ onlyNew: false, onlyOld: false, onlyGreater: false, onlyLess: false },
  ...{ countsChanged: false, isIncrement: false, start: 1 },
}

function additionOf(args: Args): Addition {
  const first = args[1]![0]!
  // No option begins with a digit.
  if (first >= 0x30 && first <= 0x39 && args.length % 2 === 1) return PLAIN
  const set = new Set<string>()
  let start = 1
  for (; start < args.length; start += 1) {
    const option = ['nx', 'xx', 'gt', 'lt', 'ch', 'incr'].find((name) => isWord(args[start]!, name))
    if (option === undefined) break
    set.add(option)
  }
  const [onlyNew, onlyOld, onlyGreater, onlyLess] = ['nx', 'xx', 'gt', 'lt'].map((name) => set.has(name)) as [
    boolean,
    boolean,
    boolean,
    boolean,
  ]
  const isIncrement = set.has('incr')
  const count = args.length - start
  if (count === 0 || count % 2 !== 0) throw syntaxFault()
  if (onlyNew && onlyOld) throw new CommandFault('XX and NX options at the same time are not compatible')
  if ((onlyNew && (onlyGreater || onlyLess)) || (onlyGreater && onlyLess))
    throw new CommandFault('GT, LT, and/or NX options at the same time are not compatible')
  if (isIncrement && count > 2) throw new CommandFault('INCR option supports a single increment-element pair')
  return { onlyNew, onlyOld, onlyGreater, onlyLess, countsChanged: set.has('ch'), isIncrement, start }
}

/** True if a member with this score, or without one, may get another. */
function isAllowed(old: number | undefined, score: number, options: AddOptions): boolean {
  if (old === undefined) return !options.onlyOld
  if (options.onlyNew) return false
  return !(options.onlyGreater && score <= old) && !(options.onlyLess && score >= old)
}

function zadd(keyspace: Keyspace, args: Args): Reply {
  const addition = additionOf(args)
  const { start, isIncrement, countsChanged } = addition
  const scores: number[] = []
  for (let at = start; at < args.length; at += 2) scores.push(doubleOf(args[at]!))
  const key = args[0]!
  const old = keyspace.sortedSet(key)
  if (isIncrement) return increased(keyspace, args, scores[0]!, addition)
  if (old === undefined && addition.onlyOld) return 0
  const sortedSet = old ?? new SortedSetValue()
  let [added, updated] = [0, 0]
  for (let number = 0; number < scores.length; number += 1) {
    const score = scores[number]!
    const member = latin1Of(args[start + number * 2 + 1]!)
    const before = sortedSet.scoreOf(member)
    if (before === score || !isAllowed(before, score, addition)) continue
    sortedSet.set(member, score)
    if (before === undefined) added += 1
    else updated += 1
  }
  if (added + updated > 0) keyspace.changed(key, sortedSet)
  return countsChanged ? added + updated : added
}

/** ZADD with INCR, whose one member is the last argument. */
function increased(keyspace: Keyspace, args: Args, by: number, options: AddOptions): Reply {
  const sortedSet = keyspace.sortedSet(args[0]!) ?? new SortedSetValue()
  const member = latin1Of(args.at(-1)!)
  const old = sortedSet.scoreOf(member)
  if (old !== undefined && options.onlyNew) return null
  const score = old === undefined ? by : old + by
  if (Number.isNaN(score)) throw new CommandFault('resulting score is not a number (NaN)')
  if (!isAllowed(old, score, options)) return null
  if (old !== score) {
    sortedSet.set(member, score)
    keyspace.changed(args[0]!, sortedSet, 'zincr')
  }
  return { double: score }
}

function zrem(keyspace: Keyspace, args: Args): Reply {
  const sortedSet = keyspace.sortedSet(args[0]!)
  if (sortedSet === undefined) return 0
  let removed = 0
  for (let at = 1; at < args.length; at += 1) if (sortedSet.delete(latin1Of(args[at]!))) removed += 1
  if (removed > 0) keyspace.changed(args[0]!, sortedSet)
  return removed
}

function scoreReply(sortedSet: SortedSetValue | undefined, member: Uint8Array): Reply {
  const score = sortedSet?.scoreOf(latin1Of(member))
  return score === undefined ? null : { double: score }
}

function zmscore(keyspace: Keyspace, args: Args): Reply {
  const sortedSet = keyspace.sortedSet(args[0]!)
  return args.slice(1).map((member) => scoreReply(sortedSet, member))
}

function rank(keyspace: Keyspace, args: Args, isReverse: boolean): Reply {
  const sortedSet = keyspace.sortedSet(args[0]!)
  const member = latin1Of(args[1]!)
  if (sortedSet?.scoreOf(member) === undefined) return null
  const before = sortedSet.rankOf(member)
  return isReverse ? sortedSet.size - 1 - before : before
}

function zrandmember(keyspace: Keyspace, args: Args, context: CommandContext): Reply {
  const key = args[0]!
  if (args.length === 1) {
    const members = keyspace.sortedSet(key)?.members ?? []
    return members.length === 0 ? null : bytesOf(members[below(members.length, context)]!)
  }
  const count = signedOf(args[1]!)
  const hasScores = args.length === 3 && isWord(args[2]!, 'withscores')
  if (args.length > 3 || (args.length === 3 && !hasScores)) throw syntaxFault()
  if (hasScores && Math.abs(count) >= COUNT_MAX) throw new CommandFault('value is out of range')
  const sortedSet = keyspace.sortedSet(key)
  if (sortedSet === undefined) return []
  const { members } = sortedSet
  const chosen = sampled(members.length, count, context).map((number) => members[number]!)
  const scored = chosen.map((member) => ({ member, score: sortedSet.scoreOf(member)! }))
  return scoredReply(scored, hasScores)
}

/** A score as text: whole numbers without a point, and `inf`. */
function formatScore(score: number): Uint8Array {
  if (Number.isFinite(score)) return bytesOf(Object.is(score, -0) ? '-0' : String(score))
  return bytesOf(score > 0 ? 'inf' : '-inf')
}

function zscan(keyspace: Keyspace, args: Args): Reply {
  const start = cursorOf(args[1]!)
  const sortedSet = keyspace.sortedSet(args[0]!)
  if (sortedSet === undefined) return [cursorReply(0), []]
  const { count, isWanted } = scanOptions(args, 2, start)
  const { cursor, members } = sortedSet.scan(start, count)
  const found = members.filter(isWanted).flatMap((member) => [bytesOf(member), formatScore(sortedSet.scoreOf(member)!)])
  return [cursorReply(cursor), found]
}

/** Sorted sets, except ranges, what combines several, and what takes from them. */
export const sortedSets: readonly CommandSpec[] = [
  grows('zadd', -4, firstKey, zadd),
  grows('zincrby', 4, firstKey, (keyspace, args) => increased(keyspace, args, doubleOf(args[1]!), PLAIN)),
  frees('zrem', -3, firstKey, zrem),
  reads('zcard', 2, firstKey, (keyspace, args) => keyspace.sortedSet(args[0]!)?.size ?? 0),
  reads('zscore', 3, firstKey, (keyspace, args) => scoreReply(keyspace.sortedSet(args[0]!), args[1]!)),
  reads('zmscore', -3, firstKey, zmscore),
  reads('zrank', 3, firstKey, (keyspace, args) => rank(keyspace, args, false)),
  reads('zrevrank', 3, firstKey, (keyspace, args) => rank(keyspace, args, true)),
  reads('zrandmember', -2, firstKey, zrandmember),
  reads('zscan', -3, firstKey, zscan),
]
