import { type Block, newBlock, sizeOf } from '../blocks/block.ts'
import { axesOf, permute } from '../blocks/layout.ts'
import { ArrayError } from '../errors.ts'
import { bool, float32, float64, isComplex } from '../types/dtype.ts'
import { numbersOf } from './numbers.ts'
import { selectPlaces } from './selection.ts'

/**
 * How a quantile between two elements is found. Nine ways are those of Hyndman and Fan, "Sample quantiles in
 * statistical packages" (The American Statistician 50, 1996). NumPy has had the last four before.
 */
export type QuantileMethod =
  | 'inverted_cdf'
  | 'averaged_inverted_cdf'
  | 'closest_observation'
  | 'interpolated_inverted_cdf'
  | 'hazen'
  | 'weibull'
  | 'linear'
  | 'median_unbiased'
  | 'normal_unbiased'
  | 'lower'
  | 'higher'
  | 'midpoint'
  | 'nearest'

export interface QuantileOptions {
  readonly axis?: number | readonly number[] | null
  readonly method?: QuantileMethod
  readonly keepdims?: boolean
}

/** Where in `count` sorted elements the quantile lies: at an element, or a way beyond it to the next. */
interface Place {
  readonly index: number
  readonly fraction: number
}

type Method = (count: number, q: number) => Place

const METHODS: Readonly<Record<QuantileMethod, Method>> = {
  inverted_cdf: (count, q) => step(count * q - 1, (fraction) => (fraction === 0 ? 0 : 1)),
  averaged_inverted_cdf: (count, q) => step(count * q - 1, (fraction) => (fraction === 0 ? 0.5 : 1)),
  closest_observation: (count, q) =>
    step(count * q - 1.5, (fraction, index) => (fraction === 0 && Math.abs(index % 2) === 1 ? 0 : 1)),
  interpolated_inverted_cdf: between(0, 1),
  hazen: between(0.5, 0.5),
  weibull: between(0, 0),
  linear: (count, q) => step((count - 1) * q, (fraction) => fraction),
  median_unbiased: between(1 / 3, 1 / 3),
  normal_unbiased: between(3 / 8, 3 / 8),
  lower: (count, q) => ({ index: Math.floor((count - 1) * q), fraction: 0 }),
  higher: (count, q) => ({ index: Math.ceil((count - 1) * q), fraction: 0 }),
  midpoint: (count, q) => step((count - 1) * q, (fraction) => (fraction === 0 ? 0 : 0.5)),
  nearest: (count, q) =>
    step((count - 1) * q, (fraction, index) => (fraction > 0.5 || (fraction === 0.5 && index % 2 === 1) ? 1 : 0)),
}

function step(position: number, fractionOf: (fraction: number, index: number) => number): Place {
  const index = Math.floor(position)
  return { index, fraction: fractionOf(position - index, index) }
}

function between(alpha: number, beta: number): Method {
  return (count, q) => step(count * q + (alpha + q * (1 - alpha - beta)) - 1, (fraction) => fraction)
}

/**
 * What lies so far from the least to the greatest element, with `q` from 0 to 1, as a real floating number. The axes of
 * the result are those of q, then those of x that are left.
 */
export function quantile(x: Block, q: Wanted, options: QuantileOptions = {}): Block {
  const plan = planned(x, quantilesOf(q), options)
  const { others, axes } = plan
  fillQuantiles(numbersOf(permute(x, [...others, ...axes]), 'x'), plan)
  return plan.result
}

/** As `quantile`, with `q` from 0 to 100. */
export function percentile(x: Block, q: Wanted, options: QuantileOptions = {}): Block {
  return quantile(x, percentilesOf(q), options)
}

/** The quantiles wanted, or the percentiles. */
export type Wanted = number | readonly number[] | Block

/** What is needed of all elements of an array, for quantiles, or for percentiles. */
export function placesWanted(
  x: Shaped,
  q: Wanted,
  options: QuantileOptions,
  isPercent: boolean,
): { readonly rising: readonly number[]; readonly finish: (sorted: readonly number[]) => Block } {
  const plan = planned(x, quantilesOf(isPercent ? percentilesOf(q) : q), options)
  const rising = risingOf(plan)
  return {
    rising,
    // Without a number for each place there is a NaN among the elements.
    finish: (sorted) => {
      const at = ({ index, fraction }: Place): number =>
        valueBetween(sorted[rising.indexOf(index)]!, sorted[rising.indexOf(index + 1)] ?? 0, fraction)
      for (const [number, place] of plan.places.entries())
        plan.result.data[number] = sorted.length === 0 ? Number.NaN : at(place)
      return plan.result
    },
  }
}

type Shaped = Pick<Block, 'dtype' | 'shape'>

interface Plan {
  /** Those along which elements are looked at, and the others. */
  readonly axes: readonly number[]
  readonly others: readonly number[]
  /** How many elements a line has. */
  readonly length: number
  readonly places: readonly Place[]
  readonly result: Block
}

function planned(x: Shaped, wanted: Quantiles, { axis, method = 'linear', keepdims = false }: QuantileOptions): Plan {
  if (x.dtype === bool || isComplex(x.dtype))
    throw new ArrayError('TYPE', `quantiles are of real numbers, not of ${x.dtype}; use astype()`)
  const place: Method | undefined = METHODS[method]
  if (place === undefined)
    throw new ArrayError('VALUE', `'${method}' is not a valid method. Use one of: ${Object.keys(METHODS).join(', ')}`)
  const axes = axesOf(axis, x.shape.length)
  const others = x.shape.map((_, at) => at).filter((at) => !axes.includes(at))
  const length = sizeOf(axes.map((at) => x.shape[at]!))
  const kept = keepdims
    ? x.shape.map((extent, at) => (axes.includes(at) ? 1 : extent))
    : others.map((at) => x.shape[at]!)
  const result = newBlock(x.dtype === float32 ? float32 : float64, [...wanted.shape, ...kept])
  const places = wanted.values.map((value) => within(place(length, value), length))
  return { axes, others, length, places, result }
}

function risingOf({ places, length }: Plan): number[] {
  const indices = places.flatMap(({ index }) => [index, Math.min(index + 1, length - 1)])
  return [...new Set(indices)].sort((a, b) => a - b)
}

function fillQuantiles(lines: Float64Array, plan: Plan): void {
  const { length, places } = plan
  const target = plan.result.data as Float64Array
  if (target.length === 0) return
  const count = target.length / places.length
  if (length === 0) {
    target.fill(Number.NaN)
    return
  }
  const rising = risingOf(plan)
  for (let line = 0; line < count; line += 1) {
    const values = lines.subarray(line * length, (line + 1) * length)
    const hasNaN = values.some((value) => Number.isNaN(value))
    if (!hasNaN) selectPlaces(values, rising)
    for (let at = 0; at < places.length; at += 1) {
      const { index, fraction } = places[at]!
      target[at * count + line] = hasNaN ? Number.NaN : valueBetween(values[index]!, values[index + 1] ?? 0, fraction)
    }
  }
}

function within({ index, fraction }: Place, length: number): Place {
  if (index < 0) return { index: 0, fraction: 0 }
  return index >= length - 1 ? { index: Math.max(0, length - 1), fraction: 0 } : { index, fraction }
}

/** Between two elements, from the nearer one, so that rounding never leads beyond either. */
function valueBetween(low: number, high: number, fraction: number): number {
  if (fraction === 0 || low === high) return low
  return fraction >= 0.5 ? high - (high - low) * (1 - fraction) : low + (high - low) * fraction
}

interface Quantiles {
  readonly values: readonly number[]
  readonly shape: readonly number[]
}

function quantilesOf(q: Wanted): Quantiles {
  const { values, shape } = numbersAndShape(q)
  for (const value of values)
    if (!(value >= 0 && value <= 1)) throw new ArrayError('VALUE', 'Quantiles must be in the range [0, 1]')
  return { values, shape }
}

/** As quantiles. */
function percentilesOf(q: Wanted): Block {
  const { values, shape } = numbersAndShape(q)
  for (const value of values)
    if (!(value >= 0 && value <= 100)) throw new ArrayError('VALUE', 'Percentiles must be in the range [0, 100]')
  return { ...newBlock(float64, shape), data: Float64Array.from(values, (value) => value / 100) }
}

function numbersAndShape(q: Wanted): Quantiles {
  if (typeof q === 'number') return { values: [q], shape: [] }
  if ('dtype' in q) return { values: [...numbersOf(q, 'q')], shape: q.shape }
  return { values: [...q], shape: [q.length] }
}
