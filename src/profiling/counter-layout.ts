import { ArgumentError } from '../native/index.ts'

/**
 * The names of a block's counters, in the order of its slots. A layout is static: written down once in the room that counts,
 * known to readers by a number that changes when the names do, so that a reader of another version is not misled.
 */
export interface CounterLayout<Name extends string = string> {
  /** What is counted, unique in a program: `verbs.device`. */
  readonly name: string
  readonly counters: readonly Name[]
  /** Hash of name and counters. */
  readonly id: number
}

/** One sheet of a profiling area holds this many. */
export const COUNTERS_MAX = 120

const known = new Map<number, CounterLayout>()

/**
 * Declare a layout. Do so at module level; declaring the same again gives an equal layout.
 * Put the unit last in a counter's name: `bytesRead`, `faultNs`.
 * @throws ArgumentError for duplicate or too many names.
 */
export function defineCounters<const Name extends string>(
  name: string,
  counters: readonly Name[],
): CounterLayout<Name> {
  if (counters.length > COUNTERS_MAX) {
    throw new ArgumentError('counters', `layout '${name}' has ${counters.length} counters; ${COUNTERS_MAX} is the most`)
  }
  if (new Set(counters).size !== counters.length) {
    throw new ArgumentError('counters', `layout '${name}' names a counter twice`)
  }
  const layout = { name, counters, id: hashOf([name, ...counters]) }
  known.set(layout.id, layout)
  return layout
}

/** The layout that this program declared under `id`; undefined for one of another program or version. */
export function findLayout(id: number): CounterLayout | undefined {
  return known.get(id)
}

/** FNV-1a over the names, as a positive Int32 so that it is never the 0 of empty memory. */
function hashOf(names: readonly string[]): number {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(names.join('\0'))) hash = Math.imul(hash ^ byte, 0x01000193)
  return (hash & 0x7fffffff) | 1
}
