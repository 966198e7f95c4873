import type { Keyspace } from '../state/keyspace.ts'
import { RecordType } from '../state/record-format.ts'
import { SortedSetValue } from '../values/sorted-set-value.ts'
import { type CommandSpec, countedKeys, grows, reads } from './command.ts'
import { doubleOf, isWord, numberOf } from './numbers.ts'
import { atLeast } from './ranges.ts'
import { CommandFault, type Reply, syntaxFault } from './reply.ts'
import { scoredReply } from './sorted-set-ranges.ts'

type Args = readonly Uint8Array[]

/** A sorted set or a set, whose members have the score 1. */
interface Source {
  readonly size: number
  readonly members: readonly string[]
  scoreOf(member: string): number | undefined
}

interface Weighted extends Source {
  readonly weight: number
}

type Aggregate = (one: number, other: number) => number
type Operation = 'union' | 'inter' | 'diff'

const EMPTY: Source = { size: 0, members: [], scoreOf: () => undefined }

function sourceAt(keyspace: Keyspace, key: Uint8Array): Source {
  if (keyspace.typeOf(key) !== RecordType.Set) return keyspace.sortedSet(key) ?? EMPTY
  const set = keyspace.set(key)!
  return { size: set.size, members: set.members, scoreOf: (member) => (set.has(member) ? 1 : undefined) }
}

/** Infinities of both signs make no sum: 0 takes its place. */
function orZero(score: number): number {
  return Number.isNaN(score) ? 0 : score
}

const AGGREGATES: Readonly<Record<string, Aggregate>> = {
  sum: (one, other) => orZero(one + other),
  // Of zeros with different signs, the first one.
  min: (one, other) => (one === other ? one : Math.min(one, other)),
  max: (one, other) => (one === other ? one : Math.max(one, other)),
}

interface Combination {
  readonly sources: readonly Weighted[]
  readonly aggregate: Aggregate
  readonly hasScores: boolean
  readonly limit: number
}

interface CombinationForm {
  readonly name: string
  readonly operation: Operation
  readonly isStore: boolean
  readonly isCount: boolean
}

/** From the number of keys on, which stands at `at`. */
function combinationOf(keyspace: Keyspace, args: Args, at: number, form: CombinationForm): Combination {
  const numkeys = numberOf(args[at]!)
  if (numkeys < 1) throw new CommandFault(`at least 1 input key is needed for '${form.name}' command`)
  const end = at + 1 + numkeys
  if (end > args.length) throw syntaxFault()
  const sources = args.slice(at + 1, end).map((key) => sourceAt(keyspace, key))
  let weights = sources.map(() => 1)
  let aggregate = AGGREGATES['sum']!
  let [hasScores, limit] = [false, 0]
  const takesWeights = form.operation !== 'diff' && !form.isCount
  for (let position = end; position < args.length; position += 1) {
    const option = args[position]!
    const left = args.length - position - 1
    if (takesWeights && isWord(option, 'weights') && left >= numkeys) {
      weights = sources.map((_, number) => doubleOf(args[position + 1 + number]!, 'weight value is not a float'))
      position += numkeys
    } else if (takesWeights && isWord(option, 'aggregate') && left >= 1) {
      position += 1
      const name = Object.keys(AGGREGATES).find((known) => isWord(args[position]!, known))
      if (name === undefined) throw syntaxFault()
      aggregate = AGGREGATES[name]!
    } else if (!form.isStore && !form.isCount && isWord(option, 'withscores')) hasScores = true
    else if (form.isCount && isWord(option, 'limit') && left >= 1) {
      position += 1
      limit = atLeast(args[position]!, 0, "LIMIT can't be negative")
    } else throw syntaxFault()
  }
  const weighted = sources.map((source, number) => ({
    size: source.size,
    members: source.members,
    scoreOf: (member: string) => source.scoreOf(member),
    weight: weights[number]!,
  }))
  return { sources: weighted, aggregate, hasScores, limit }
}

function weighted(source: Weighted, score: number): number {
  return orZero(source.weight * score)
}

/** Smaller ones first: the order in which Redis adds scores. */
function bySize(sources: readonly Weighted[]): Weighted[] {
  return [...sources].sort((one, other) => one.size - other.size)
}

function* intersected({ sources, aggregate }: Combination): Generator<[string, number]> {
  const [first, ...others] = bySize(sources)
  for (const member of first!.members) {
    let score: number | undefined = weighted(first!, first!.scoreOf(member)!)
    for (const source of others) {
      const other = source.scoreOf(member)
      score = other === undefined ? undefined : aggregate(score, weighted(source, other))
      if (score === undefined) break
    }
    if (score !== undefined) yield [member, score]
  }
}

function united({ sources, aggregate }: Combination): Map<string, number> {
  const scores = new Map<string, number>()
  for (const source of bySize(sources))
    for (const member of source.members) {
      const score = weighted(source, source.scoreOf(member)!)
      const old = scores.get(member)
      scores.set(member, old === undefined ? score : aggregate(old, score))
    }
  return scores
}

function* without({ sources: [first, ...others] }: Combination): Generator<[string, number]> {
  for (const member of first!.members)
    if (!others.some((source) => source.scoreOf(member) !== undefined)) yield [member, first!.scoreOf(member)!]
}

const OPERATIONS: Readonly<Record<Operation, (combination: Combination) => Iterable<[string, number]>>> = {
  inter: intersected,
  union: united,
  diff: without,
}

function sortedSetOf(scores: Iterable<readonly [string, number]>): SortedSetValue {
  const result = new SortedSetValue()
  for (const [member, score] of scores) result.set(member, score)
  return result
}

function combines(operation: Operation): CommandSpec[] {
  const name = `z${operation}`
  const form: CombinationForm = { name, operation, isStore: false, isCount: false }
  const storing: CombinationForm = { ...form, name: `${name}store`, isStore: true }
  return [
    reads(name, -3, countedKeys(0), (keyspace, args) => {
      const combination = combinationOf(keyspace, args, 0, form)
      const scores = new Map(OPERATIONS[operation](combination))
      const result = sortedSetOf(scores)
      // A set has no zero with a sign, and what was computed may be one.
      const inOrder = result.range(0, result.size, false).map(({ member }) => ({ member, score: scores.get(member)! }))
      return scoredReply(inOrder, combination.hasScores)
    }),
    grows(`${name}store`, -4, countedKeys(1, [0]), (keyspace, args) => {
      const result = sortedSetOf(OPERATIONS[operation](combinationOf(keyspace, args, 1, storing)))
      keyspace.replace(args[0]!, result)
      return result.size
    }),
  ]
}

const COUNTING: CombinationForm = { name: 'zintercard', operation: 'inter', isStore: false, isCount: true }

function zintercard(keyspace: Keyspace, args: Args): Reply {
  const combination = combinationOf(keyspace, args, 0, COUNTING)
  let count = 0
  for (const _ of intersected(combination)) {
    count += 1
    if (count === combination.limit) break
  }
  return count
}

/** What makes sorted sets of others. */
export const sortedSetAlgebra: readonly CommandSpec[] = [
  ...combines('union'),
  ...combines('inter'),
  ...combines('diff'),
  reads('zintercard', -3, countedKeys(0), zintercard),
]
