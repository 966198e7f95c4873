import { type Distribution, distributionOf, tenths } from '../quantiles.ts'

/** One line of `aether bench arrays`, and one object of its `--json`. Nanoseconds are per operation. */
export interface ArraysRow extends Distribution {
  readonly op: string
  /** `aether`, or NumPy with its version. */
  readonly provider: string
  /** Of an array, all parts together. */
  readonly elements: number
  /** Processes that have parts; 0 where there is one process alone, without a group. */
  readonly ranks: number
  /** That each process computes with. */
  readonly threads: number
  readonly samples: number
  readonly meanNs: number
  /** Bytes that came to all ranks for one operation, and those that have to; null where nothing has parts. */
  readonly movedBytes: number | null
  readonly neededBytes: number | null
  /** The row, as `op, provider`, or as `op, ranks`, that this one is held against in the same run. */
  readonly baseline: string | null
  /** How many times the median of the baseline its median is. */
  readonly ratio: number | null
}

export type ArraysHead = Pick<ArraysRow, 'op' | 'provider' | 'elements' | 'ranks' | 'threads'> &
  Partial<Pick<ArraysRow, 'movedBytes' | 'neededBytes'>>

export function arraysRow(head: ArraysHead, ns: readonly number[]): ArraysRow {
  return {
    movedBytes: null,
    neededBytes: null,
    ...head,
    samples: ns.length,
    meanNs: tenths(ns.reduce((sum, each) => sum + each, 0) / ns.length),
    ...distributionOf(Float64Array.from(ns)),
    baseline: null,
    ratio: null,
  }
}

/** The row, held against another one of the same work. */
export function heldAgainst(row: ArraysRow, base: ArraysRow | undefined, name: string): ArraysRow {
  if (base === undefined || base === row) return row
  return { ...row, baseline: `${base.op}, ${name}`, ratio: Number((row.p50Ns / base.p50Ns).toPrecision(4)) }
}
