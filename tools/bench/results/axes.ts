import { formatBytes, formatCount, formatRate, formatRatio, formatTime } from 'aether-dsm/internal/cli'
import { quantileShares } from '../quantiles.ts'
import type { Axis, LinePoint, PlotPlan } from './plot.ts'

export const timeAxis: Axis = { title: 'time of one', scale: 'log', format: (ns) => formatTime(ns / 1e6) }
export const bytesAxis: Axis = { title: 'length', scale: 'log', format: formatBytes }
export const rateAxis: Axis = { title: 'a second, of all together', scale: 'log', format: formatRate }
export const throughputAxis: Axis = {
  title: 'bytes a second',
  scale: 'log',
  format: formatThroughput,
}
export const ratioAxis: Axis = {
  title: 'times as much as before',
  scale: 'log',
  format: formatRatio,
  // That nothing changed looks like it.
  always: [0.5, 2],
}
export const percentileAxis: Axis = {
  title: 'share of the operations that took no longer',
  scale: 'percentile',
  format: (share) => (share === 1 ? 'all' : `${Number((100 * share).toPrecision(4))} %`),
}

function formatThroughput(gbPerSec: number): string {
  if (gbPerSec >= 1) return `${Number(gbPerSec.toPrecision(3))} GB/s`
  if (gbPerSec >= 1e-3) return `${Number((1e3 * gbPerSec).toPrecision(3))} MB/s`
  return `${Number((1e6 * gbPerSec).toPrecision(3))} kB/s`
}

/** A number of things: processes, nodes, calls in progress. */
export function countAxis(title: string, scale: 'log' | 'linear' = 'log'): Axis {
  return { title, scale, format: (value) => (Number.isInteger(value) ? formatCount(value) : String(value)) }
}

export const medianExplained = 'A mark is the median; its whisker extends to p99.'

/** Rows that tell a distribution. */
export interface Distributed {
  readonly quantilesNs: readonly number[] | null
}

/** The distribution of the samples of each row: the percentiles over time. */
export function distributionPlan<Row extends Distributed>(
  naming: Pick<PlotPlan<Row>, 'figure' | 'group' | 'series' | 'where'>,
): PlotPlan<Row> {
  return {
    kind: 'lines',
    section: 'Distributions',
    explained:
      'The time that each percentage of samples did not exceed: further right is rarer. If there are too few samples, it is the longest of them.',
    x: percentileAxis,
    y: timeAxis,
    points: ({ quantilesNs }) =>
      quantilesNs?.map((ns, index): LinePoint => ({ x: quantileShares[index]!, y: ns })) ?? [],
    ...naming,
  }
}
