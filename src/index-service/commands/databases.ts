import { Databases } from '../state/databases.ts'
import type { Keyspace } from '../state/keyspace.ts'
import { latin1Of } from '../values/latin1.ts'
import { type CommandContext, type CommandSpec, firstKey, firstTwoKeys, frees, grows, noKeys } from './command.ts'
import { isWord, numberOf, parseInteger } from './numbers.ts'
import { CommandFault, type Reply, syntaxFault } from './reply.ts'

type Args = readonly Uint8Array[]

const INT32_MAX = 2 ** 31 - 1

/** @throws CommandFault */
function databaseOf(argument: Uint8Array): number {
  const db = numberOf(argument)
  if (db > INT32_MAX || db < -INT32_MAX - 1)
    throw new CommandFault('value is out of range, value must between -2147483648 and 2147483647')
  if (!Databases.has(db)) throw new CommandFault('DB index is out of range')
  return db
}

function sameObjects(): CommandFault {
  return new CommandFault('source and destination objects are the same')
}

function copy(keyspace: Keyspace, args: Args, context: CommandContext): Reply {
  const [from, to] = args as [Uint8Array, Uint8Array]
  let isReplacing = false
  let { db } = context
  for (let at = 2; at < args.length; at += 1) {
    if (isWord(args[at]!, 'replace')) isReplacing = true
    else if (isWord(args[at]!, 'db') && at + 1 < args.length) {
      at += 1
      db = databaseOf(args[at]!)
    } else throw syntaxFault()
  }
  if (db === context.db && latin1Of(from) === latin1Of(to)) throw sameObjects()
  const target = context.databases().at(db)
  if (!keyspace.has(from) || (!isReplacing && target.has(to))) return 0
  target.copyFrom(keyspace, from, to)
  target.tell('copy_to', to)
  return 1
}

function move(keyspace: Keyspace, args: Args, context: CommandContext): Reply {
  const key = args[0]!
  const db = databaseOf(args[1]!)
  if (db === context.db) throw sameObjects()
  const target = context.databases().at(db)
  if (!keyspace.has(key) || target.has(key)) return 0
  target.copyFrom(keyspace, key, key)
  keyspace.discard(key)
  keyspace.tell('move_from', key)
  target.tell('move_to', key)
  return 1
}

/** @throws CommandFault */
function swappedOf(argument: Uint8Array, which: string): number {
  const db = parseInteger(argument)
  if (typeof db !== 'number' || Math.abs(db) > INT32_MAX) throw new CommandFault(`invalid ${which} DB index`)
  return db
}

function swapdb(_keyspace: Keyspace, args: Args, { databases }: CommandContext): Reply {
  const [one, other] = [swappedOf(args[0]!, 'first'), swappedOf(args[1]!, 'second')]
  if (!Databases.has(one) || !Databases.has(other)) throw new CommandFault('DB index is out of range')
  databases().swap(one, other)
  return 'OK'
}

/** What is about several databases. */
export const databases: readonly CommandSpec[] = [
  grows('copy', -3, firstTwoKeys, copy),
  frees('move', 3, firstKey, move),
  frees('swapdb', 3, noKeys, swapdb),
]
