import { distributionOf } from '../quantiles.ts'
import type { StoreName } from './bench-store.ts'
import type { Job, Samples } from './job.ts'

/** One line of `aether bench structures`, and one object of its `--json`. Nanoseconds are per operation. */
export interface StructuresRow {
  readonly op: string
  readonly store: StoreName
  readonly processes: number
  /** Of a value. */
  readonly bytes: number
  /** `uniform` or `zipf`; `one` where there is only one thing to work on. */
  readonly keys: string
  /** Batches of operations, of all processes. */
  readonly samples: number
  readonly p50Ns: number
  readonly p99Ns: number
  readonly maxNs: number
  /** The distribution at `quantileShares`. */
  readonly quantilesNs: readonly number[]
  /** Of all processes together. */
  readonly opsPerSec: number
  /**
   * The row of the same run that this one is held against, which is the shared structure's; null for that one itself.
   */
  readonly baseline: string | null
  /** This median over that one. */
  readonly ratio: number | null
  /**
   * The rate divided by the best rate of any number of processes with the same work and store. Below 1, a different
   * number of processes was faster.
   */
  readonly peakShare: number
}

/** Rows of one job: what all processes found, by operation. */
export function rowsOf(
  store: StoreName,
  { work, bytes }: Job,
  found: readonly (readonly Samples[])[],
): StructuresRow[] {
  const keys = 'keys' in work ? work.keys : 'one'
  return found[0]!.map(({ op }, which) => {
    const samples = found.map((each) => each[which]!)
    const joined = Float64Array.from(samples.flatMap(({ ns }) => [...ns]))
    const rate = samples.reduce((sum, { operations, totalNs }) => sum + (1e9 * operations) / totalNs, 0)
    const head = { op, store, processes: found.length, bytes: work.kind === 'add' ? 8 : bytes, keys }
    return {
      ...head,
      samples: joined.length,
      ...distributionOf(joined),
      opsPerSec: Math.round(rate),
      baseline: null,
      ratio: null,
      peakShare: 1,
    }
  })
}

/** The rows, those of other stores held against the shared structure's of the same work. */
export function withRatios(rows: readonly StructuresRow[]): StructuresRow[] {
  return rows.map((row) => {
    const own =
      row.store === 'aether' ? undefined : rows.find((each) => each.store === 'aether' && isSameWork(each, row))
    if (own === undefined || own.p50Ns === 0) return row
    return { ...row, baseline: `${own.op}, aether`, ratio: Math.round((1000 * row.p50Ns) / own.p50Ns) / 1000 }
  })
}

/** The rows, each held against the best rate of its store in the same work, whatever the number of processes. */
export function withShares(rows: readonly StructuresRow[]): StructuresRow[] {
  return rows.map((row) => {
    const same = rows.filter(
      (each) => each.store === row.store && isSameWork({ ...each, processes: row.processes }, row),
    )
    const peak = Math.max(...same.map(({ opsPerSec }) => opsPerSec))
    return { ...row, peakShare: peak === 0 ? 1 : Math.round((1000 * row.opsPerSec) / peak) / 1000 }
  })
}

export function isSameWork(one: StructuresRow, other: StructuresRow): boolean {
  const names = ['op', 'processes', 'bytes', 'keys'] as const
  return names.every((name) => one[name] === other[name])
}
