import { mustBe } from '../native/index.ts'
import { Block, type BlockOwner, type BlockPlace } from './block.ts'
import { BlockKind } from './block-header.ts'
import { BUCKETS, bucketEnd, bucketOf } from './buckets.ts'
import { type CounterLayout, defineHistogram } from './counter-layout.ts'

/** Slots before the buckets. */
const Slot = { Count: 0, Sum: 1, Max: 2, Buckets: 3 } as const

export const HISTOGRAM_SLOTS: number = Slot.Buckets + BUCKETS

/** A histogram in a few figures, in nanoseconds. All are zero if nothing was recorded. */
export interface HistogramSummary {
  readonly count: number
  readonly meanNs: number
  readonly p50Ns: number
  readonly p99Ns: number
  readonly maxNs: number
}

/** A histogram of durations in shared memory with one writer, the thread that made the block. */
export class HistogramBlock extends Block {
  readonly kind: number = BlockKind.Histogram

  constructor(layout: CounterLayout, label: string, place: BlockPlace, owner?: BlockOwner) {
    super(layout, label, place, owner)
  }

  get name(): string {
    return this.layout.name
  }

  /** Record one duration in nanoseconds. @throws ArgumentError */
  record(ns: number): void {
    if (!Number.isFinite(ns)) throw mustBe('ns', 'a number of nanoseconds', ns)
    const { slots } = this
    const bucket = Slot.Buckets + bucketOf(ns)
    slots[bucket] = slots[bucket]! + 1
    slots[Slot.Sum] = slots[Slot.Sum]! + ns
    if (ns > slots[Slot.Max]!) slots[Slot.Max] = ns
    slots[Slot.Count] = slots[Slot.Count]! + 1
  }

  summary(): HistogramSummary {
    return summarize(this.slots)
  }
}

/** A private histogram, for use without a profiling area. */
export function privateHistogram(name: string): HistogramBlock {
  return new HistogramBlock(defineHistogram(name), '', { slots: new Float64Array(HISTOGRAM_SLOTS), shared: true })
}

/** The slots before the buckets, for code that writes histograms. */
export const HistogramSlot: typeof Slot = Slot

/** Summarize a histogram's slots, a copy of them, or a difference of two. */
export function summarize(slots: Float64Array): HistogramSummary {
  const count = slots[Slot.Count]!
  if (count <= 0) return { count: 0, meanNs: 0, p50Ns: 0, p99Ns: 0, maxNs: 0 }
  const maxNs = slots[Slot.Max]!
  return {
    count,
    meanNs: slots[Slot.Sum]! / count,
    p50Ns: percentile(slots, 0.5, maxNs),
    p99Ns: percentile(slots, 0.99, maxNs),
    maxNs,
  }
}

/**
 * The durations of a histogram from `fromNs` to below `untilNs`, in whole nanoseconds. The last bucket has no other
 * end.
 */
export interface OccupiedBucket {
  readonly fromNs: number
  readonly untilNs: number
  readonly count: number
}

/** Return every bucket of a histogram's slots that is not empty, in order. */
export function occupiedBuckets(slots: Float64Array): readonly OccupiedBucket[] {
  const occupied: OccupiedBucket[] = []
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
    const count = slots[Slot.Buckets + bucket] ?? 0
    if (count <= 0) continue
    occupied.push({ fromNs: bucket === 0 ? 0 : bucketEnd(bucket - 1) + 1, untilNs: bucketEnd(bucket) + 1, count })
  }
  return occupied
}

/** Return `later - earlier`. The maximum is that of `later`, since a maximum cannot be subtracted. */
export function differenceOfHistograms(later: Float64Array, earlier: Float64Array): Float64Array {
  return later.map((value, slot) => (slot === Slot.Max ? value : value - (earlier[slot] ?? 0)))
}

/** Add what `from` recorded to `to`. */
export function addHistogram(to: Float64Array, from: Float64Array): void {
  const maxNs = Math.max(to[Slot.Max]!, from[Slot.Max]!)
  for (let slot = 0; slot < to.length; slot += 1) to[slot] = to[slot]! + (from[slot] ?? 0)
  to[Slot.Max] = maxNs
}

/**
 * Nearest-rank over the buckets' own total, since a reader may see the count before the bucket; never above the
 * maximum.
 */
function percentile(slots: Float64Array, share: number, maxNs: number): number {
  let total = 0
  for (let slot = Slot.Buckets; slot < slots.length; slot += 1) total += slots[slot]!
  let left = Math.ceil(total * share)
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
    left -= slots[Slot.Buckets + bucket]!
    if (left <= 0) return Math.min(bucketEnd(bucket), maxNs)
  }
  return maxNs
}
