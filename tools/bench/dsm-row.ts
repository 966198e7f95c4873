import { distributionOf } from './quantiles.ts'

/** One line of `aether bench dsm`, and one object of its `--json`. Nanoseconds are per operation. */
export interface DsmRow {
  readonly op: string
  /** Kind of the region, or `none` where none is touched. */
  readonly coherence: string
  readonly ranks: number
  readonly pageBytes: number
  readonly samples: number
  readonly p50Ns: number
  readonly p99Ns: number
  readonly maxNs: number
  /** The distribution at `quantileShares`. */
  readonly quantilesNs: readonly number[]
  /** Coherence messages of all ranks per operation; null where it was not counted. */
  readonly messages: number | null
  /** Bytes of pages that moved per operation; null where it was not counted. */
  readonly bytes: number | null
  /** The share of operations that needed no agent; null where it was not counted. */
  readonly hitRate: number | null
  /**
   * `op, coherence` of the row of the same run that this one is held against, and this median over that one; null where
   * there is none.
   */
  readonly baseline: string | null
  readonly ratio: number | null
}

/** What the ranks are started with. */
export interface DsmBenchPlan {
  /** Kinds with a protocol. */
  readonly coherence: readonly string[]
  readonly pageBytes: readonly number[]
  readonly iterations: number
  /** How long each cell of the grid is played. */
  readonly cellMs: number
  /** How long agents look for work before they sleep; undefined: as `join()` decides. */
  readonly spinMs?: number | undefined
  /** Ranks write a trace: only what has stages is done, and told as {@link TracedAccesses}. */
  readonly traced?: boolean
}

/** What two ranks do that hand a word to each other. */
export const PING_PONG = 'ping-pong of a word in a page, round trip'

/** The exchanges of page misses in C++: what stands beside a miss and a word written in turn. */
export const FLOORS = {
  asleep: { op: 'load, in C++, agents asleep', coherence: 'none' },
  awake: { op: 'load, in C++, agents awake', coherence: 'none' },
  turns: { op: 'ping-pong of a word in a page, round trip, in C++', coherence: 'none' },
} as const

export type Counted = Pick<DsmRow, 'messages' | 'bytes' | 'hitRate'>
const uncounted: Counted = { messages: null, bytes: null, hitRate: null }

/** What a row is about, and what it is held against. */
export type RowHead = Pick<DsmRow, 'op' | 'coherence' | 'ranks' | 'pageBytes'> & { readonly baseline?: string }

export const nameOf = ({ op, coherence }: Pick<DsmRow, 'op' | 'coherence'>): string => `${op}, ${coherence}`

export function rowFrom(head: RowHead, samplesNs: Float64Array, counted: Counted = uncounted): DsmRow {
  const { op, coherence, ranks, pageBytes, baseline = null } = head
  const times = distributionOf(samplesNs)
  return { op, coherence, ranks, pageBytes, samples: samplesNs.length, ...times, ...counted, baseline, ratio: null }
}

/** The rows with their ratios, where what they are held against was measured with as many ranks and the same pages. */
export function withRatios(rows: readonly DsmRow[]): DsmRow[] {
  return rows.map((row) => {
    const base = rows.find(
      (each) => nameOf(each) === row.baseline && each.ranks === row.ranks && each.pageBytes === row.pageBytes,
    )
    if (base === undefined || base.p50Ns === 0) return { ...row, baseline: null }
    return { ...row, ratio: Math.round((1000 * row.p50Ns) / base.p50Ns) / 1000 }
  })
}
