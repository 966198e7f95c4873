import type { Keyspace } from '../state/keyspace.ts'
import { RecordType } from '../state/record-format.ts'
import { bytesOf, latin1Of } from '../values/latin1.ts'
import { ListValue } from '../values/list-value.ts'
import { Blocked, type CommandContext, type CommandSpec, countedKeys, firstTwoKeys, frees, grows } from './command.ts'
import { popped } from './lists.ts'
import { isWord } from './numbers.ts'
import { atLeast } from './ranges.ts'
import { type Reply, syntaxFault } from './reply.ts'
import { timeoutMsOf } from './timeouts.ts'

type Args = readonly Uint8Array[]

/** True for LEFT. @throws CommandFault */
function isLeft(argument: Uint8Array): boolean {
  if (isWord(argument, 'left')) return true
  if (isWord(argument, 'right')) return false
  throw syntaxFault()
}

/** True if a command that has waited takes from this key. */
export function isTaken(key: Uint8Array, { readyKey }: CommandContext): boolean {
  return readyKey === undefined || latin1Of(readyKey) === latin1Of(key)
}

interface Move {
  readonly fromFirst: boolean
  readonly toFirst: boolean
}

function move(keyspace: Keyspace, args: Args, { fromFirst, toFirst }: Move): Reply {
  const [from, to] = args as [Uint8Array, Uint8Array]
  const source = keyspace.list(from)
  if (source === undefined) return null
  const target = keyspace.list(to) ?? new ListValue()
  const element = fromFirst ? source.popFirst() : source.popLast()
  if (toFirst) target.pushFirst(element)
  else target.pushLast(element)
  keyspace.changed(to, target, toFirst ? 'lpush' : 'rpush')
  keyspace.changed(from, source, fromFirst ? 'lpop' : 'rpop')
  return bytesOf(element)
}

function movesOf(args: Args): Move {
  return { fromFirst: isLeft(args[2]!), toFirst: isLeft(args[3]!) }
}

const TAIL_TO_HEAD: Move = { fromFirst: false, toFirst: true }

/** Nothing was there: wait for it, if that is allowed. */
export function orWait(reply: Reply, args: Args, { mayBlock }: CommandContext): Reply | Blocked {
  return reply === null && mayBlock ? new Blocked(args) : reply
}

function blmove(keyspace: Keyspace, args: Args, context: CommandContext): Reply | Blocked {
  const moves = movesOf(args)
  timeoutMsOf(args[4]!)
  return orWait(move(keyspace, args, moves), args, context)
}

function brpoplpush(keyspace: Keyspace, args: Args, context: CommandContext): Reply | Blocked {
  timeoutMsOf(args[2]!)
  return orWait(move(keyspace, args, TAIL_TO_HEAD), args, context)
}

interface ManyOptions {
  readonly keys: Args
  readonly isFirst: boolean
  readonly count: number
}

/** Behind the keys of LMPOP: which end, how many. `at` is where their number stands. */
function manyOptions(args: Args, at: number): ManyOptions {
  const numkeys = atLeast(args[at]!, 1, 'numkeys should be greater than 0')
  const end = at + 1 + numkeys
  if (end >= args.length) throw syntaxFault()
  const isFirst = isLeft(args[end]!)
  let count: number | undefined
  for (let position = end + 1; position < args.length; position += 2) {
    const value = args[position + 1]
    if (count !== undefined || !isWord(args[position]!, 'count') || value === undefined) throw syntaxFault()
    count = atLeast(value, 1, 'count should be greater than 0')
  }
  return { keys: args.slice(at + 1, end), isFirst, count: count ?? 1 }
}

function popMany(keyspace: Keyspace, { keys, isFirst, count }: ManyOptions, context: CommandContext): Reply {
  for (const key of keys) {
    if (!isTaken(key, context)) continue
    const list = keyspace.list(key)
    if (list === undefined) continue
    const elements = popped(list, isFirst, count)
    keyspace.changed(key, list, isFirst ? 'lpop' : 'rpop')
    return [key, elements]
  }
  return null
}

function popsWaiting(name: string, isFirst: boolean): CommandSpec {
  return {
    ...frees(name, -3, allButLast, (keyspace, args, context) => {
      timeoutMsOf(args.at(-1)!)
      for (const key of args.slice(0, -1)) {
        if (!isTaken(key, context)) continue
        const list = keyspace.list(key)
        if (list === undefined) continue
        const elements = popped(list, isFirst, 1)
        keyspace.changed(key, list)
        return [key, elements[0]!]
      }
      return orWait(null, args, context)
    }),
    blocking: { type: RecordType.List, timeoutMs: (args) => timeoutMsOf(args.at(-1)!) },
  }
}

export function allButLast(args: Args): readonly number[] {
  return args.slice(0, -1).map((_, index) => index)
}

/** What takes from lists into other lists, or from any of several, or waits for them. */
export const listMoves: readonly CommandSpec[] = [
  grows('rpoplpush', 3, firstTwoKeys, (keyspace, args) => move(keyspace, args, TAIL_TO_HEAD)),
  grows('lmove', 5, firstTwoKeys, (keyspace, args) => move(keyspace, args, movesOf(args))),
  frees('lmpop', -4, countedKeys(0), (keyspace, args, context) => popMany(keyspace, manyOptions(args, 0), context)),
  popsWaiting('blpop', true),
  popsWaiting('brpop', false),
  {
    ...grows('brpoplpush', 4, firstTwoKeys, brpoplpush),
    blocking: { type: RecordType.List, isForFirst: true, timeoutMs: (args) => timeoutMsOf(args[2]!) },
  },
  {
    ...grows('blmove', 6, firstTwoKeys, blmove),
    blocking: {
      type: RecordType.List,
      isForFirst: true,
      timeoutMs: (args) => {
        // Of several faults, Redis tells this one.
        movesOf(args)
        return timeoutMsOf(args[4]!)
      },
    },
  },
  {
    ...frees('blmpop', -5, countedKeys(1), (keyspace, args, context) => {
      const options = manyOptions(args, 1)
      timeoutMsOf(args[0]!)
      return orWait(popMany(keyspace, options, context), args, context)
    }),
    blocking: {
      type: RecordType.List,
      timeoutMs: (args) => {
        manyOptions(args, 1)
        return timeoutMsOf(args[0]!)
      },
    },
  },
]
