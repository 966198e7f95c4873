import { expiryAt, MILLISECONDS, SECONDS, UNIX_SECONDS, unitNamed } from '../commands/expiry-options.ts'
import { integerOf, isWord } from '../commands/numbers.ts'
import { isFault, type Reply } from '../commands/reply.ts'
import { bytesOf, latin1Of } from '../values/latin1.ts'
import type { Call } from './shard-command.ts'

type Args = readonly Uint8Array[]
type Effect = Omit<Call, 'db'>
/** What has the same effect as the call had; undefined: there was none. */
type Rewrite = (args: Args, reply: Reply, timeMs: number) => Effect | readonly Effect[] | undefined

/**
 * Calls that do at any time, by any choice of chance, what a call with this answer did at `timeMs`. As in Redis, where
 * replicas are told of effects.
 */
export function effectsOf({ name, args, db }: Call, reply: Reply, timeMs: number): readonly Call[] {
  if (isFault(reply)) return []
  const lower = name.toLowerCase()
  const rewrite = rewrites[lower]
  const effects = rewrite === undefined ? { name: lower, args } : rewrite(args, reply, timeMs)
  if (effects === undefined) return []
  return [effects].flat().map((effect) => (db === undefined ? effect : { ...effect, db }))
}

const rewrites: Readonly<Record<string, Rewrite>> = {
  spop: (args, reply) => {
    const members = reply instanceof Uint8Array ? [reply] : membersOf(reply)
    return members.length === 0 ? undefined : { name: 'srem', args: [args[0]!, ...members] }
  },
  xadd: (args, reply) => {
    if (reply === null) return undefined
    const at = idPosition(args)
    return { name: 'xadd', args: [...args.slice(0, at), reply as Uint8Array, ...args.slice(at + 1)] }
  },
  expire: (args, _reply, timeMs) => expiring(args, SECONDS, timeMs),
  pexpire: (args, _reply, timeMs) => expiring(args, MILLISECONDS, timeMs),
  expireat: (args, _reply, timeMs) => expiring(args, UNIX_SECONDS, timeMs),
  setex: (args, _reply, timeMs) => setting(args, SECONDS, timeMs),
  psetex: (args, _reply, timeMs) => setting(args, MILLISECONDS, timeMs),
  set: (args, _reply, timeMs) => ({ name: 'set', args: withMoment(args, 2, timeMs) }),
  // Without the key, its options were not read.
  getex: (args, reply, timeMs) => (reply === null ? undefined : { name: 'getex', args: withMoment(args, 1, timeMs) }),
  restore: (args, _reply, timeMs) => {
    const [key, ttl, payload, ...options] = args as [Uint8Array, Uint8Array, Uint8Array]
    const isAsIs = latin1Of(ttl) === '0' || options.some((option) => isWord(option, 'absttl'))
    if (isAsIs) return { name: 'restore', args }
    const at = momentOf(ttl, MILLISECONDS, timeMs)
    return { name: 'restore', args: [key, at, payload, bytesOf('ABSTTL'), ...options] }
  },
  xclaim: (args, reply) => [...claiming(args, reply, optionsBehindIds(args)), sparing(args)],
  xautoclaim: (args, reply) => {
    const [, entries, deleted] = reply as readonly Reply[]
    const isIds = args.slice(5).some((option) => isWord(option, 'justid'))
    const ids = [...(entries as readonly Reply[]), ...((deleted ?? []) as readonly Reply[])]
    return claiming(args, ids, isIds ? [bytesOf('JUSTID')] : [])
  },
}

function membersOf(reply: Reply): readonly Uint8Array[] {
  return reply === null ? [] : ([...(reply as Iterable<Reply>)] as Uint8Array[])
}

/** Where the id of XADD stands. */
function idPosition(args: Args): number {
  let at = 1
  for (;;) {
    const option = args[at]!
    if (isWord(option, 'nomkstream')) at += 1
    else if (isWord(option, 'maxlen') || isWord(option, 'minid')) {
      at += 1
      const mark = latin1Of(args[at]!)
      at += mark === '~' || mark === '=' ? 2 : 1
    } else if (isWord(option, 'limit')) at += 2
    else return at
  }
}

function expiring(args: Args, unit: typeof SECONDS, timeMs: number): Effect {
  return { name: 'pexpireat', args: [args[0]!, momentOf(args[1]!, unit, timeMs), ...args.slice(2)] }
}

function setting(args: Args, unit: typeof SECONDS, timeMs: number): Effect {
  return { name: 'set', args: [args[0]!, args[2]!, bytesOf('PXAT'), momentOf(args[1]!, unit, timeMs)] }
}

/** With PXAT in place of EX, PX and EXAT. */
function withMoment(args: Args, from: number, timeMs: number): Args {
  const at = args.findIndex((option, position) => position >= from && unitNamed(option) !== undefined)
  if (at < 0) return args
  const unit = unitNamed(args[at]!)!
  return [...args.slice(0, at), bytesOf('PXAT'), momentOf(args[at + 1]!, unit, timeMs), ...args.slice(at + 2)]
}

function momentOf(argument: Uint8Array, unit: typeof SECONDS, timeMs: number): Uint8Array {
  return bytesOf(String(expiryAt(integerOf(argument), unit, 'expire', timeMs)))
}

/** What was claimed, however long it was idle. */
function claiming(args: Args, entries: Reply, options: Args): Effect[] {
  const ids = (entries as readonly Reply[]).map((entry) => (entry instanceof Uint8Array ? entry : firstOf(entry)))
  if (ids.length === 0) return []
  return [{ name: 'xclaim', args: [...args.slice(0, 3), bytesOf('0'), ...ids, ...options] }]
}

/** What XCLAIM did but for claims: nothing has been idle for that long. It forgets entries that were deleted. */
function sparing(args: Args): Effect {
  const options = optionsBehindIds(args)
  const at = options.findIndex((option) => isWord(option, 'lastid'))
  const ids = args.slice(4, args.length - options.length)
  const last = at < 0 ? [] : options.slice(at, at + 2)
  return { name: 'xclaim', args: [...args.slice(0, 3), bytesOf(String(Number.MAX_SAFE_INTEGER)), ...ids, ...last] }
}

function firstOf(entry: Reply): Uint8Array {
  return (entry as readonly Reply[])[0] as Uint8Array
}

function optionsBehindIds(args: Args): Args {
  const end = args.findIndex((argument, at) => at > 3 && !/^\d+(-\d+)?$/.test(latin1Of(argument)))
  return end < 0 ? [] : args.slice(end)
}
