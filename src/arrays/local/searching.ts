import { type Block, blockOver, sizeOf } from '../blocks/block.ts'
import { contiguous, elementsOf } from '../blocks/copying.ts'
import { sameShape } from '../blocks/layout.ts'
import { ArrayError, shapeText } from '../errors.ts'
import { countNatively, placesNatively } from '../kernels/native-selecting.ts'
import { bool, type DType, int64, isComplex, isInteger } from '../types/dtype.ts'
import { promote } from '../types/promotion.ts'
import { castTo, maskOf } from './casting.ts'
import { flattened, linesOf, takeRows } from './lines.ts'
import { compareKeys, type Keys, keysOf } from './ordering.ts'
import { type ReductionOptions, reduce, reducedShape } from './reduction.ts'
import { indexBlock } from './sorting.ts'
import { max, min } from './statistics.ts'
import { addWords, countOfTrue } from './sums.ts'

export interface ArgumentOptions {
  readonly axis?: number | null
  readonly keepdims?: boolean
}

/** Where the first of the greatest elements is; where the first NaN is, if there is one. */
export function argmax(x: Block, options: ArgumentOptions = {}): Block {
  return argumentOf(x, options, 'argmax')
}

/** Where the first of the least elements is; where the first NaN is, if there is one. */
export function argmin(x: Block, options: ArgumentOptions = {}): Block {
  return argumentOf(x, options, 'argmin')
}

/** The type and the shape of `argmax` and `argmin`. */
export function argumentResult(name: 'argmax' | 'argmin') {
  return ({ dtype, shape }: Block, { axis, keepdims = false }: ArgumentOptions = {}): Result => {
    if (isComplex(dtype))
      throw new ArrayError('TYPE', `Only real-valued data types are allowed in ${name}, not ${dtype}`)
    const reduced = reducedShape(shape, { axis: axis ?? null, keepdims })
    if (sizeOf(shape) === 0 && sizeOf(reduced) > 0)
      throw new ArrayError('VALUE', `attempt to get ${name} of an empty sequence`)
    return { dtype: int64, shape: reduced }
  }
}

interface Result {
  readonly dtype: DType
  readonly shape: readonly number[]
}

/** The greatest or least of each line, then where it is: both are loops of the engine or the addon. */
function argumentOf(x: Block, options: ArgumentOptions, name: 'argmax' | 'argmin'): Block {
  const { shape } = argumentResult(name)(x, options)
  const { axis } = options
  const whole = axis === undefined || axis === null
  const { block, length } = linesOf(whole ? flattened(x) : x, whole ? 0 : axis)
  const extremes = (name === 'argmax' ? max : min)(block, { axis: -1 }).data as Float64Array
  const elements = elementsOf(block) as Float64Array
  const positions = new Uint32Array(sizeOf(shape))
  for (let line = 0; line < positions.length; line += 1) {
    const start = line * length
    const extreme = extremes[line]!
    positions[line] = Number.isNaN(extreme)
      ? elements.subarray(start, start + length).findIndex(Number.isNaN)
      : elements.indexOf(extreme, start) - start
  }
  return indexBlock(positions, shape)
}

/** How many elements are not zero. */
export function countNonzero(x: Block, options: ReductionOptions = {}): Block {
  const mask = maskOf(x)
  const count = countOfAll(mask, options)
  if (count !== undefined) return blockOver(BigInt64Array.of(BigInt(count)), int64, reducedShape(x.shape, options))
  return reduce(mask, options, { to: int64, from: bool, piece: countOfTrue, join: addWords })
}

/** How many elements of a mask are true, if all of them are counted together and the addon can do it. */
export function countOfAll(mask: Block, options: ReductionOptions): number | undefined {
  return sizeOf(reducedShape(mask.shape, options)) === 1 ? countNatively(mask) : undefined
}

/** The indices of the elements that are not zero, a block for each axis, in row-major order. */
export function nonzero(x: Block): Block[] {
  if (x.shape.length === 0)
    throw new ArrayError('SHAPE', 'Calling nonzero on 0d arrays is not allowed. Use reshape(x, [1]) first')
  const mask = maskOf(x)
  const places = placesNatively(mask)
  if (places !== undefined && x.shape.length === 1) return [places]
  const found =
    places === undefined ? placesOfTrue(elementsOf(mask) as Uint8Array) : lowHalves(places.data as BigInt64Array)
  const count = found.length
  // The last axis first: what remains of a position is that among the axes before.
  const indices: Block[] = []
  for (const extent of [...x.shape].reverse()) {
    const along = new Uint32Array(count)
    if (indices.length === x.shape.length - 1) along.set(found)
    else
      for (let index = 0; index < count; index += 1) {
        const position = found[index]!
        const rest = Math.floor(position / extent)
        along[index] = position - rest * extent
        found[index] = rest
      }
    indices.unshift(indexBlock(along, [count]))
  }
  return indices
}

function placesOfTrue(mask: Uint8Array): Uint32Array {
  let count = 0
  for (let index = 0; index < mask.length; index += 1) count += mask[index]!
  const found = new Uint32Array(count)
  for (let index = 0, at = 0; at < count; index += 1) {
    found[at] = index
    at += mask[index]!
  }
  return found
}

/** Of numbers below 2^32. */
function lowHalves(numbers: BigInt64Array): Uint32Array {
  const halves = new Uint32Array(numbers.buffer, numbers.byteOffset, 2 * numbers.length)
  return Uint32Array.from(numbers, (_, index) => halves[2 * index]!)
}

export interface SearchOptions {
  /** Before the elements that are equal to the one looked for, or after. */
  readonly side?: 'left' | 'right'
  /** Positions that sort the first operand. */
  readonly sorter?: Block | null
}

/** Where elements of the second block belong in the first, which is sorted. */
export function searchsorted(x1: Block, x2: Block, options: SearchOptions = {}): Block {
  searchsortedResult(x1, x2, options)
  const { side = 'left', sorter } = options
  const common = promote(x1.dtype, x2.dtype)
  const sorted = contiguous(castTo(x1, common))
  const within = keysOf(sorter === undefined || sorter === null ? sorted : takeSorted(sorted, sorter))
  const wanted = keysOf(contiguous(castTo(x2, common)))
  return indexBlock(placesOf(within, wanted, side), x2.shape)
}

/** The type and the shape of `searchsorted`. */
export function searchsortedResult(x1: Block, x2: Block, { side = 'left', sorter }: SearchOptions = {}): Result {
  if (x1.shape.length !== 1)
    throw new ArrayError('SHAPE', `searchsorted needs a first array of one axis, not of shape ${shapeText(x1.shape)}`)
  if (side !== 'left' && side !== 'right')
    throw new ArrayError('VALUE', `search side must be 'left' or 'right' (got '${String(side)}')`)
  if (sorter !== undefined && sorter !== null) {
    if (!isInteger(sorter.dtype)) throw new ArrayError('TYPE', `sorter must only contain integers, not ${sorter.dtype}`)
    if (!sameShape(sorter.shape, x1.shape))
      throw new ArrayError('SHAPE', `sorter has shape ${shapeText(sorter.shape)}, but must have ${shapeText(x1.shape)}`)
  }
  promote(x1.dtype, x2.dtype)
  return { dtype: int64, shape: x2.shape }
}

function takeSorted(x: Block, sorter: Block): Block {
  const extent = x.shape[0]!
  return takeRows(x, extent, positionsOf(sorter, extent), x.shape)
}

/** Elements of an integer block as positions along an axis of the extent; negative ones count from its end. */
function positionsOf(indices: Block, extent: number): Uint32Array {
  const elements = elementsOf(indices)
  const positions = new Uint32Array(elements.length)
  for (let at = 0; at < elements.length; at += 1) {
    const index = Number(elements[at])
    if (index < -extent || index >= extent)
      throw new ArrayError('INDEX', `index ${index} is out of bounds for axis 0 with size ${extent}`)
    positions[at] = index < 0 ? index + extent : index
  }
  return positions
}

/** For each wanted key, how many of the sorted keys are before it; equal ones are if the side is right. */
export function placesOf(within: Keys, wanted: Keys, side: 'left' | 'right'): Uint32Array {
  const places = new Uint32Array(wanted.count)
  const [single, looked] = within.words.length === 1 ? [within.words[0], wanted.words[0]] : []
  const bound = side === 'left' ? 0 : 1
  for (let index = 0; index < wanted.count; index += 1) {
    let low = 0
    let high = within.count
    while (low < high) {
      const middle = (low + high) >>> 1
      const difference =
        single !== undefined
          ? single[middle]! - looked![index]!
          : compareKeys(within.words, middle, wanted.words, index)
      if (difference < bound) low = middle + 1
      else high = middle
    }
    places[index] = low
  }
  return places
}
