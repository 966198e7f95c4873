import type { Keyspace } from '../state/keyspace.ts'
import { RecordType } from '../state/record-format.ts'
import { bytesOf, latin1Of } from '../values/latin1.ts'
import { ListValue } from '../values/list-value.ts'
import { type CommandSpec, firstKey, grows, reads } from './command.ts'
import { isWord, numberOf, parseDouble } from './numbers.ts'
import { CommandFault, type Reply, syntaxFault, wrongType } from './reply.ts'
import { copyOf } from './strings.ts'

type Args = readonly Uint8Array[]

interface SortQuery {
  readonly by: string | undefined
  readonly isDescending: boolean
  readonly isText: boolean
  readonly offset: number
  readonly count: number
  /** Patterns of what is answered. Empty: the elements. */
  readonly gets: readonly string[]
  readonly target: Uint8Array | undefined
}

function sortQuery(args: Args, mayStore: boolean): SortQuery {
  let [isDescending, isText, offset, count] = [false, false, 0, -1]
  let by: string | undefined
  let target: Uint8Array | undefined
  const gets: string[] = []
  for (let at = 1; at < args.length; at += 1) {
    const option = args[at]!
    const left = args.length - at - 1
    if (isWord(option, 'asc')) isDescending = false
    else if (isWord(option, 'desc')) isDescending = true
    else if (isWord(option, 'alpha')) isText = true
    else if (left >= 2 && isWord(option, 'limit')) {
      offset = numberOf(args[at + 1]!)
      count = numberOf(args[at + 2]!)
      at += 2
    } else if (mayStore && left >= 1 && isWord(option, 'store')) target = args[++at]!
    else if (left >= 1 && isWord(option, 'by')) by = latin1Of(args[++at]!)
    else if (left >= 1 && isWord(option, 'get')) gets.push(latin1Of(args[++at]!))
    else throw syntaxFault()
  }
  return { by, isDescending, isText, offset: Math.max(0, offset), count, gets, target }
}

/** Elements, and whether they have an order of their own. */
function elementsOf(keyspace: Keyspace, key: Uint8Array, isDescending: boolean): string[] {
  switch (keyspace.typeOf(key)) {
    case 0:
      return []
    case RecordType.List: {
      const list = keyspace.list(key)!
      return Array.from({ length: list.size }, (_, index) => list.at(index))
    }
    case RecordType.Set:
      return [...keyspace.set(key)!.members]
    case RecordType.SortedSet: {
      const sortedSet = keyspace.sortedSet(key)!
      return sortedSet.range(0, sortedSet.size, isDescending).map(({ member }) => member)
    }
    default:
      throw wrongType()
  }
}

/** What a pattern such as `weight_*` or `object_*->field` leads to from an element. */
function lookUp(keyspace: Keyspace, pattern: string, element: string): Uint8Array | undefined {
  if (pattern === '#') return bytesOf(element)
  const star = pattern.indexOf('*')
  if (star === -1) return undefined
  const arrow = pattern.indexOf('->', star + 1)
  const hasField = arrow !== -1 && arrow + 2 < pattern.length
  const end = hasField ? arrow : pattern.length
  const key = bytesOf(pattern.slice(0, star) + element + pattern.slice(star + 1, end))
  const type = keyspace.typeOf(key)
  if (!hasField) return type === RecordType.String ? copyOf(keyspace.string(key)!) : undefined
  if (type !== RecordType.Hash) return undefined
  const value = keyspace.field(key, bytesOf(pattern.slice(arrow + 2)))
  return value === undefined ? undefined : copyOf(value)
}

interface Weighed {
  readonly element: string
  readonly weight: number
  readonly text: string | undefined
}

function weighed(keyspace: Keyspace, element: string, { by, isText }: SortQuery): Weighed {
  const value = by === undefined ? bytesOf(element) : lookUp(keyspace, by, element)
  if (isText) return { element, weight: 0, text: value === undefined ? undefined : latin1Of(value) }
  const weight = value === undefined ? 0 : weightOf(latin1Of(value).split('\0', 1)[0]!.trimStart())
  if (weight === undefined) throw new CommandFault("One or more scores can't be converted into double")
  return { element, weight, text: undefined }
}

/** As C's strtod reads it: spaces may come before it, a zero byte ends it, and nothing counts as 0. */
function weightOf(text: string): number | undefined {
  return text === '' ? 0 : parseDouble(bytesOf(text))
}

function compareTexts(one: string | undefined, other: string | undefined): number {
  if (one === other) return 0
  if (one === undefined) return -1
  return other === undefined || one > other ? 1 : -1
}

/** Equal ones are in the order of their bytes, so that the same elements are always sorted alike. */
function compareWeighed(one: Weighed, other: Weighed): number {
  if (one.weight !== other.weight) return one.weight < other.weight ? -1 : 1
  return compareTexts(one.text, other.text) || compareTexts(one.element, other.element)
}

/** A set has no order, so what is stored of it is sorted even where the pattern says not to: as text, as Redis does. */
function queryFor(type: number, query: SortQuery): SortQuery {
  const hasNoOrder = type === RecordType.Set && query.by !== undefined && !query.by.includes('*')
  return hasNoOrder && query.target !== undefined ? { ...query, by: undefined, isText: true } : query
}

function sorted(keyspace: Keyspace, args: Args, mayStore: boolean): Reply {
  const query = queryFor(keyspace.typeOf(args[0]!), sortQuery(args, mayStore))
  // A pattern without a star says not to sort.
  const isUnsorted = query.by !== undefined && !query.by.includes('*')
  const elements = elementsOf(keyspace, args[0]!, isUnsorted && query.isDescending)
  const sign = query.isDescending ? -1 : 1
  const ordered = isUnsorted
    ? elements
    : elements
        .map((element) => weighed(keyspace, element, query))
        .sort((one, other) => sign * compareWeighed(one, other))
        .map(({ element }) => element)
  const { offset, count, gets, target } = query
  const wanted = ordered.slice(offset, count < 0 ? undefined : offset + count)
  const replies = wanted.flatMap((element): (Uint8Array | null)[] =>
    gets.length === 0 ? [bytesOf(element)] : gets.map((pattern) => lookUp(keyspace, pattern, element) ?? null),
  )
  if (target === undefined) return replies
  const list = new ListValue()
  for (const reply of replies) list.pushLast(reply === null ? '' : latin1Of(reply))
  keyspace.replace(target, list)
  return list.size
}

function storeKeys(args: Args): readonly number[] {
  const at = args.findLastIndex((argument, index) => index > 0 && index < args.length - 1 && isWord(argument, 'store'))
  return at === -1 ? [0] : [0, at + 1]
}

/** SORT. Keys that its patterns lead to are read as well, so they have to be in the same shard. */
export const sorts: readonly CommandSpec[] = [
  grows('sort', -2, storeKeys, (keyspace, args) => sorted(keyspace, args, true)),
  reads('sort_ro', -2, firstKey, (keyspace, args) => sorted(keyspace, args, false)),
]
