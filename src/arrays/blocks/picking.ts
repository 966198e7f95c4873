import { ArrayError, shapeText } from '../errors.ts'
import { type DType, type Elements, isInteger } from '../types/dtype.ts'
import { type Block, newResult, sizeOf } from './block.ts'
import { copyOf, elementsOf, rowsOf } from './copying.ts'
import { broadcastShapes, broadcastTo } from './layout.ts'
import { takeComplex, takeNumbers } from './runs.ts'

/**
 * Elements that lists of indices pick ("vectorised indexing"). The axes that are
 * picked from go. Those of the index arrays' common shape come instead: where the first of them was, or in front.
 */
export interface Picking {
  /** The axes that stay, before and after those that come. */
  readonly before: readonly number[]
  readonly after: readonly number[]
  /** The common shape of the indices, and for each of its elements how far its elements lie from the block's first. */
  readonly shape: readonly number[]
  readonly places: Float64Array
}

/** @throws ArrayError for an index outside of its axis */
export function pickingOf(block: Block, axes: readonly number[], indices: readonly Block[], inFront: boolean): Picking {
  const shape = broadcastIndices(indices)
  const places = new Float64Array(sizeOf(shape))
  axes.forEach((axis, index) => {
    addPlaces(places, elementsOf(broadcastTo(indices[index]!, shape)), block, axis)
  })
  const stay = block.shape.map((_, axis) => axis).filter((axis) => !axes.includes(axis))
  const first = inFront ? 0 : Math.min(...axes)
  return {
    before: stay.filter((axis) => axis < first),
    after: stay.filter((axis) => axis > first || inFront),
    shape,
    places,
  }
}

function broadcastIndices(indices: readonly Block[]): readonly number[] {
  const shapes = indices.map(({ shape }) => shape)
  try {
    return broadcastShapes(...shapes)
  } catch (cause) {
    const text = shapes.map(shapeText).join(' ')
    throw new ArrayError(
      'INDEX',
      `shape mismatch: indexing arrays could not be broadcast together with shapes ${text}`,
      { cause },
    )
  }
}

function addPlaces(places: Float64Array, indices: Elements, block: Block, axis: number): void {
  const extent = block.shape[axis]!
  const stride = block.strides[axis]!
  for (let place = 0; place < places.length; place += 1) {
    const index = Number(indices[place])
    if (index < -extent || index >= extent)
      throw new ArrayError('INDEX', `index ${index} is out of bounds for axis ${axis} with size ${extent}`)
    places[place] = places[place]! + (index < 0 ? index + extent : index) * stride
  }
}

export function checkIndices(dtype: DType): void {
  if (!isInteger(dtype))
    throw new ArrayError('INDEX', `arrays used as indices must be of integer (or boolean) type, not ${dtype}`)
}

function shapeOfPicking(block: Block, { before, shape, after }: Picking): number[] {
  const extent = (axis: number): number => block.shape[axis]!
  return [...before.map(extent), ...shape, ...after.map(extent)]
}

/** The picked elements, in new memory. */
export function pick(block: Block, picking: Picking): Block {
  const picked = newResult(block.dtype, shapeOfPicking(block, picking))
  const take = block.dtype.lanes === 2 ? takeComplex : takeNumbers
  eachPicked(block, picking, picked, (place, step, at, atStep, count) => {
    take(picked.data, at, atStep, block.data, place, step, count)
  })
  return picked
}

/** Writes to the picked elements, in the order of indices: where one is picked twice the last value stays. */
export function putPicked(block: Block, picking: Picking, value: Block): void {
  const values = copyOf(broadcastTo(value, shapeOfPicking(block, picking)))
  const take = block.dtype.lanes === 2 ? takeComplex : takeNumbers
  eachPicked(block, picking, values, (place, step, at, atStep, count) => {
    take(block.data, place, step, values.data, at, atStep, count)
  })
}

/** Visits runs of elements: where they lie in the block, and where in a row-major block of the picked shape. */
function eachPicked(
  block: Block,
  { before, after, shape, places }: Picking,
  picked: Block,
  visit: (place: number, step: number, at: number, atStep: number, count: number) => void,
): void {
  if (sizeOf(picked.shape) === 0) return
  const outer = rowsOf(
    before.map((axis) => block.shape[axis]!),
    [before.map((axis) => block.strides[axis]!), picked.strides.slice(0, before.length)],
  )
  const afterStart = before.length + shape.length
  const inner = rowsOf(
    after.map((axis) => block.shape[axis]!),
    [after.map((axis) => block.strides[axis]!), picked.strides.slice(afterStart)],
  )
  const step = after.reduce((size, axis) => size * block.shape[axis]!, 1)
  const [outerStep = 0, outerAt = 0] = outer.steps
  const [innerStep = 0, innerAt = 0] = inner.steps
  outer.each(([place = 0, at = 0]) => {
    for (let index = 0; index < outer.length; index += 1) {
      const from = block.offset + place + index * outerStep
      const to = at + index * outerAt
      if (after.length === 0) {
        for (let one = 0; one < places.length; one += 1) visit(from + places[one]!, 0, to + one, 0, 1)
        continue
      }
      for (let one = 0; one < places.length; one += 1)
        inner.each(([innerPlace = 0, innerTo = 0]) => {
          visit(from + places[one]! + innerPlace, innerStep, to + one * step + innerTo, innerAt, inner.length)
        })
    }
  })
}

/** For each axis of a mask the indices of its true elements, in row-major order. */
export function indicesOfTrue(mask: Block): Float64Array[] {
  const elements = elementsOf(mask)
  let count = 0
  for (let index = 0; index < elements.length; index += 1) if (elements[index]) count += 1
  const indices = mask.shape.map(() => new Float64Array(count))
  let found = 0
  for (let index = 0; index < elements.length; index += 1) {
    if (!elements[index]) continue
    let left = index
    for (let axis = mask.shape.length - 1; axis >= 0; axis -= 1) {
      const extent = mask.shape[axis]!
      const position = left % extent
      ;(indices[axis] as Float64Array)[found] = position
      left = (left - position) / extent
    }
    found += 1
  }
  return indices
}
