import { checkInstance, checkIterable, mustBe } from '../native/index.ts'
import type { BlockReading, CounterReading, HistogramReading } from './block-reading.ts'
import { BUCKETS, bucketEnd } from './buckets.ts'
import { knownLayouts } from './counter-layout.ts'
import { HistogramSlot } from './histogram-block.ts'
import { Profile } from './profile.ts'

/** A profile with the labels that tell it from others: `{ rank: '3' }`. */
export interface MetricSource {
  readonly profile: Profile
  readonly labels?: Readonly<Record<string, string>>
}

type Labels = Readonly<Record<string, string>>

/** Upper bounds of the buckets that are written: 2^8 ns (256 ns) to 2^35 ns (34 s). */
const BOUND_FIRST = 8
const BOUND_LAST = 35
/**
 * The label of what has ended or found no place. It grows by all that a thing had counted when that ends, so it is not
 * for rates: for these there are the same figures of all things together, without a label.
 */
const OTHERS = '(others)'

interface Family {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  /** By labels as they are written. */
  readonly values: Map<string, number>
  readonly buckets: Map<string, { readonly labels: Labels; readonly slots: Float64Array }>
}

/**
 * Format profiles in the text format of Prometheus (exposition format 0.0.4). Counter `c` of layout `a.b` becomes
 * `aether_a_b_c_total`, a gauge has no `_total`, a histogram becomes `aether_a_b_seconds`. Times are in seconds. For
 * labelled objects, `aether_a_b_all_c_total` and `aether_a_b_all_seconds` sum them all, ended ones included. The
 * threads of one source are added up.
 */
export function prometheusText(sources: Iterable<MetricSource>): string {
  const families = new Map<string, Family>()
  const help = helpByName()
  for (const { profile, labels = {} } of checkedSources(sources)) {
    const merged = Profile.merge([profile])
    for (const reading of merged.counters()) {
      addCounters(families, help, reading, labels)
      if (reading.labelled !== '') addCounters(families, help, withoutGauges(together(reading)), labels)
    }
    for (const reading of merged.histograms()) {
      addHistogram(families, help, reading, labels)
      if (reading.labelled !== '') addHistogram(families, help, together(reading), labels)
    }
    const unplaced = 'Counted objects that found no place in shared memory; they are included in the others.'
    add(familyOf(families, 'aether_profile_unplaced', 'gauge', unplaced), labels, profile.unplaced)
  }
  return [...families.values()].map(familyText).join('')
}

/** @throws ArgumentError */
function checkedSources(sources: Iterable<MetricSource>): readonly MetricSource[] {
  checkIterable('sources', sources, '{ profile, labels }')
  const all = [...sources]
  for (const source of all) {
    checkInstance('sources[].profile', source?.profile, Profile, 'such as space.profile()')
    const { labels = {} } = source
    const areTexts = typeof labels === 'object' && labels !== null && Object.values(labels).every(isText)
    if (!areTexts) throw mustBe('sources[].labels', "an object with strings, such as { rank: '3' }", labels)
  }
  return all
}

const isText = (value: unknown): boolean => typeof value === 'string'

function addCounters(
  families: Map<string, Family>,
  help: ReadonlyMap<string, string>,
  reading: CounterReading,
  common: Labels,
): void {
  const { name, spread, gauges, values } = reading
  const labels = labelsOf(reading, common)
  for (const [counter, value] of Object.entries(values)) {
    if (spread !== '') {
      const told = help.get(name) ?? `Counters of ${name}.`
      add(familyOf(families, `${metric(name)}_total`, 'counter', told), { ...labels, [snake(spread)]: counter }, value)
      continue
    }
    const isTime = counter.endsWith('Ns')
    const type = gauges.includes(counter) ? 'gauge' : 'counter'
    const base = `${metric(name)}_${snake(isTime ? `${counter.slice(0, -2)}Seconds` : counter)}`
    const told = help.get(keyOfHelp(name, counter)) ?? `Counter ${counter} of ${name}.`
    const family = familyOf(families, type === 'gauge' ? base : `${base}_total`, type, told)
    add(family, labels, isTime ? value / 1e9 : value)
  }
}

function addHistogram(
  families: Map<string, Family>,
  help: ReadonlyMap<string, string>,
  reading: HistogramReading,
  common: Labels,
): void {
  const { name, slots } = reading
  const told = help.get(name) ?? `Durations of ${name}.`
  const { buckets } = familyOf(families, `${metric(name)}_seconds`, 'histogram', told)
  const labels = labelsOf(reading, common)
  const key = labelText(labels)
  const before = buckets.get(key)
  buckets.set(key, {
    labels,
    slots: before === undefined ? slots : before.slots.map((value, slot) => value + (slots[slot] ?? 0)),
  })
}

function familyOf(families: Map<string, Family>, name: string, type: Family['type'], help: string): Family {
  let family = families.get(name)
  if (family === undefined) {
    family = { name, type, help, values: new Map(), buckets: new Map() }
    families.set(name, family)
  }
  return family
}

function add({ values }: Family, labels: Labels, value: number): void {
  const key = labelText(labels)
  values.set(key, (values.get(key) ?? 0) + value)
}

function familyText({ name, type, help, values, buckets }: Family): string {
  const lines = [`# HELP ${name} ${help.replace(/\\/g, '\\\\').replace(/\n/g, '\\n')}`, `# TYPE ${name} ${type}`]
  for (const [labels, value] of values) lines.push(`${name}${labels} ${value}`)
  for (const { labels, slots } of buckets.values()) lines.push(...histogramLines(name, labels, slots))
  return `${lines.join('\n')}\n`
}

/**
 * Cumulative, as the format has it. The count is the buckets' own total, since a reader may see the count before the
 * bucket.
 */
function histogramLines(name: string, labels: Labels, slots: Float64Array): readonly string[] {
  const lines: string[] = []
  let bound = BOUND_FIRST
  let below = 0
  const write = (le: string) => lines.push(`${name}_bucket${labelText({ ...labels, le })} ${below}`)
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
    for (; bound <= BOUND_LAST && bucketEnd(bucket) >= 2 ** bound; bound += 1) write(String(2 ** bound / 1e9))
    below += slots[HistogramSlot.Buckets + bucket] ?? 0
  }
  write('+Inf')
  const sum = (slots[HistogramSlot.Sum] ?? 0) / 1e9
  return [...lines, `${name}_sum${labelText(labels)} ${sum}`, `${name}_count${labelText(labels)} ${below}`]
}

/** The reading as one of all things of its layout together: those of the same layout are added up. */
function together<Reading extends BlockReading>(reading: Reading): Reading {
  return { ...reading, name: togetherName(reading.name), labelled: '' }
}

/** Gauges of all things together are those of the things, added up: nothing of them is with the others. */
function withoutGauges(reading: CounterReading): CounterReading {
  const lasting = Object.entries(reading.values).filter(([counter]) => !reading.gauges.includes(counter))
  return { ...reading, values: Object.fromEntries(lasting) }
}

const togetherName = (layout: string): string => `${layout}.all`

function labelsOf({ label, labelled, rest }: BlockReading, common: Labels): Labels {
  if (labelled === '') return common
  const names = labelled.split(',')
  const texts = rest ? names.map(() => OTHERS) : partsOf(label, names.length)
  return { ...common, ...Object.fromEntries(names.map((name, at) => [snake(name), texts[at] ?? ''])) }
}

/** The words of a label that stands for several: the last one takes what is left. */
function partsOf(label: string, count: number): readonly string[] {
  const words = label.split(' ')
  return [...words.slice(0, count - 1), words.slice(count - 1).join(' ')]
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name.replace(/[^a-zA-Z0-9_]/g, '_')}="${escaped(value)}"`,
  )
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escaped(value: string): string {
  return value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n')
}

function metric(layout: string): string {
  return `aether_${snake(layout)}`
}

/** `dsm.pages`, `bytesSent`: `dsm_pages`, `bytes_sent`. */
function snake(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9_]/g, '_')
}

function helpByName(): ReadonlyMap<string, string> {
  const help = new Map<string, string>()
  for (const { name, help: texts } of knownLayouts())
    for (const [counter, text] of Object.entries(texts)) {
      help.set(keyOfHelp(name, counter), text)
      help.set(keyOfHelp(togetherName(name), counter), `${text} Sum over all, ended ones included.`)
    }
  return help
}

const keyOfHelp = (layout: string, counter: string): string => (counter === '' ? layout : `${layout} ${counter}`)
