import { type Block, blockOver, newBlock } from '../blocks/block.ts'
import { contiguous } from '../blocks/copying.ts'
import { ArrayError, shapeText } from '../errors.ts'
import { kernels } from '../kernels/call.ts'
import { countBinsNatively } from '../kernels/native-selecting.ts'
import { float64, int64, isInteger } from '../types/dtype.ts'
import { castTo } from './casting.ts'
import { numbersOf } from './numbers.ts'
import { max, min } from './statistics.ts'

export interface BincountOptions {
  /** What each element counts, instead of 1. */
  readonly weights?: Block | null
  /** How many bins there are at least. */
  readonly minlength?: number
}

/** How often each integer from 0 on is an element, as int64; with weights the sum of these, as float64. */
export function bincount(x: Block, options: BincountOptions = {}): Block {
  const { weights, minlength = 0 } = options
  if (!isInteger(x.dtype)) throw new ArrayError('TYPE', `bincount counts integers, not ${x.dtype}; use astype()`)
  if (x.shape.length !== 1)
    throw new ArrayError('SHAPE', `bincount takes an array of one axis, not of shape ${shapeText(x.shape)}`)
  if (!Number.isInteger(minlength) || minlength < 0) throw new ArrayError('VALUE', "'minlength' must not be negative")
  if (weights && (weights.shape.length !== 1 || weights.shape[0] !== x.shape[0]))
    throw new ArrayError(
      'SHAPE',
      `the weights and list don't have the same length: shapes ${shapeText(weights.shape)} and ${shapeText(x.shape)}`,
    )
  const counts = weights ? undefined : countedNatively(x, minlength)
  if (counts !== undefined) return counts
  const bins = numbersOf(x, 'x')
  const sums = sumsByBin(bins, binsOf(bins, minlength), weights ? numbersOf(weights, 'weights') : undefined)
  return weights ? blockOver(sums, float64, [sums.length]) : countsOf(sums)
}

/** Undefined where the twin has to count, which also says what is wrong with an element. */
function countedNatively(x: Block, minlength: number): Block | undefined {
  if (x.shape[0]! < NATIVE_MIN || kernels() === undefined) return undefined
  const least = Number(min(x).data[0])
  const count = Math.max(minlength, Number(max(x).data[0]) + 1)
  if (least < 0 || count > BINS_MAX) return undefined
  const counts = newBlock(int64, [count])
  return countBinsNatively(contiguous(castTo(x, int64)), counts) ? counts : undefined
}

const BINS_MAX = 2 ** 32 - 1
/** To look for the least and the greatest of fewer takes longer than to count them here. */
const NATIVE_MIN = 4096

/** Counts, which are exact as float64, as int64. */
export function countsOf(sums: Float64Array): Block {
  const block = newBlock(int64, [sums.length])
  for (let bin = 0; bin < sums.length; bin += 1) (block.data as BigInt64Array)[bin] = BigInt(sums[bin]!)
  return block
}

/** The sum of weights, or of ones, of each bin, in the order of the elements. */
function sumsByBin(bins: Float64Array, count: number, weights: Float64Array | undefined): Float64Array {
  const sums = new Float64Array(count)
  if (weights === undefined) {
    for (let index = 0; index < bins.length; index += 1) sums[bins[index]!]! += 1
    return sums
  }
  for (let index = 0; index < bins.length; index += 1) {
    const bin = bins[index]!
    sums[bin] = sums[bin]! + weights[index]!
  }
  return sums
}

function binsOf(bins: Float64Array, least: number): number {
  let count = least
  for (let index = 0; index < bins.length; index += 1) {
    const bin = bins[index]!
    if (bin < 0) throw new ArrayError('VALUE', "'list' argument must have no negative elements")
    if (bin >= count) count = bin + 1
  }
  if (count > BINS_MAX)
    throw new ArrayError('MEMORY', `${count} bins are too many: the largest element is ${count - 1}`)
  return count
}
