import { type Block, blockOver, newBlock } from '../blocks/block.ts'
import { sameShape } from '../blocks/layout.ts'
import { ArrayError, shapeText } from '../errors.ts'
import { bool, type DType, type Elements, float32, float64, isComplex, isWide } from '../types/dtype.ts'
import { countsOf } from './bincount.ts'
import { numbersOf } from './numbers.ts'

export interface HistogramOptions {
  /** How many bins of one width there are, or their edges in rising order. */
  readonly bins?: number | bigint | readonly number[] | Block
  /** The first and the last edge; without it, the least and the greatest element. What lies outside is not counted. */
  readonly range?: readonly [number, number] | null
  /** The density, so that the integral is 1, instead of counts. */
  readonly density?: boolean
  /** What each element counts, instead of 1. */
  readonly weights?: Block | null
}

export interface Histogram {
  /** Counts as int64, sums in the type of the weights, or densities as float64. */
  readonly histogram: Block
  readonly binEdges: Block
}

/** Weights of this many neighbouring elements are summed, and then the sums, as NumPy does. */
const PIECE = 65_536

/** How many elements lie in each bin: at or above its left edge and below the right one, which the last has too. */
export function histogram(x: Block, options: HistogramOptions = {}): Histogram {
  const { density = false } = options
  const weights = options.weights ?? undefined
  if (weights !== undefined) checkWeights(x, weights)
  const values = numbersOf(x, 'x')
  const edges = edgesOf(values, x.dtype, options)
  const sums = sumsOf(values, edges, weights === undefined ? undefined : numbersOf(weights, 'weights'))
  const binEdges = edgeBlock(edges, x.dtype, options)
  if (density) return { histogram: densityOf(sums, edges.edges), binEdges }
  return { histogram: weights === undefined ? countsOf(sums) : sumBlock(sums, weights.dtype), binEdges }
}

interface Edges {
  readonly edges: Float64Array
  /** The width of a bin, if all are as wide but for rounding. */
  readonly width: number | undefined
}

/** The sum of each bin's weights, or of ones. */
function sumsOf(values: Float64Array, edges: Edges, weights: Float64Array | undefined): Float64Array {
  const find = edges.width === undefined ? searchBin(edges.edges) : computeBin(edges.edges, edges.width)
  const totals = new Float64Array(edges.edges.length - 1)
  const piece = new Float64Array(totals.length)
  for (let start = 0; start < values.length; start += PIECE) {
    const end = Math.min(values.length, start + PIECE)
    for (let index = start; index < end; index += 1) {
      const bin = find(values[index]!)
      if (bin >= 0) piece[bin] = piece[bin]! + (weights === undefined ? 1 : weights[index]!)
    }
    for (let bin = 0; bin < totals.length; bin += 1) totals[bin] = totals[bin]! + piece[bin]!
    piece.fill(0)
  }
  return totals
}

/** The bin of a value by its distance from the first edge; the edges have the last word where that is rounded. */
function computeBin(edges: Float64Array, width: number): (value: number) => number {
  const last = edges.length - 2
  const first = edges[0]!
  const end = edges[last + 1]!
  return (value) => {
    if (!(value >= first && value <= end)) return -1
    let bin = Math.min(last, Math.floor((value - first) / width))
    while (value < edges[bin]!) bin -= 1
    while (bin < last && value >= edges[bin + 1]!) bin += 1
    return bin
  }
}

/** The bin of a value by halving. */
function searchBin(edges: Float64Array): (value: number) => number {
  const last = edges.length - 2
  return (value) => {
    if (!(value >= edges[0]! && value <= edges[last + 1]!)) return -1
    let low = 0
    let high = last
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (edges[middle]! <= value) low = middle
      else high = middle - 1
    }
    return low
  }
}

function edgesOf(values: Float64Array, dtype: DType, { bins = 10, range }: HistogramOptions): Edges {
  if (typeof bins === 'object') return { edges: givenEdges(bins), width: undefined }
  const count = Number(bins)
  if (!Number.isInteger(count)) throw new ArrayError('TYPE', '`bins` must be an integer or an array')
  if (count < 1) throw new ArrayError('VALUE', '`bins` must be positive, when an integer')
  const [first, last] = outerEdges(values, range)
  const width = (last - first) / count
  const edges = newBlock(float64, [count + 1]).data as Float64Array
  for (let edge = 0; edge <= count; edge += 1)
    edges[edge] = rounded(edge === count ? last : first + edge * width, dtype)
  for (let edge = 0; edge < count; edge += 1)
    if (edges[edge]! >= edges[edge + 1]!)
      throw new ArrayError('VALUE', `Too many bins for data range. Cannot create ${count} finite-sized bins.`)
  return { edges, width }
}

function rounded(edge: number, dtype: DType): number {
  return dtype === float32 ? Math.fround(edge) : edge
}

function givenEdges(bins: readonly number[] | Block): Float64Array {
  const isBlock = 'dtype' in bins
  if (isBlock && bins.shape.length !== 1)
    throw new ArrayError('SHAPE', `\`bins\` must be 1d, when an array, not of shape ${shapeText(bins.shape)}`)
  const edges = isBlock ? numbersOf(bins, 'bins') : Float64Array.from(bins)
  if (edges.length < 2) throw new ArrayError('VALUE', '`bins` must have at least two edges, when an array')
  for (let edge = 1; edge < edges.length; edge += 1)
    if (!(edges[edge - 1]! <= edges[edge]!))
      throw new ArrayError('VALUE', '`bins` must increase monotonically, when an array')
  return edges
}

function outerEdges(values: Float64Array, range: readonly [number, number] | null | undefined): [number, number] {
  let [first, last] = range ?? extremesOf(values)
  if (range && first > last) throw new ArrayError('VALUE', 'max must be larger than min in range parameter.')
  if (!Number.isFinite(first) || !Number.isFinite(last))
    throw new ArrayError('VALUE', `${range ? 'supplied' : 'autodetected'} range of [${first}, ${last}] is not finite`)
  if (first === last) {
    first -= 0.5
    last += 0.5
  }
  return [first, last]
}

function extremesOf(values: Float64Array): [number, number] {
  if (values.length === 0) return [0, 1]
  let least = values[0]!
  let greatest = least
  for (const value of values) {
    if (Number.isNaN(value)) return [value, value]
    if (value < least) least = value
    if (value > greatest) greatest = value
  }
  return [least, greatest]
}

function edgeBlock({ edges }: Edges, dtype: DType, { bins }: HistogramOptions): Block {
  if (typeof bins === 'object' && 'dtype' in bins) return bins
  const type = dtype === float32 && typeof bins !== 'object' ? float32 : float64
  return blockOver(type === float32 ? new Float32Array(edges) : edges, type, [edges.length])
}

/** Counts, or sums of weights, as the density over bins of these edges. */
export function densityOf(totals: Float64Array, edges: Float64Array): Block {
  let sum = 0
  for (const total of totals) sum += total
  const density = totals.map((total, bin) => total / (edges[bin + 1]! - edges[bin]!) / sum)
  return blockOver(density, float64, [density.length])
}

function sumBlock(totals: Float64Array, dtype: DType): Block {
  const block = newBlock(dtype, [totals.length])
  const data = block.data as Exclude<Elements, BigInt64Array | BigUint64Array>
  for (let bin = 0; bin < totals.length; bin += 1) {
    const total = totals[bin]!
    data[bin] = (isWide(dtype) ? BigInt(total) : dtype === bool ? Number(total !== 0) : total) as number
  }
  return block
}

function checkWeights(x: Block, weights: Block): void {
  if (!sameShape(x.shape, weights.shape))
    throw new ArrayError(
      'SHAPE',
      `weights should have the same shape as a: ${shapeText(weights.shape)} and ${shapeText(x.shape)}`,
    )
  if (isComplex(weights.dtype))
    throw new ArrayError(
      'TYPE',
      `weights of ${weights.dtype} cannot be summed; sum the real and the imaginary part apart`,
    )
}
