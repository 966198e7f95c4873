import { ArgumentError } from '../native/index.ts'
import { hashOf } from './block-header.ts'

/**
 * The names of a block's counters, in the order of its slots. A layout is static: written down once in the room that
 * counts. An area holds the names of the layouts in it, so a reader of another program or version knows them, too.
 */
export interface CounterLayout<Name extends string = string> {
  /** What is counted, unique in a program: `verbs.device`. */
  readonly name: string
  readonly counters: readonly Name[]
  /** Those of the counters that go up and down: what they say of a thing that has ended is dropped, not added up. */
  readonly gauges: readonly Name[]
  /** What the labels of its blocks are: `method`, `queuePair`. Empty where blocks have none. */
  readonly labelled: string
  /**
   * Where its counters are one figure, told apart by their names: what the names are (`code`, `transition`). Empty
   * where each is a figure of its own.
   */
  readonly spread: string
  /** A sentence for each counter, and under the empty name one for the whole. */
  readonly help: Readonly<Record<string, string>>
  /** Hash of the names. */
  readonly id: number
}

/** What {@link defineCounters} may be told besides names. */
export interface CounterOptions<Name extends string = string> {
  /** Counters that go up and down. */
  readonly gauges?: readonly NoInfer<Name>[]
  /** What the labels of its blocks are: `method`. */
  readonly labelled?: string
  /** Its counters are one figure, told apart by their names; what the names are: `code`. */
  readonly spread?: string
  /** What each counter counts; under the empty name, what the layout is of. */
  readonly help?: Readonly<Partial<Record<NoInfer<Name> | '', string>>>
}

/** A layout has at most this many counters. */
export const COUNTERS_MAX = 512

const known = new Map<number, CounterLayout>()

/**
 * Declare a layout. Do so at module level; declaring the same again gives an equal layout.
 * Put the unit last in a counter's name: `bytesRead`, `faultNs`.
 * @throws ArgumentError for duplicate or too many names.
 */
export function defineCounters<const Name extends string>(
  name: string,
  counters: readonly Name[],
  options: CounterOptions<Name> = {},
): CounterLayout<Name> {
  if (counters.length > COUNTERS_MAX) {
    throw new ArgumentError('counters', `layout '${name}' has ${counters.length} counters; ${COUNTERS_MAX} is the most`)
  }
  if (new Set(counters).size !== counters.length) {
    throw new ArgumentError('counters', `layout '${name}' names a counter twice`)
  }
  const { gauges = [], labelled = '', spread = '', help = {} } = options
  const names = [name, labelled, spread, ...counters, '', ...gauges].join('\0')
  // Positive, so that it is never the 0 of empty memory.
  const id = (hashOf(names) & 0x7fffffff) | 1
  const layout: CounterLayout<Name> = {
    name,
    counters,
    gauges,
    labelled,
    spread,
    help: help as Readonly<Record<string, string>>,
    id,
  }
  known.set(id, layout)
  return layout
}

/** The layout of a histogram of durations in nanoseconds. Declare it at module level, as counters are. */
export function defineHistogram(
  name: string,
  options: { readonly labelled?: string; readonly help?: string } = {},
): CounterLayout<never> {
  const { labelled = '', help } = options
  return defineCounters(name, [], { labelled, help: help === undefined ? {} : { '': help } })
}

/** The layout that this program declared under `id`; undefined for one of another program or version. */
export function findLayout(id: number): CounterLayout | undefined {
  return known.get(id)
}

/** All layouts that this program has declared, by name. */
export function knownLayouts(): readonly CounterLayout[] {
  return [...known.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}
