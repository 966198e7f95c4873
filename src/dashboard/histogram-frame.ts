import { type HistogramReading, occupiedBuckets } from '../profiling/index.ts'
import type { HistogramFrame } from './wire.ts'

/** A histogram in the form that is sent to the page. */
export function histogramFrame(reading: HistogramReading, slot: number): HistogramFrame {
  const { name, label, count, meanNs, p50Ns, p99Ns, maxNs, slots } = reading
  const parts = new Map<number, number>()
  let below = 0
  let p90Ns = -1
  const buckets = occupiedBuckets(slots)
  const all = buckets.reduce((sum, bucket) => sum + bucket.count, 0)
  for (const bucket of buckets) {
    const part = partOf(bucket.fromNs)
    parts.set(part, (parts.get(part) ?? 0) + bucket.count)
    below += bucket.count
    if (p90Ns < 0 && below >= Math.ceil(0.9 * all)) p90Ns = Math.min(bucket.untilNs - 1, maxNs)
  }
  return {
    name: label === '' ? name : `${name} ${label}`,
    slot,
    count,
    meanNs: Math.round(meanNs),
    p50Ns,
    p90Ns: Math.max(0, p90Ns),
    p99Ns,
    maxNs,
    parts: [...parts].flat(),
  }
}

/** The quarter of an octave that contains a duration. A bucket of a profile never spans two of them. */
export function partOf(ns: number): number {
  if (ns < 1) return 0
  const octave = Math.floor(Math.log2(ns))
  return 4 * octave + Math.floor(4 * (ns / 2 ** octave - 1))
}
