/** One line of `aether bench dsm`, and one object of its `--json`. Nanoseconds are per operation. */
export interface DsmRow {
  readonly op: string
  readonly ranks: number
  readonly pageBytes: number
  readonly samples: number
  readonly p50Ns: number
  readonly p99Ns: number
  readonly maxNs: number
  /** Coherence messages of all ranks per operation; null where it was not counted. */
  readonly messages: number | null
  /** Bytes of pages that moved per operation. */
  readonly bytes: number | null
}

/** What the ranks are started with. */
export interface DsmBenchPlan {
  readonly pageBytes: readonly number[]
  readonly iterations: number
}

export type Traffic = Pick<DsmRow, 'messages' | 'bytes'>
export const uncounted: Traffic = { messages: null, bytes: null }

export function rowFrom(
  head: Pick<DsmRow, 'op' | 'ranks' | 'pageBytes'>,
  samplesNs: Float64Array,
  traffic: Traffic = uncounted,
): DsmRow {
  const sorted = Float64Array.from(samplesNs).sort()
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!
  const round = (value: number): number => Math.round(value * 10) / 10
  const { op, ranks, pageBytes } = head
  return {
    op,
    ranks,
    pageBytes,
    samples: sorted.length,
    p50Ns: round(at(0.5)),
    p99Ns: round(at(0.99)),
    maxNs: round(sorted.at(-1)!),
    messages: traffic.messages,
    bytes: traffic.bytes,
  }
}
