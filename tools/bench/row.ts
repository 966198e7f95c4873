import { distributionOf, quantileOf, tenths } from './quantiles.ts'

/** One line of a benchmark, and one object of its `--json`. Nanoseconds are per operation. */
export interface BenchRow {
  readonly op: string
  readonly provider: string
  readonly bytes: number
  /** Null where a program of others does not tell. */
  readonly p50Ns: number | null
  readonly p99Ns: number | null
  readonly maxNs: number | null
  /** The distribution of what p50Ns is of, at `quantileShares`. */
  readonly quantilesNs: readonly number[] | null
  readonly opsPerSec: number
  readonly gbPerSec: number
  /** Processor time of all processes; null where it is not read, or the system does not tell. */
  readonly cpuNsPerOp: number | null
  /** The row, as `op, provider`, that this is held against, of the same length in the same run. */
  readonly baseline: string | null
  /** How many times the median of the baseline its median is; of streams, the mean time a message. */
  readonly ratio: number | null
}

/** What a measurement gathers: how long each batch of `batchSize` operations took, and the processor time of all. */
export interface Measurement {
  readonly batchSize: number
  readonly batchNs: Float64Array
  readonly cpuNs: number
}

/**
 * A row from a measurement. Percentiles are those of batch means, because one operation is too short for the clock. The
 * maximum is the time of one operation in the slowest batch, if all others in it took the median. `perOperation` is a
 * further divisor (2 for a round trip of two).
 */
export function rowOf(
  op: string,
  provider: string,
  bytes: number,
  measurement: Measurement,
  perOperation = 1,
): BenchRow {
  const { batchSize, batchNs, cpuNs } = measurement
  const operations = batchSize * perOperation
  const sorted = Float64Array.from(batchNs, (ns) => ns / operations).sort()
  const distribution = distributionOf(sorted)
  const slowestNs = operations * sorted.at(-1)! - (operations - 1) * quantileOf(sorted, 0.5)
  const totalNs = batchNs.reduce((sum, ns) => sum + ns, 0)
  const opsPerSec = (1e9 * operations * batchNs.length) / totalNs
  return {
    op,
    provider,
    bytes,
    ...distribution,
    maxNs: Math.max(distribution.p99Ns, tenths(slowestNs)),
    opsPerSec: Math.round(opsPerSec),
    gbPerSec: Math.round((opsPerSec * bytes) / 1e4) / 1e5,
    cpuNsPerOp: perOperationNs(cpuNs, operations * batchNs.length),
    baseline: null,
    ratio: null,
  }
}

/** A row of a program of others, which tells how many operations a second it made, and perhaps their median. */
export function rowOfOthers(
  op: string,
  provider: string,
  bytes: number,
  { opsPerSec, p50Ns }: { readonly opsPerSec: number; readonly p50Ns: number | null },
): BenchRow {
  return {
    op,
    provider,
    bytes,
    p50Ns,
    p99Ns: null,
    maxNs: null,
    quantilesNs: null,
    opsPerSec: Math.round(opsPerSec),
    gbPerSec: Math.round((opsPerSec * bytes) / 1e4) / 1e5,
    cpuNsPerOp: null,
    baseline: null,
    ratio: null,
  }
}

/** Nanoseconds of one of `count`; null where it is not known. */
export function perOperationNs(cpuNs: number, count: number): number | null {
  return Number.isFinite(cpuNs) ? Math.round((10 * Math.max(0, cpuNs)) / count) / 10 : null
}

/** Hold each row against that of the device `own` that does the same, or what `instead` names for its operation. */
export function withBaselines(
  rows: readonly BenchRow[],
  own: string,
  instead: Readonly<Record<string, string>> = {},
): BenchRow[] {
  return rows.map((row) => {
    const op = instead[row.op] ?? row.op
    const base = rows.find((each) => each.op === op && each.bytes === row.bytes && each.provider === own)
    if (base === undefined || base === row) return row
    const [mine, other] = [timeOf(row), timeOf(base)]
    return { ...row, baseline: `${op}, ${own}`, ratio: Number((mine / other).toPrecision(4)) }
  })
}

/** The median of an operation; of streams, and where no median is told, the mean. Nanoseconds. */
export function timeOf({ op, p50Ns, opsPerSec }: BenchRow): number {
  return p50Ns === null || op.includes('stream') ? 1e9 / opsPerSec : p50Ns
}
