import type { Keyspace } from '../state/keyspace.ts'
import { bytesOf, latin1Of } from '../values/latin1.ts'
import { SetValue } from '../values/set-value.ts'
import {
  allKeys,
  type CommandContext,
  type CommandSpec,
  countedKeys,
  firstKey,
  firstTwoKeys,
  frees,
  grows,
  reads,
} from './command.ts'
import { isWord } from './numbers.ts'
import { atLeast, positiveOf, signedOf } from './ranges.ts'
import { CommandFault, type Reply, syntaxFault } from './reply.ts'
import { below, sampled } from './sampling.ts'
import { cursorOf, cursorReply, scanOptions } from './scanning.ts'

type Args = readonly Uint8Array[]

const NO_MEMBERS: readonly string[] = []

function sadd(keyspace: Keyspace, args: Args): Reply {
  const key = args[0]!
  const set = keyspace.set(key) ?? new SetValue()
  let added = 0
  for (let at = 1; at < args.length; at += 1) if (set.add(latin1Of(args[at]!))) added += 1
  if (added > 0) keyspace.changed(key, set)
  return added
}

function srem(keyspace: Keyspace, args: Args): Reply {
  const key = args[0]!
  const set = keyspace.set(key)
  if (set === undefined) return 0
  let removed = 0
  for (let at = 1; at < args.length; at += 1) if (set.delete(latin1Of(args[at]!))) removed += 1
  if (removed > 0) keyspace.changed(key, set)
  return removed
}

function isMember(set: SetValue | undefined, member: Uint8Array): number {
  return set?.has(latin1Of(member)) ? 1 : 0
}

function smismember(keyspace: Keyspace, args: Args): Reply {
  const set = keyspace.set(args[0]!)
  return args.slice(1).map((member) => isMember(set, member))
}

function setReply(members: Iterable<string>): Reply {
  return new Set<Reply>(Array.from(members, bytesOf))
}

function spop(keyspace: Keyspace, args: Args, context: CommandContext): Reply {
  const key = args[0]!
  if (args.length > 2) throw syntaxFault()
  const count = args.length === 2 ? positiveOf(args[1]!) : undefined
  const set = keyspace.set(key)
  if (set === undefined) return count === undefined ? null : new Set<Reply>()
  if (count === 0) return new Set<Reply>()
  const taken: string[] = []
  for (let left = Math.min(count ?? 1, set.size); left > 0; left -= 1) {
    const member = set.members[below(set.size, context)]!
    set.delete(member)
    taken.push(member)
  }
  keyspace.changed(key, set)
  return count === undefined ? bytesOf(taken[0]!) : setReply(taken)
}

function srandmember(keyspace: Keyspace, args: Args, context: CommandContext): Reply {
  if (args.length > 2) throw syntaxFault()
  const count = args.length === 2 ? signedOf(args[1]!) : undefined
  const members = keyspace.set(args[0]!)?.members ?? NO_MEMBERS
  if (count !== undefined) return sampled(members.length, count, context).map((index) => bytesOf(members[index]!))
  return members.length === 0 ? null : bytesOf(members[below(members.length, context)]!)
}

function smove(keyspace: Keyspace, args: Args): Reply {
  const [from, to] = args as [Uint8Array, Uint8Array]
  if (!keyspace.has(from)) return 0
  const source = keyspace.set(from)!
  const target = keyspace.set(to) ?? new SetValue()
  const member = latin1Of(args[2]!)
  if (source === target) return source.has(member) ? 1 : 0
  if (!source.delete(member)) return 0
  keyspace.changed(from, source, 'srem')
  if (target.add(member)) keyspace.changed(to, target, 'sadd')
  return 1
}

/** Members of sets, as an operation on all of them makes them; a set that is not there is empty. */
type Combine = (sets: readonly (SetValue | undefined)[]) => Iterable<string>

/** At most `limit` members that are in all sets; 0: all. */
function* intersection(sets: readonly (SetValue | undefined)[], limit: number = 0): Generator<string> {
  const known = sets.filter((set) => set !== undefined)
  if (known.length < sets.length) return
  const [smallest, ...others] = known.sort((one, other) => one.size - other.size)
  let found = 0
  for (const member of smallest!.members) {
    if (!others.every((set) => set.has(member))) continue
    yield member
    found += 1
    if (found === limit) return
  }
}

function union(sets: readonly (SetValue | undefined)[]): Iterable<string> {
  return new Set(sets.flatMap((set) => set?.members ?? NO_MEMBERS))
}

function difference([first, ...others]: readonly (SetValue | undefined)[]): Iterable<string> {
  return (first?.members ?? NO_MEMBERS).filter((member) => !others.some((set) => set?.has(member)))
}

function combines(name: string, combine: Combine): CommandSpec[] {
  return [
    reads(name, -2, allKeys, (keyspace, args) => setReply(combine(args.map((key) => keyspace.set(key))))),
    grows(`${name}store`, -3, allKeys, (keyspace, args) => {
      const members = [...combine(args.slice(1).map((key) => keyspace.set(key)))]
      const target = new SetValue()
      for (const member of members) target.add(member)
      keyspace.replace(args[0]!, target)
      return target.size
    }),
  ]
}

function sintercard(keyspace: Keyspace, args: Args): Reply {
  const numkeys = atLeast(args[0]!, 1, 'numkeys should be greater than 0')
  if (numkeys > args.length - 1) throw new CommandFault("Number of keys can't be greater than number of args")
  let limit = 0
  for (let at = numkeys + 1; at < args.length; at += 2) {
    const value = args[at + 1]
    if (!isWord(args[at]!, 'limit') || value === undefined) throw syntaxFault()
    limit = atLeast(value, 0, "LIMIT can't be negative")
  }
  const sets = args.slice(1, numkeys + 1).map((key) => keyspace.set(key))
  let count = 0
  for (const _ of intersection(sets, limit)) count += 1
  return count
}

function sscan(keyspace: Keyspace, args: Args): Reply {
  const start = cursorOf(args[1]!)
  const set = keyspace.set(args[0]!)
  if (set === undefined) return [cursorReply(0), []]
  const { count, isWanted } = scanOptions(args, 2, start)
  const { cursor, members } = set.scan(start, count)
  return [cursorReply(cursor), members.filter(isWanted).map(bytesOf)]
}

/** Sets. */
export const sets: readonly CommandSpec[] = [
  grows('sadd', -3, firstKey, sadd),
  frees('srem', -3, firstKey, srem),
  reads('smembers', 2, firstKey, (keyspace, args) => setReply(keyspace.set(args[0]!)?.members ?? NO_MEMBERS)),
  reads('sismember', 3, firstKey, (keyspace, args) => isMember(keyspace.set(args[0]!), args[1]!)),
  reads('smismember', -3, firstKey, smismember),
  reads('scard', 2, firstKey, (keyspace, args) => keyspace.set(args[0]!)?.size ?? 0),
  frees('spop', -2, firstKey, spop),
  reads('srandmember', -2, firstKey, srandmember),
  frees('smove', 4, firstTwoKeys, smove),
  ...combines('sinter', intersection),
  ...combines('sunion', union),
  ...combines('sdiff', difference),
  reads('sintercard', -3, countedKeys(0), sintercard),
  reads('sscan', -3, firstKey, sscan),
]
