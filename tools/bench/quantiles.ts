/**
 * The shares of the samples at which every benchmark tells their distribution: `quantilesNs` has a time for each, the
 * last is the longest.
 */
export const quantileShares: readonly number[] = [0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1]

/** How long the operations of a row took, in nanoseconds, rounded to tenths. */
export interface Distribution {
  readonly p50Ns: number
  readonly p99Ns: number
  readonly maxNs: number
  /** At each of {@link quantileShares}. */
  readonly quantilesNs: readonly number[]
}

/** Of at least one sample, in nanoseconds. */
export function distributionOf(samplesNs: Float64Array): Distribution {
  const sorted = Float64Array.from(samplesNs).sort()
  const at = (share: number): number => tenths(quantileOf(sorted, share))
  return { p50Ns: at(0.5), p99Ns: at(0.99), maxNs: at(1), quantilesNs: quantileShares.map(at) }
}

/** The time that this share of the sorted samples does not exceed; the longest, where they are too few to tell. */
export function quantileOf(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!
}

/** Samples that were taken in parts, in their order. */
export function joined(parts: readonly Float64Array[]): Float64Array {
  const whole = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** As times are told. */
export function tenths(ns: number): number {
  return Math.round(10 * ns) / 10
}
