import { ArgumentError, checkOptions, checkText, mustBe, type OptionNames } from '../native/index.ts'
import { hashOf } from './block-header.ts'

/**
 * The names of a block's counters, in the order of its slots. A layout is static: the room that counts declares it
 * once. An area holds the names of its layouts, so that a reader of another program or version knows them, too.
 */
export interface CounterLayout<Name extends string = string> {
  /** The name of the layout, unique in a program: `verbs.device`. */
  readonly name: string
  readonly counters: readonly Name[]
  /** Counters that go up and down. Their value is dropped, not added up, when the object has ended. */
  readonly gauges: readonly Name[]
  /**
   * What the labels of its blocks are: `method`, `queuePair`. Empty if blocks have none. Several names with commas: a
   * label has a word for each, and the last one takes the rest. In metrics they are labels of their own.
   */
  readonly labelled: string
  /**
   * If its counters are one figure, told apart by their names: what the names are (`code`, `transition`). Empty if each
   * is a figure of its own.
   */
  readonly spread: string
  /** A sentence for each counter, and one for the whole under the empty name. */
  readonly help: Readonly<Record<string, string>>
  /** Hash of the names. */
  readonly id: number
}

/** The options of {@link defineCounters}. */
export interface CounterOptions<Name extends string = string> {
  /** Counters that go up and down. */
  readonly gauges?: readonly NoInfer<Name>[]
  /** What the labels of its blocks are: `method`. With several names, `kind,structure`, a label has a word for each. */
  readonly labelled?: string
  /** Declares that the counters are one figure, told apart by their names, and what the names are: `code`. */
  readonly spread?: string
  /** What each counter counts; under the empty name, what the layout counts. */
  readonly help?: Readonly<Partial<Record<NoInfer<Name> | '', string>>>
}

const counterNames: OptionNames<CounterOptions> = { gauges: true, labelled: true, spread: true, help: true }

/** The options of {@link defineHistogram}. */
export interface HistogramOptions {
  /** What the labels of its blocks are: `method`. */
  readonly labelled?: string
  /** What is timed. */
  readonly help?: string
}

const histogramNames: OptionNames<HistogramOptions> = { labelled: true, help: true }

/** The most counters of one layout. */
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
  checkOptions('defineCounters', options, counterNames)
  return define(name, counters, options)
}

function define<Name extends string>(
  name: string,
  counters: readonly Name[],
  options: CounterOptions<Name>,
): CounterLayout<Name> {
  checkText('name', name)
  checkNames('counters', counters)
  if (counters.length > COUNTERS_MAX) {
    const rule = `counters must be at most ${COUNTERS_MAX}, not ${counters.length}`
    throw new ArgumentError('counters', `${rule}; give layout '${name}' fewer`)
  }
  if (new Set(counters).size !== counters.length) {
    throw new ArgumentError('counters', `counters of layout '${name}' has a name twice; make the names unique`)
  }
  const { gauges = [], labelled = '', spread = '', help = {} } = options
  checkNames('options.gauges', gauges)
  for (const [option, value] of Object.entries({ labelled, spread }))
    if (typeof value !== 'string') throw mustBe(`options.${option}`, 'a string', value)
  checkHelp(help)
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

/** Declare the layout of a histogram of durations in nanoseconds, at module level as for counters. */
export function defineHistogram(name: string, options: HistogramOptions = {}): CounterLayout<never> {
  checkOptions('defineHistogram', options, histogramNames)
  const { labelled = '', help } = options
  if (help !== undefined && typeof help !== 'string') throw mustBe('options.help', 'a string', help)
  return define(name, [], { labelled, help: help === undefined ? {} : { '': help } })
}

function checkNames(argument: string, names: readonly string[]): void {
  if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return
  throw mustBe(argument, 'an array of strings', names)
}

/** A counter without a sentence may stand there with undefined. */
function checkHelp(help: Readonly<Partial<Record<string, string>>>): void {
  const isObject = typeof help === 'object' && help !== null
  if (isObject && Object.values(help).every((text) => text === undefined || typeof text === 'string')) return
  throw mustBe('options.help', 'an object with a string for each counter', help)
}

function isWhole({ id, counters, gauges }: CounterLayout): boolean {
  return known.has(id) && Array.isArray(counters) && Array.isArray(gauges)
}

/** @throws ArgumentError unless it was declared in this program. */
export function checkLayout(layout: CounterLayout): void {
  if (typeof layout === 'object' && layout !== null && isWhole(layout)) return
  throw mustBe('layout', 'what defineCounters() or defineHistogram() returned', layout)
}

/** Return the layout that this program declared under `id`; undefined for one of another program or version. */
export function findLayout(id: number): CounterLayout | undefined {
  return known.get(id)
}

/** Return all layouts that this program has declared, by name. */
export function knownLayouts(): readonly CounterLayout[] {
  return [...known.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}
