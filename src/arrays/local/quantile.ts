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
export function quantile(x: Block, q: number | readonly number[] | Block, options: QuantileOptions = {}): Block {
  const { method = 'linear', keepdims = false } = options
  if (x.dtype === bool || isComplex(x.dtype))
    throw new ArrayError('TYPE', `quantiles are of real numbers, not of ${x.dtype}; use astype()`)
  const place: Method | undefined = METHODS[method]
  if (place === undefined)
    throw new ArrayError('VALUE', `'${method}' is not a valid method. Use one of: ${Object.keys(METHODS).join(', ')}`)
  const wanted = quantilesOf(q)
  const axes = axesOf(options.axis, x.shape.length)
  const others = x.shape.map((_, axis) => axis).filter((axis) => !axes.includes(axis))
  const lines = numbersOf(permute(x, [...others, ...axes]), 'x')
  const length = sizeOf(axes.map((axis) => x.shape[axis]!))
  const kept = keepdims
    ? x.shape.map((extent, axis) => (axes.includes(axis) ? 1 : extent))
    : others.map((axis) => x.shape[axis]!)
  const result = newBlock(x.dtype === float32 ? float32 : float64, [...wanted.shape, ...kept])
  const places = wanted.values.map((value) => within(place(length, value), length))
  fillQuantiles(lines, length, places, result.data as Float64Array)
  return result
}

/** As `quantile`, with `q` from 0 to 100. */
export function percentile(x: Block, q: number | readonly number[] | Block, options: QuantileOptions = {}): Block {
  const { values, shape } = numbersAndShape(q)
  for (const value of values)
    if (!(value >= 0 && value <= 100)) throw new ArrayError('VALUE', 'Percentiles must be in the range [0, 100]')
  const fractions = values.map((value) => value / 100)
  const block = { ...newBlock(float64, shape), data: Float64Array.from(fractions) }
  return quantile(x, block, options)
}

function fillQuantiles(lines: Float64Array, length: number, places: readonly Place[], target: Float64Array): void {
  if (target.length === 0) return
  const count = target.length / places.length
  if (length === 0) {
    target.fill(Number.NaN)
    return
  }
  const indices = places.flatMap(({ index }) => [index, Math.min(index + 1, length - 1)])
  const rising = [...new Set(indices)].sort((a, b) => a - b)
  for (let line = 0; line < count; line += 1) {
    const values = lines.subarray(line * length, (line + 1) * length)
    const hasNaN = values.some((value) => Number.isNaN(value))
    if (!hasNaN) selectPlaces(values, rising)
    for (let at = 0; at < places.length; at += 1)
      target[at * count + line] = hasNaN ? Number.NaN : valueAt(values, places[at]!)
  }
}

function within({ index, fraction }: Place, length: number): Place {
  if (index < 0) return { index: 0, fraction: 0 }
  return index >= length - 1 ? { index: Math.max(0, length - 1), fraction: 0 } : { index, fraction }
}

/** Between two elements, from the nearer one, so that rounding never leads beyond either. */
function valueAt(values: Float64Array, { index, fraction }: Place): number {
  const low = values[index]!
  if (fraction === 0) return low
  const high = values[index + 1]!
  if (low === high) return low
  return fraction >= 0.5 ? high - (high - low) * (1 - fraction) : low + (high - low) * fraction
}

function quantilesOf(q: number | readonly number[] | Block): { values: readonly number[]; shape: readonly number[] } {
  const { values, shape } = numbersAndShape(q)
  for (const value of values)
    if (!(value >= 0 && value <= 1)) throw new ArrayError('VALUE', 'Quantiles must be in the range [0, 1]')
  return { values, shape }
}

function numbersAndShape(q: number | readonly number[] | Block): { values: number[]; shape: readonly number[] } {
  if (typeof q === 'number') return { values: [q], shape: [] }
  if ('dtype' in q) return { values: [...numbersOf(q, 'q')], shape: q.shape }
  return { values: [...q], shape: [q.length] }
}
