import type { Axis } from '../results/plot.ts'
import { textWidth } from './html.ts'

/** Where values of an axis lie, in pixels, and which of them are named there. */
export interface Scale {
  readonly at: (value: number) => number
  readonly ticks: readonly { readonly value: number; readonly text: string; readonly isNamed: boolean }[]
}

/** Where the longest of all lies, beyond 99.9 %. */
const NINES_OF_ALL = 3.6
const shares = [0, 0.5, 0.9, 0.99, 0.999, 1]
/** Between two names, at least. */
const GAP = 8
/** Ticks of a linear axis, about. */
const LINEAR_TICKS = 5
/** Multiples of powers of ten that are ticks of a logarithmic axis, by the maximum number of decades. */
const logSteps = [
  { decades: 0.6, steps: [1, 1.5, 2, 3, 4, 5, 6, 8] },
  { decades: 1.5, steps: [1, 2, 5] },
  { decades: Number.POSITIVE_INFINITY, steps: [1] },
]

/**
 * From the pixel `from` to `to`, over round values around all of these; each of them a tick, where `isSweep` says that
 * they were chosen.
 */
export function scaleOf(
  axis: Axis,
  values: readonly number[],
  from: number,
  to: number,
  { isSweep = false }: { readonly isSweep?: boolean } = {},
): Scale {
  const place = placing(axis)
  const ticks =
    isSweep && axis.scale !== 'percentile' ? distinct(values) : ticksOf(axis, [...values, ...(axis.always ?? [])])
  const [low, high] = [place(Math.min(...ticks)), place(Math.max(...ticks))]
  // One value only lies in the middle.
  const at = (value: number): number =>
    high === low ? (from + to) / 2 : from + ((to - from) * (place(value) - low)) / (high - low)
  return { at, ticks: named(axis, ticks, at, from < to) }
}

/** What is proportional to the distance on the paper. */
function placing({ scale }: Axis): (value: number) => number {
  if (scale === 'linear') return (value) => value
  if (scale === 'log') return Math.log10
  return (share) => (share === 1 ? NINES_OF_ALL : -Math.log10(1 - share))
}

function ticksOf({ scale }: Axis, values: readonly number[]): readonly number[] {
  if (scale === 'percentile') return shares
  const [low, high] = [Math.min(...values), Math.max(...values)]
  return scale === 'log' ? logTicks(low, high) : linearTicks(Math.min(0, low), high)
}

/** Around all values: at least two. */
function logTicks(low: number, high: number): number[] {
  const { steps } = logSteps.find(({ decades }) => Math.log10(high / low) < decades) ?? logSteps.at(-1)!
  const first = Math.floor(Math.log10(low))
  const last = Math.ceil(Math.log10(high)) + 1
  const all = Array.from({ length: last - first + 1 }, (_, index) => first + index).flatMap((power) =>
    steps.map((step) => Number(`${step}e${power}`)),
  )
  const from = all.findLastIndex((tick) => tick <= low)
  const to = all.findIndex((tick, index) => tick >= high && index > from)
  return all.slice(Math.max(0, from), to + 1)
}

function linearTicks(low: number, high: number): number[] {
  const span = high > low ? high - low : 1
  const power = 10 ** Math.floor(Math.log10(span / LINEAR_TICKS))
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power * LINEAR_TICKS >= span) ?? 10)
  const [first, last] = [Math.floor(low / step), Math.ceil((low + span) / step)]
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)))
}

/** Of names that would lie on one another every second is left out, or more. Upwards there is always place. */
function named(
  { format }: Axis,
  ticks: readonly number[],
  at: (value: number) => number,
  isAcross: boolean,
): Scale['ticks'] {
  const all = ticks.map((value) => ({ value, text: short(format(value)) }))
  const isNear = (one: (typeof all)[number], other: (typeof all)[number]): boolean =>
    at(other.value) - at(one.value) < (textWidth(one.text) + textWidth(other.text)) / 2 + GAP
  const fits = (stride: number): boolean => {
    const kept = all.filter((_, index) => index % stride === 0)
    return kept.every((tick, index) => index === 0 || !isNear(kept[index - 1]!, tick))
  }
  let stride = 1
  while (isAcross && !fits(stride)) stride += 1
  return all.map((tick, index) => ({ ...tick, isNamed: index % stride === 0 }))
}

/** `1.00 ms` as `1 ms`: a tick is a round value. */
function short(text: string): string {
  return text.replace(/(\d)\.0+(?=\D|$)/, '$1').replace(/(\.\d*?)0+(?=\D|$)/, '$1')
}

function distinct(values: readonly number[]): number[] {
  return [...new Set(values)].sort((one, other) => one - other)
}
