import { ArgumentError, messageOfThrown } from '../native/index.ts'
import type { BlockCopy } from './block-copy.ts'
import { BlockKind } from './block-header.ts'
import { BUCKETS, bucketEnd, bucketOf } from './buckets.ts'
import { checkedFinding, type Finding } from './finding.ts'
import { HISTOGRAM_SLOTS, HistogramSlot } from './histogram-block.ts'

interface BlockJson {
  readonly name: string
  readonly label: string
  readonly labelled: string
  readonly spread: string
  readonly rest: boolean
  readonly thread: number
  readonly serial: number
}

/** Counters of one block. */
export interface CountersJson extends BlockJson {
  readonly gauges: readonly string[]
  /**
   * The names of the values in order, because an object may not keep it (`404` comes first there). If missing, the
   * order is that of the values.
   */
  readonly names?: readonly string[]
  readonly values: Readonly<Record<string, number>>
}

/** One histogram. */
export interface HistogramJson extends BlockJson {
  readonly count: number
  readonly sumNs: number
  readonly maxNs: number
  /** For each non-empty bucket: its longest duration in nanoseconds, and the count. */
  readonly buckets: ReadonlyArray<readonly [ns: number, count: number]>
}

/** A profile as JSON. */
export interface ProfileJson {
  readonly version: 1
  readonly unplaced: number
  readonly counters: readonly CountersJson[]
  readonly histograms: readonly HistogramJson[]
  /** Results beyond figures. */
  readonly findings: readonly Finding[]
}

export function writeJson(blocks: readonly BlockCopy[], unplaced: number, findings: readonly Finding[]): ProfileJson {
  const of = (kind: number): readonly BlockCopy[] => blocks.filter((block) => block.kind === kind)
  return {
    version: 1,
    unplaced,
    counters: of(BlockKind.Counters).map((block) => ({
      ...blockJson(block),
      gauges: block.names.gauges,
      names: block.names.counters,
      values: Object.fromEntries(block.names.counters.map((name, slot) => [name, block.slots[slot] ?? 0])),
    })),
    histograms: of(BlockKind.Histogram).map((block) => ({ ...blockJson(block), ...histogramJson(block.slots) })),
    findings,
  }
}

/** Read a profile. @throws ArgumentError for anything that {@link writeJson} does not write. */
export function readJson(json: unknown): {
  readonly blocks: readonly BlockCopy[]
  readonly unplaced: number
  readonly findings: readonly Finding[]
} {
  const profile = json as Partial<ProfileJson> | null
  if (profile?.version !== 1 || !Array.isArray(profile.counters) || !Array.isArray(profile.histograms))
    throw new ArgumentError('json', 'json must have version 1, counters and histograms; pass what toJSON() returned')
  try {
    const counters = profile.counters.map(countersOf)
    const blocks = [...counters, ...profile.histograms.map(histogramOf)]
    return { blocks, unplaced: number(profile.unplaced), findings: (profile.findings ?? []).map(checkedFinding) }
  } catch (error) {
    throw new ArgumentError('json', `json must be a profile, as toJSON() returns: ${messageOfThrown(error)}`)
  }
}

function blockJson({ names, label, rest, thread, serial }: BlockCopy): BlockJson {
  return { name: names.name, label, labelled: names.labelled, spread: names.spread, rest, thread, serial }
}

function histogramJson(slots: Float64Array): Omit<HistogramJson, keyof BlockJson> {
  const buckets: [number, number][] = []
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
    const count = slots[HistogramSlot.Buckets + bucket] ?? 0
    if (count !== 0) buckets.push([bucketEnd(bucket), count])
  }
  const at = (slot: number): number => slots[slot] ?? 0
  return { count: at(HistogramSlot.Count), sumNs: at(HistogramSlot.Sum), maxNs: at(HistogramSlot.Max), buckets }
}

function countersOf(json: CountersJson): BlockCopy {
  const counters = (json.names ?? Object.keys(json.values)).map(text)
  const gauges = json.gauges.map(text)
  const slots = Float64Array.from(counters, (name) => number(json.values[name]))
  return { ...blockOf(json, counters, gauges), kind: BlockKind.Counters, slots }
}

function histogramOf(json: HistogramJson): BlockCopy {
  const slots = new Float64Array(HISTOGRAM_SLOTS)
  slots[HistogramSlot.Count] = number(json.count)
  slots[HistogramSlot.Sum] = number(json.sumNs)
  slots[HistogramSlot.Max] = number(json.maxNs)
  for (const [ns, count] of json.buckets) slots[HistogramSlot.Buckets + bucketOf(number(ns))] = number(count)
  return { ...blockOf(json, [], []), kind: BlockKind.Histogram, slots }
}

function blockOf(
  json: BlockJson,
  counters: readonly string[],
  gauges: readonly string[],
): Omit<BlockCopy, 'kind' | 'slots'> {
  return {
    names: { name: text(json.name), labelled: text(json.labelled), spread: text(json.spread), counters, gauges },
    label: text(json.label),
    rest: json.rest === true,
    thread: number(json.thread),
    serial: number(json.serial),
  }
}

function number(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new TypeError(`${String(value)} is not a number`)
  return value
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError(`${String(value)} is not a string`)
  return value
}
