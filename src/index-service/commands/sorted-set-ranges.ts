import type { Keyspace } from '../state/keyspace.ts'
import { bytesOf, latin1Of } from '../values/latin1.ts'
import { type Scored, SortedSetValue } from '../values/sorted-set-value.ts'
import { type CommandSpec, firstKey, firstTwoKeys, frees, grows, reads } from './command.ts'
import { isWord, numberOf, parseDouble } from './numbers.ts'
import { CommandFault, type Reply, syntaxFault } from './reply.ts'
import { rangeOf } from './strings.ts'

type Args = readonly Uint8Array[]

/** Ranks from `from` up to before `to`. */
interface Ranks {
  readonly from: number
  readonly to: number
}

type RanksOf = (sortedSet: SortedSetValue) => Ranks
type By = 'rank' | 'score' | 'lex'

interface Bound {
  readonly value: number
  readonly isExclusive: boolean
}

/** A bound of scores. It is read as C's strtod does, which takes spaces before it, and nothing for 0. */
function scoreBound(argument: Uint8Array): Bound {
  const isExclusive = argument[0] === 0x28
  const text = latin1Of(isExclusive ? argument.subarray(1) : argument).trimStart()
  if (text === '') return { value: 0, isExclusive }
  const value = parseDouble(bytesOf(text)) ?? (/^[+-]?[\d.]+(?:[eE][+-]?\d+)?$/.test(text) ? Number(text) : Number.NaN)
  if (Number.isNaN(value)) throw new CommandFault('min or max is not a float')
  return { value, isExclusive }
}

/** A bound of members: undefined is below all, null above all. */
function lexBound(argument: Uint8Array): { readonly member: string | undefined | null; readonly isExclusive: boolean } {
  const text = latin1Of(argument)
  if (text === '-') return { member: undefined, isExclusive: false }
  if (text === '+') return { member: null, isExclusive: false }
  if (text[0] !== '(' && text[0] !== '[') throw new CommandFault('min or max not valid string range item')
  return { member: text.slice(1), isExclusive: text[0] === '(' }
}

function scoreRanks(min: Uint8Array, max: Uint8Array): RanksOf {
  const [low, high] = [scoreBound(min), scoreBound(max)]
  return (sortedSet) => ({
    from: sortedSet.countBelow(low.value, low.isExclusive),
    to: sortedSet.countBelow(high.value, !high.isExclusive),
  })
}

function lexRanks(min: Uint8Array, max: Uint8Array): RanksOf {
  const [low, high] = [lexBound(min), lexBound(max)]
  const before = (sortedSet: SortedSetValue, member: string | undefined | null, isInclusive: boolean): number => {
    if (member === undefined) return 0
    return member === null ? sortedSet.size : sortedSet.countBefore(member, isInclusive)
  }
  return (sortedSet) => ({
    from: before(sortedSet, low.member, low.isExclusive),
    to: before(sortedSet, high.member, !high.isExclusive),
  })
}

function ranksBetween(min: Uint8Array, max: Uint8Array, isReverse: boolean): RanksOf {
  const [start, end] = [numberOf(min), numberOf(max)]
  return (sortedSet) => {
    const { size } = sortedSet
    const { from, to } = rangeOf(start, end, size)
    return isReverse ? { from: size - to, to: size - from } : { from, to }
  }
}

/** What a command fixes of what ZRANGE leaves to its options. */
interface RangeForm {
  readonly by?: By
  readonly isReverse?: boolean
  /** True: it has no WITHSCORES. */
  readonly isStore?: boolean
}

interface RangeQuery {
  readonly ranks: RanksOf
  readonly isReverse: boolean
  readonly hasScores: boolean
  readonly offset: number
  readonly limit: number
}

/** Arguments of ZRANGE and its like: a key, two bounds, options. */
function rangeQuery(args: Args, form: RangeForm): RangeQuery {
  let { by, isReverse } = form
  let [hasScores, offset, limit] = [false, 0, -1]
  for (let at = 3; at < args.length; at += 1) {
    const option = args[at]!
    if (form.isStore !== true && isWord(option, 'withscores')) hasScores = true
    else if (isWord(option, 'limit') && at + 2 < args.length) {
      offset = numberOf(args[at + 1]!)
      limit = numberOf(args[at + 2]!)
      at += 2
    } else if (form.isReverse === undefined && isWord(option, 'rev')) isReverse = true
    else if (by === undefined && isWord(option, 'bylex')) by = 'lex'
    else if (by === undefined && isWord(option, 'byscore')) by = 'score'
    else throw syntaxFault()
  }
  by ??= 'rank'
  isReverse ??= false
  if (limit !== -1 && by === 'rank')
    throw new CommandFault('syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX')
  if (hasScores && by === 'lex')
    throw new CommandFault('syntax error, WITHSCORES not supported in combination with BYLEX')
  const [first, second] = args.slice(1, 3) as [Uint8Array, Uint8Array]
  const ranks = by === 'rank' ? ranksBetween(first, second, isReverse) : boundedRanks(by, first, second, isReverse)
  return { ranks, isReverse, hasScores, offset: by === 'rank' ? 0 : offset, limit }
}

function boundedRanks(by: By, first: Uint8Array, second: Uint8Array, isReverse: boolean): RanksOf {
  const [min, max] = isReverse ? [second, first] : [first, second]
  return by === 'score' ? scoreRanks(min, max) : lexRanks(min, max)
}

function selected(sortedSet: SortedSetValue, { ranks, isReverse, offset, limit }: RangeQuery): Scored[] {
  const { from, to } = ranks(sortedSet)
  const count = Math.min(to - from - offset, limit < 0 ? Infinity : limit)
  if (offset < 0 || count <= 0) return []
  const start = isReverse ? to - offset - count : from + offset
  return sortedSet.range(start, start + count, isReverse)
}

/** Members, with their scores if they are wanted. */
export function scoredReply(scored: readonly Scored[], hasScores: boolean): Reply {
  if (!hasScores) return scored.map(({ member }) => bytesOf(member))
  return { pairs: scored.flatMap(({ member, score }) => [bytesOf(member), { double: score }]) }
}

function ranges(name: string, form: RangeForm): CommandSpec {
  return reads(name, -4, firstKey, (keyspace, args) => {
    const query = rangeQuery(args, form)
    const sortedSet = keyspace.sortedSet(args[0]!)
    return sortedSet === undefined ? [] : scoredReply(selected(sortedSet, query), query.hasScores)
  })
}

function zrangestore(keyspace: Keyspace, args: Args): Reply {
  const query = rangeQuery(args.slice(1), { isStore: true })
  const source = keyspace.sortedSet(args[1]!)
  const target = new SortedSetValue()
  if (source !== undefined) for (const { member, score } of selected(source, query)) target.set(member, score)
  keyspace.replace(args[0]!, target)
  return target.size
}

function counts(name: string, ranksOf: (min: Uint8Array, max: Uint8Array) => RanksOf): CommandSpec {
  return reads(name, 4, firstKey, (keyspace, args) => {
    const ranks = ranksOf(args[1]!, args[2]!)
    const sortedSet = keyspace.sortedSet(args[0]!)
    if (sortedSet === undefined) return 0
    const { from, to } = ranks(sortedSet)
    return Math.max(0, to - from)
  })
}

function removes(name: string, ranksOf: (min: Uint8Array, max: Uint8Array) => RanksOf): CommandSpec {
  return frees(name, 4, firstKey, (keyspace, args) => {
    const ranks = ranksOf(args[1]!, args[2]!)
    const sortedSet = keyspace.sortedSet(args[0]!)
    if (sortedSet === undefined) return 0
    const { from, to } = ranks(sortedSet)
    const removed = sortedSet.range(from, to, false)
    for (const { member } of removed) sortedSet.delete(member)
    if (removed.length > 0) keyspace.changed(args[0]!, sortedSet)
    return removed.length
  })
}

/** Ranges of sorted sets: by rank, by score, by member. */
export const sortedSetRanges: readonly CommandSpec[] = [
  ranges('zrange', {}),
  ranges('zrevrange', { by: 'rank', isReverse: true }),
  ranges('zrangebyscore', { by: 'score', isReverse: false }),
  ranges('zrevrangebyscore', { by: 'score', isReverse: true }),
  ranges('zrangebylex', { by: 'lex', isReverse: false }),
  ranges('zrevrangebylex', { by: 'lex', isReverse: true }),
  grows('zrangestore', -5, firstTwoKeys, zrangestore),
  counts('zcount', scoreRanks),
  counts('zlexcount', lexRanks),
  removes('zremrangebyrank', (min, max) => ranksBetween(min, max, false)),
  removes('zremrangebyscore', scoreRanks),
  removes('zremrangebylex', lexRanks),
]
