import { type Block, newResult, sizeOf } from '../blocks/block.ts'
import { contiguous, copyInto, copyOf } from '../blocks/copying.ts'
import {
  axesOf,
  axisOf,
  broadcastShapes,
  broadcastTo,
  permute,
  reshapeView,
  sameShape,
  withoutAxes,
} from '../blocks/layout.ts'
import { ArrayError, shapeText } from '../errors.ts'
import { repeatNatively } from '../kernels/native-selecting.ts'
import { type DType, isInteger } from '../types/dtype.ts'
import { promote } from '../types/promotion.ts'
import { castTo } from './casting.ts'
import { flattened, takeAlong } from './lines.ts'

/** A whole number, as Python's bridge and people write it. */
type Whole = number | bigint

/** Views of all blocks in the shape that they have in common. */
export function broadcastArrays(...arrays: readonly Block[]): Block[] {
  const shape = broadcastShapes(...arrays.map((block) => block.shape))
  return arrays.map((block) => broadcastTo(block, shape))
}

/** The shape that shapes have in common. */
export function commonShape(...shapes: readonly (readonly Whole[])[]): readonly number[] {
  return broadcastShapes(...shapes.map(wholeShape))
}

/** A view of the shape, in which what has an extent of 1 repeats. */
export function broadcastToShape(x: Block, shape: readonly Whole[]): Block {
  return broadcastTo(x, wholeShape(shape))
}

export interface JoinOptions {
  readonly axis?: number | null
}

/** The blocks one after another along an axis; flattened, if the axis is null. */
export function concat(arrays: readonly Block[], options: JoinOptions = {}): Block {
  const { dtype, shape, axis } = concatResult(arrays, options)
  const result = newResult(dtype, shape)
  let start = 0
  for (const block of axis === undefined ? arrays.map(flattened) : arrays) {
    const extent = block.shape[axis ?? 0]!
    copyInto(partOf(result, axis ?? 0, start, extent), castTo(block, dtype))
    start += extent
  }
  return result
}

interface Joined {
  readonly dtype: DType
  readonly shape: readonly number[]
}

/** The type and the shape of `concat`. */
export function concatResult(
  arrays: readonly Block[],
  { axis = 0 }: JoinOptions = {},
): Joined & { readonly axis?: number } {
  const dtype = commonType(arrays, 'concatenate')
  if (axis === null) {
    const size = arrays.reduce((sum, block) => sum + sizeOf(block.shape), 0)
    return { dtype, shape: [size] }
  }
  const first = arrays[0]!.shape
  if (first.length === 0) throw new ArrayError('SHAPE', 'zero-dimensional arrays cannot be concatenated')
  const position = axisOf(axis, first.length)
  let extent = 0
  for (const [index, { shape }] of arrays.entries()) {
    if (!sameShape(shape.toSpliced(position, 1), first.toSpliced(position, 1)) || shape.length !== first.length)
      throw new ArrayError(
        'SHAPE',
        `all the input array dimensions except for the concatenation axis must match exactly, but array at index 0 has ` +
          `shape ${shapeText(first)} and array at index ${index} has shape ${shapeText(shape)}, joined along ${position}`,
      )
    extent += shape[position]!
  }
  return { dtype, shape: first.with(position, extent), axis: position }
}

function commonType(arrays: readonly Block[], what: string): DType {
  const [first, ...others] = arrays
  if (first === undefined) throw new ArrayError('VALUE', `need at least one array to ${what}`)
  return others.reduce((dtype, block) => promote(dtype, block.dtype), first.dtype)
}

/** A view of some neighbouring positions of an axis. */
function partOf(x: Block, axis: number, start: number, extent: number): Block {
  return { ...x, shape: x.shape.with(axis, extent), offset: x.offset + start * x.strides[axis]! }
}

/** A view with axes of extent 1 at these positions of its shape. */
export function expandDims(x: Block, axis: number | readonly number[] = 0): Block {
  const axes = x.shape.length + (typeof axis === 'object' ? axis.length : 1)
  const added = axesOf(axis, axes)
  const shape: number[] = []
  const strides: number[] = []
  for (let position = 0, from = 0; position < axes; position += 1) {
    const isNew = added.includes(position)
    shape.push(isNew ? 1 : x.shape[from]!)
    strides.push(isNew ? 0 : x.strides[from]!)
    if (!isNew) from += 1
  }
  return { ...x, shape, strides }
}

/** A view in which some axes, or all, run backwards. */
export function flip(x: Block, { axis }: { readonly axis?: number | readonly number[] | null } = {}): Block {
  const strides = [...x.strides]
  let { offset } = x
  for (const position of axesOf(axis, x.shape.length)) {
    offset += Math.max(0, x.shape[position]! - 1) * x.strides[position]!
    strides[position] = -x.strides[position]!
  }
  return { ...x, strides, offset }
}

/** A view in which the axes at `source` are at `destination`; the others keep their order. */
export function moveaxis(x: Block, source: number | readonly number[], destination: number | readonly number[]): Block {
  const [from, to] = [source, destination].map((axes) =>
    (typeof axes === 'object' ? axes : [axes]).map((axis) => axisOf(axis, x.shape.length)),
  ) as [number[], number[]]
  if (from.length !== to.length)
    throw new ArrayError('VALUE', '`source` and `destination` arguments must have the same number of elements')
  for (const [name, axes] of [
    ['source', from],
    ['destination', to],
  ] as const)
    if (new Set(axes).size !== axes.length) throw new ArrayError('AXIS', `repeated axis in \`${name}\` argument`)
  const order = x.shape.map((_, axis) => axis).filter((axis) => !from.includes(axis))
  for (const [place, axis] of to.map((place, index) => [place, from[index]!] as const).sort(([a], [b]) => a - b))
    order.splice(place, 0, axis)
  return permute(x, order)
}

/** A view whose axes are those of the block in this order. */
export function permuteDims(x: Block, axes: readonly number[]): Block {
  if (axes.length !== x.shape.length)
    throw new ArrayError('AXIS', `axes don't match array: ${shapeText(axes)} for shape ${shapeText(x.shape)}`)
  const order = axes.map((axis) => axisOf(axis, axes.length))
  if (new Set(order).size !== order.length) throw new ArrayError('AXIS', 'repeated axis in transpose')
  return permute(x, order)
}

/** Each position of an axis, or each element, as often as asked for. */
export function repeat(x: Block, repeats: Block | Whole, { axis }: JoinOptions = {}): Block {
  const from = axis === undefined || axis === null ? flattened(x) : x
  const position = axisOf(axis ?? 0, from.shape.length)
  const extent = from.shape[position]!
  const times = timesOf(repeats, extent)
  if (typeof times === 'number') {
    const isLast = position === from.shape.length - 1
    const repeatedAll = isLast ? repeatNatively(contiguous(from), times) : undefined
    if (repeatedAll !== undefined) return reshapeView(repeatedAll, from.shape.with(position, extent * times))!
    const shape = from.shape.toSpliced(position + 1, 0, times)
    const repeated = broadcastTo(expandDims(from, position + 1), shape)
    return reshapeCopy(repeated, from.shape.with(position, extent * times))
  }
  const positions = new Uint32Array(times.reduce((sum, count) => sum + count, 0))
  let at = 0
  for (const [index, count] of times.entries()) {
    positions.fill(index, at, at + count)
    at += count
  }
  return takeAlong(from, position, positions)
}

/** How often each position is repeated: one number for all, or one for each. */
export function timesOf(repeats: Block | Whole, extent: number): number | number[] {
  if (typeof repeats !== 'object') return nonNegative(repeats)
  if (!isInteger(repeats.dtype))
    throw new ArrayError('TYPE', `repeats must be integers, not ${repeats.dtype}; convert them with astype()`)
  if (repeats.shape.length > 1 || (sizeOf(repeats.shape) !== 1 && sizeOf(repeats.shape) !== extent))
    throw new ArrayError(
      'SHAPE',
      `operands could not be broadcast together with shape ${shapeText([extent])} ${shapeText(repeats.shape)}`,
    )
  const elements = flattened(copyOf(repeats)).data as BigInt64Array
  const times = Array.from(elements, nonNegative)
  return times.length === 1 ? times[0]! : times
}

function nonNegative(count: Whole): number {
  const times = Number(count)
  if (!Number.isInteger(times)) throw new ArrayError('TYPE', `repeats must be a whole number, not ${count}`)
  if (times < 0) throw new ArrayError('VALUE', 'repeats may not contain negative values.')
  return times
}

/** The same elements in row-major order in another shape, of which one extent may be -1: as many as are left. */
export function reshape(x: Block, shape: readonly Whole[], { copy }: { readonly copy?: boolean | null } = {}): Block {
  const wanted = reshapedShape(x.shape, shape)
  if (copy === true) return reshapeCopy(x, wanted)
  const view = reshapeView(x, wanted)
  if (view !== undefined) return view
  if (copy === false)
    throw new ArrayError('VALUE', `unable to avoid creating a copy while reshaping ${shapeText(x.shape)} by strides`)
  return reshapeCopy(x, wanted)
}

function reshapeCopy(x: Block, shape: readonly number[]): Block {
  return reshapeView(copyOf(x), shape)!
}

/** The shape with what -1 stands for. */
export function reshapedShape(from: readonly number[], shape: readonly Whole[]): number[] {
  const wanted = shape.map(Number)
  const size = sizeOf(from)
  const open = wanted.indexOf(-1)
  const known = sizeOf(wanted.toSpliced(open === -1 ? wanted.length : open, open === -1 ? 0 : 1))
  if (wanted.includes(-1, open + 1) && open !== -1)
    throw new ArrayError('VALUE', 'can only specify one unknown dimension')
  if (open !== -1 && known > 0) wanted[open] = size / known
  const fits = wanted.every((extent) => Number.isInteger(extent) && extent >= 0) && sizeOf(wanted) === size
  if (!fits)
    throw new ArrayError('SHAPE', `cannot reshape array of size ${size} into shape ${shapeText(shape.map(Number))}`)
  return wanted
}

/** Elements moved along axes, those beyond the end to the start; without an axis, as if there were one. */
export function roll(
  x: Block,
  shift: Whole | readonly Whole[],
  { axis }: { readonly axis?: number | readonly number[] | null } = {},
): Block {
  if (axis === undefined || axis === null) {
    if (typeof shift === 'object') throw new ArrayError('VALUE', 'a tuple of shifts needs a tuple of axes')
    return reshapeView(roll(flattened(x), shift, { axis: 0 }), x.shape)!
  }
  const axes = (typeof axis === 'object' ? axis : [axis]).map((one) => axisOf(one, x.shape.length))
  const shifts = typeof shift === 'object' ? shift.map(Number) : axes.map(() => Number(shift))
  if (shifts.length !== axes.length)
    throw new ArrayError('VALUE', `'shift' has ${shifts.length} elements, but 'axis' has ${axes.length}`)
  // Shifts of one axis are added up. Then each axis is cut in two, and each of the parts has its place.
  const cuts = x.shape.map(() => 0)
  for (const [index, position] of axes.entries()) cuts[position]! += shifts[index]!
  const result = newResult(x.dtype, x.shape)
  if (sizeOf(x.shape) > 0) rollParts(result, x, cuts, 0)
  return result
}

function rollParts(to: Block, from: Block, cuts: readonly number[], axis: number): void {
  const extent = from.shape[axis]
  if (extent === undefined) {
    copyInto(to, from)
    return
  }
  const cut = ((cuts[axis]! % extent) + extent) % extent
  if (cut > 0) rollParts(partOf(to, axis, 0, cut), partOf(from, axis, extent - cut, cut), cuts, axis + 1)
  rollParts(partOf(to, axis, cut, extent - cut), partOf(from, axis, 0, extent - cut), cuts, axis + 1)
}

/** A view without these axes, which have an extent of 1. */
export function squeeze(x: Block, axis: number | readonly number[]): Block {
  const axes = axesOf(axis, x.shape.length)
  for (const position of axes)
    if (x.shape[position] !== 1)
      throw new ArrayError(
        'SHAPE',
        `cannot select an axis to squeeze out which has size not equal to one: axis ${position} of ${shapeText(x.shape)}`,
      )
  return withoutAxes(x, axes)
}

/** The blocks one after another along an axis that is new. */
export function stack(arrays: readonly Block[], { axis = 0 }: { readonly axis?: number } = {}): Block {
  const { axis: position } = stackResult(arrays, { axis })
  return concat(
    arrays.map((block) => expandDims(block, position)),
    { axis: position },
  )
}

/** The type and the shape of `stack`. */
export function stackResult(
  arrays: readonly Block[],
  { axis = 0 }: { readonly axis?: number } = {},
): Joined & { readonly axis: number } {
  const dtype = commonType(arrays, 'stack')
  const { shape } = arrays[0]!
  for (const other of arrays)
    if (!sameShape(other.shape, shape))
      throw new ArrayError(
        'SHAPE',
        `all input arrays must have the same shape, not ${shapeText(shape)} and ${shapeText(other.shape)}`,
      )
  const position = axisOf(axis, shape.length + 1)
  return { dtype, shape: shape.toSpliced(position, 0, arrays.length), axis: position }
}

/** The block several times beside itself along each axis. Axes are matched from the last on. */
export function tile(x: Block, repetitions: readonly Whole[]): Block {
  const counts = wholeShape(repetitions)
  const axes = Math.max(counts.length, x.shape.length)
  const times = [...new Array<number>(axes - counts.length).fill(1), ...counts]
  const from = broadcastTo(x, [...new Array<number>(axes - x.shape.length).fill(1), ...x.shape])
  // Before each axis stands one for the repetitions, along which nothing moves.
  const shape = from.shape.flatMap((extent, axis) => [times[axis]!, extent])
  const strides = from.strides.flatMap((stride) => [0, stride])
  return reshapeCopy(
    { ...from, shape, strides },
    from.shape.map((extent, axis) => extent * times[axis]!),
  )
}

/** Views of the positions of an axis. */
export function unstack(x: Block, { axis = 0 }: { readonly axis?: number } = {}): Block[] {
  const position = axisOf(axis, x.shape.length)
  return Array.from({ length: x.shape[position]! }, (_, index) => withoutAxes(x, [position], [index]))
}

function wholeShape(shape: readonly Whole[]): number[] {
  return shape.map((extent) => {
    const whole = Number(extent)
    if (!Number.isInteger(whole) || whole < 0)
      throw new ArrayError('VALUE', `an extent is a whole number and not negative, not ${extent}`)
    return whole
  })
}
