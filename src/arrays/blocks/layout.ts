import { ArrayError, shapeText } from '../errors.ts'
import { type Block, isContiguous, rowMajor, sizeOf } from './block.ts'

export function sameShape(first: readonly number[], second: readonly number[]): boolean {
  if (first === second) return true
  if (first.length !== second.length) return false
  for (let axis = 0; axis < first.length; axis += 1) if (first[axis] !== second[axis]) return false
  return true
}

/** The shape that all have in common: axes are matched from the last on, and an extent of 1 stretches. */
export function broadcastShapes(...shapes: readonly (readonly number[])[]): readonly number[] {
  const first = shapes[0] ?? []
  let alike = 1
  while (alike < shapes.length && sameShape(first, shapes[alike]!)) alike += 1
  if (alike >= shapes.length) return first
  const axes = Math.max(...shapes.map((shape) => shape.length))
  const common = new Array<number>(axes).fill(1)
  for (const shape of shapes) {
    for (let axis = axes - shape.length; axis < axes; axis += 1) {
      const extent = shape[axis - axes + shape.length]!
      if (common[axis] === 1) common[axis] = extent
      else if (extent !== 1 && extent !== common[axis]) throw cannotBroadcast(shapes)
    }
  }
  return common
}

function cannotBroadcast(shapes: readonly (readonly number[])[]): ArrayError {
  const text = shapes.map(shapeText).join(' ')
  return new ArrayError('SHAPE', `operands could not be broadcast together with shapes ${text}`)
}

/** A view of the shape: what has an extent of 1, or is not there, repeats by a stride of 0. */
export function broadcastTo(block: Block, shape: readonly number[]): Block {
  if (sameShape(block.shape, shape)) return block
  const added = shape.length - block.shape.length
  const fits = added >= 0 && block.shape.every((extent, axis) => extent === 1 || extent === shape[axis + added])
  if (!fits)
    throw new ArrayError(
      'SHAPE',
      `could not broadcast input array from shape ${shapeText(block.shape)} into shape ${shapeText(shape)}`,
    )
  const strides = shape.map((_, axis) => ((block.shape[axis - added] ?? 1) === 1 ? 0 : block.strides[axis - added]!))
  return { ...block, shape: [...shape], strides }
}

/** The axis counted from 0; a negative one counts from the end. @throws ArrayError */
export function axisOf(axis: number | bigint, axes: number): number {
  const position = Number(axis)
  if (!Number.isInteger(position)) throw new ArrayError('AXIS', `an axis must be a whole number, not ${axis}`)
  if (position < -axes || position >= axes)
    throw new ArrayError('AXIS', `axis ${axis} is out of bounds for array of dimension ${axes}`)
  return position < 0 ? position + axes : position
}

/** The axes of an argument that may be one, several, or none, which means all; in rising order. @throws ArrayError */
export function axesOf(axis: number | readonly number[] | null | undefined, axes: number): number[] {
  if (typeof axis === 'number') return [axisOf(axis, axes)]
  if (axis === undefined || axis === null) {
    const all = new Array<number>(axes)
    for (let position = 0; position < axes; position += 1) all[position] = position
    return all
  }
  const chosen = (typeof axis === 'object' ? axis : [axis]).map((one) => axisOf(one, axes))
  if (new Set(chosen).size !== chosen.length) throw new ArrayError('AXIS', 'duplicate value in axis')
  return chosen.sort((first, second) => first - second)
}

/** A view whose axes are those of the block in another order. */
export function permute(block: Block, order: readonly number[]): Block {
  return {
    ...block,
    shape: order.map((axis) => block.shape[axis]!),
    strides: order.map((axis) => block.strides[axis]!),
  }
}

/** A view in which one axis of extent 1 more stands before `axis`. */
export function withAxis(block: Block, axis: number): Block {
  return { ...block, shape: block.shape.toSpliced(axis, 0, 1), strides: block.strides.toSpliced(axis, 0, 0) }
}

/** A view without the axes, of which one element each stays: that at the given positions, or at 0. */
export function withoutAxes(block: Block, axes: readonly number[], positions: readonly number[] = []): Block {
  let { offset } = block
  axes.forEach((axis, index) => {
    offset += (positions[index] ?? 0) * block.strides[axis]!
  })
  const stays = (_: number, axis: number): boolean => !axes.includes(axis)
  return { ...block, offset, shape: block.shape.filter(stays), strides: block.strides.filter(stays) }
}

/** A view of another shape with as many elements in row-major order; undefined where only a copy has it. */
export function reshapeView(block: Block, shape: readonly number[]): Block | undefined {
  if (isContiguous(block)) return { ...block, shape: [...shape], strides: rowMajor(shape) }
  if (sizeOf(shape) === 0) return undefined
  const strides = new Array<number>(shape.length).fill(0)
  // Axes of old and new shape are grouped from the left so that both groups hold as many elements. What is one group of
  // the new shape can be a view if the old axes of the group lie behind each other.
  const old = block.shape
    .map((extent, axis) => ({ extent, stride: block.strides[axis]! }))
    .filter(({ extent }) => extent !== 1)
  let from = 0
  let to = 0
  while (from < old.length && to < shape.length) {
    let until = from + 1
    let upTo = to + 1
    let have = old[from]!.extent
    let want = shape[to]!
    while (have !== want) {
      if (have < want) have *= old[until++]!.extent
      else want *= shape[upTo++]!
    }
    for (let axis = from; axis + 1 < until; axis += 1) {
      const next = old[axis + 1]!
      if (old[axis]!.stride !== next.stride * next.extent) return undefined
    }
    let stride = old[until - 1]!.stride
    for (let axis = upTo - 1; axis >= to; axis -= 1) {
      strides[axis] = stride
      stride *= shape[axis]!
    }
    from = until
    to = upTo
  }
  return { ...block, shape: [...shape], strides }
}
