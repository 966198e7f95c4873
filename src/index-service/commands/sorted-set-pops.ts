import type { Keyspace } from '../state/keyspace.ts'
import { RecordType } from '../state/record-format.ts'
import { bytesOf } from '../values/latin1.ts'
import type { Scored, SortedSetValue } from '../values/sorted-set-value.ts'
import { type CommandContext, type CommandSpec, countedKeys, firstKey, frees } from './command.ts'
import { allButLast, isTaken, orWait } from './list-moves.ts'
import { isWord } from './numbers.ts'
import { atLeast, positiveOf } from './ranges.ts'
import { type Reply, syntaxFault } from './reply.ts'
import { scoredReply } from './sorted-set-ranges.ts'
import { timeoutMsOf } from './timeouts.ts'

type Args = readonly Uint8Array[]

/** Take up to `count` members from an end. */
function taken(keyspace: Keyspace, key: Uint8Array, isMin: boolean, count: number): Scored[] | undefined {
  const sortedSet: SortedSetValue | undefined = keyspace.sortedSet(key)
  if (sortedSet === undefined) return undefined
  const { size } = sortedSet
  const found = Math.min(count, size)
  const scored = isMin ? sortedSet.range(0, found, false) : sortedSet.range(size - found, size, true)
  for (const { member } of scored) sortedSet.delete(member)
  if (found > 0) keyspace.changed(key, sortedSet, isMin ? 'zpopmin' : 'zpopmax')
  return scored
}

function pops(name: string, isMin: boolean): CommandSpec {
  return frees(name, -2, firstKey, (keyspace, args) => {
    if (args.length > 2) throw syntaxFault()
    const count = args.length === 2 ? positiveOf(args[1]!) : undefined
    const scored = taken(keyspace, args[0]!, isMin, count ?? 1) ?? []
    if (count !== undefined) return scoredReply(scored, true)
    return scored.flatMap(({ member, score }) => [bytesOf(member), { double: score }])
  })
}

function popsWaiting(name: string, isMin: boolean): CommandSpec {
  return {
    ...frees(name, -3, allButLast, (keyspace, args, context) => {
      timeoutMsOf(args.at(-1)!)
      for (const key of args.slice(0, -1)) {
        const scored = isTaken(key, context) ? taken(keyspace, key, isMin, 1) : undefined
        if (scored !== undefined) return [key, bytesOf(scored[0]!.member), { double: scored[0]!.score }]
      }
      return orWait(null, args, context)
    }),
    blocking: { type: RecordType.SortedSet, timeoutMs: (args) => timeoutMsOf(args.at(-1)!) },
  }
}

interface ManyOptions {
  readonly keys: Args
  readonly isMin: boolean
  readonly count: number
}

/** From the number of keys on, which stands at `at`. */
function manyOptions(args: Args, at: number): ManyOptions {
  const numkeys = atLeast(args[at]!, 1, 'numkeys should be greater than 0')
  const end = at + 1 + numkeys
  const which = args[end]
  if (which === undefined || (!isWord(which, 'min') && !isWord(which, 'max'))) throw syntaxFault()
  let count: number | undefined
  for (let position = end + 1; position < args.length; position += 2) {
    const value = args[position + 1]
    if (count !== undefined || !isWord(args[position]!, 'count') || value === undefined) throw syntaxFault()
    count = atLeast(value, 1, 'count should be greater than 0')
  }
  return { keys: args.slice(at + 1, end), isMin: isWord(which, 'min'), count: count ?? 1 }
}

function popMany(keyspace: Keyspace, { keys, isMin, count }: ManyOptions, context: CommandContext): Reply {
  for (const key of keys) {
    const scored = isTaken(key, context) ? taken(keyspace, key, isMin, count) : undefined
    if (scored !== undefined) return [key, scored.map(({ member, score }) => [bytesOf(member), { double: score }])]
  }
  return null
}

/** What takes members from the ends of sorted sets, or waits for them. */
export const sortedSetPops: readonly CommandSpec[] = [
  pops('zpopmin', true),
  pops('zpopmax', false),
  frees('zmpop', -4, countedKeys(0), (keyspace, args, context) => popMany(keyspace, manyOptions(args, 0), context)),
  popsWaiting('bzpopmin', true),
  popsWaiting('bzpopmax', false),
  {
    ...frees('bzmpop', -5, countedKeys(1), (keyspace, args, context) => {
      const options = manyOptions(args, 1)
      timeoutMsOf(args[0]!)
      return orWait(popMany(keyspace, options, context), args, context)
    }),
    blocking: {
      type: RecordType.SortedSet,
      timeoutMs: (args) => {
        // Of several faults, Redis tells this one.
        manyOptions(args, 1)
        return timeoutMsOf(args[0]!)
      },
    },
  },
]
