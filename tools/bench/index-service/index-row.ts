import { type LanesRun, together } from '../lanes.ts'
import { distributionOf, tenths } from '../quantiles.ts'

/** One line of `aether bench index`, and one object of its `--json`. Nanoseconds are per operation. */
export interface IndexRow {
  readonly op: string
  /** `aether`, or other software with its version. */
  readonly provider: string
  /** Of a value. */
  readonly bytes: number
  /** Client processes at the same time; 0 where none is measured. */
  readonly clients: number
  /** Operations, or batches of them, that were timed; 0 where nothing was. */
  readonly samples: number
  readonly meanNs: number | null
  readonly p50Ns: number | null
  readonly p99Ns: number | null
  readonly maxNs: number | null
  /** The distribution at `quantileShares`. */
  readonly quantilesNs: readonly number[] | null
  /** Of all clients together; null where operations do not come one after the other. */
  readonly opsPerSec: number | null
  /** Memory that a key with its value takes; null where it is not measured. */
  readonly keyBytes: number | null
  /** The row, as `op, provider`, that this one is held against, of the same length and number of clients. */
  readonly baseline: string | null
  /** Its median over that one's; of memory, its bytes over that one's. */
  readonly ratio: number | null
}

type NamedIndexRow = Pick<IndexRow, 'op' | 'provider' | 'bytes' | 'clients'>

/** A row of what clients did at the same time. */
export function timedRow(named: NamedIndexRow, runs: readonly LanesRun[]): IndexRow {
  const { samples, opsPerSec } = together(runs)
  return { ...stageRow(named, samples), opsPerSec: Math.round(opsPerSec) }
}

/** A row of something that happened once for each of these times. */
export function stageRow(named: NamedIndexRow, samples: Float64Array): IndexRow {
  return {
    ...named,
    samples: samples.length,
    meanNs: tenths(samples.reduce((sum, ns) => sum + ns, 0) / samples.length),
    ...distributionOf(samples),
    ...{ opsPerSec: null, keyBytes: null, baseline: null, ratio: null },
  }
}

/** A row of memory. */
export function memoryRow(named: NamedIndexRow, keyBytes: number): IndexRow {
  return {
    ...named,
    ...{ samples: 0, meanNs: null, p50Ns: null, p99Ns: null, maxNs: null, quantilesNs: null, opsPerSec: null },
    ...{ keyBytes: tenths(keyBytes), baseline: null, ratio: null },
  }
}

const OWN = 'aether'

/** The rows, those of others held against ours of the same work. */
export function withIndexRatios(rows: readonly IndexRow[]): IndexRow[] {
  return rows.map((row) => {
    const own = row.provider === OWN ? undefined : rows.find((each) => each.provider === OWN && isSameWork(each, row))
    if (own === undefined) return row
    const [mine, other] = [costOf(row), costOf(own)]
    return { ...row, baseline: `${own.op}, ${OWN}`, ratio: Number((mine / other).toPrecision(4)) }
  })
}

/** What is held against others: the median, or the bytes. */
export function costOf({ p50Ns, keyBytes }: IndexRow): number {
  return p50Ns ?? keyBytes ?? Number.NaN
}

function isSameWork(one: IndexRow, other: IndexRow): boolean {
  return one.op === other.op && one.bytes === other.bytes && one.clients === other.clients
}
