import { type Block, newBlock, sizeOf, tooLarge } from '../../blocks/block.ts'
import { copyOf, elementsOf } from '../../blocks/copying.ts'
import { writeElement } from '../../blocks/elements.ts'
import { axesOf, axisOf, broadcastShapes, broadcastTo, sameShape } from '../../blocks/layout.ts'
import { checkIndices } from '../../blocks/picking.ts'
import type { Selection } from '../../blocks/slicing.ts'
import { ArrayError } from '../../errors.ts'
import { exchange, flatRoute, routeOf } from '../../exchange/redistribution.ts'
import type { Steps } from '../../exchange/steps.ts'
import { nodeOf } from '../../functions/as-node.ts'
import { gathered } from '../../functions/indexing.ts'
import { demand } from '../../graph/demand.ts'
import { ArrayNode } from '../../graph/node.ts'
import { castTo } from '../../local/casting.ts'
import { reshapedShape, timesOf } from '../../local/manipulation.ts'
import { RandomGenerator } from '../../local/random/generator.ts'
import {
  type AxisMap,
  pickedMap,
  repeatedMap,
  rolledMap,
  shiftedMap,
  slicedMap,
  tiledMap,
} from '../../partitions/axis-map.ts'
import { indexOfPlace } from '../../partitions/axis-partition.ts'
import { divide, likePartition, type Partition } from '../../partitions/partition.ts'
import type { DType } from '../../types/dtype.ts'
import { elementOf } from '../../types/scalar.ts'
import { carried, computedByPart, Distribution, exchanged, partitionOf, type Sharing } from '../distribution.ts'
import { type LocalOptions, optionsOf, type Rule } from './rule.ts'

/** A rule for functions of one array, which is the first operand. */
function ofArray(
  rule: (sharing: Sharing, x: ArrayNode, others: readonly unknown[], options: LocalOptions) => unknown,
): Rule {
  return (sharing, _, [x, ...others]) =>
    x instanceof ArrayNode ? rule(sharing, x, others, optionsOf(others)) : undefined
}

/** The result of an array of as many axes, some of which are mapped. */
function mapped(
  sharing: Sharing,
  x: ArrayNode,
  shape: readonly number[],
  maps: readonly (AxisMap | undefined)[],
): ArrayNode {
  // Places beyond cannot even be counted.
  if (!Number.isSafeInteger(sizeOf(shape))) throw tooLarge(x.dtype, shape)
  return carried(sharing, x, likePartition(partitionOf(sharing, x), shape), maps)
}

// ---- axes in another order, more of them, or fewer: views
// -----------------------------------------------------------------------------------------------------------------

const permuted = ofArray((_, x, [order]) => {
  if (!Array.isArray(order)) return undefined
  const axes = order.map((axis) => axisOf(axis as number, x.shape.length))
  return new Set(axes).size === x.shape.length && axes.length === x.shape.length
    ? x.spread?.permuted(x, axes)
    : undefined
})

const transposed = ofArray((_, x) => {
  if (x.shape.length < 2) return undefined
  const order = [...x.shape.keys()]
  order.push(...order.splice(-2).reverse())
  return x.spread?.permuted(x, order)
})

const movedAxes = ofArray((_, x, [source, destination]) => {
  const [from, to] = [source, destination].map((axes) =>
    (Array.isArray(axes) ? (axes as number[]) : [axes as number]).map((axis) => axisOf(axis, x.shape.length)),
  ) as [number[], number[]]
  if (from.length !== to.length || new Set(from).size !== from.length || new Set(to).size !== to.length)
    return undefined
  const order = [...x.shape.keys()].filter((axis) => !from.includes(axis))
  for (const [place, axis] of to.map((place, at) => [place, from[at]!] as const).sort(([a], [b]) => a - b))
    order.splice(place, 0, axis)
  return x.spread?.permuted(x, order)
})

/** All of each axis. */
function wholeSelections(shape: readonly number[]): Selection[] {
  return shape.map((count, axis) => ({ kind: 'slice', axis, start: 0, count, step: 1 }))
}

/** With axes of extent 1 at these places of the result. */
function withAxes(sharing: Sharing, x: ArrayNode, added: readonly number[]): ArrayNode {
  const selections = wholeSelections(x.shape)
  for (const place of added) selections.splice(place, 0, { kind: 'new' })
  return sharing.select(x, selections)
}

const expanded = ofArray((sharing, x, [axis = 0]) => {
  const count = Array.isArray(axis) ? axis.length : 1
  return withAxes(sharing, x, axesOf(axis as number | number[], x.shape.length + count))
})

const squeezed = ofArray((sharing, x, [axis]) => {
  const axes = axesOf(axis as number | number[], x.shape.length)
  if (axes.some((each) => x.shape[each] !== 1)) return undefined
  const selections = wholeSelections(x.shape)
  return sharing.select(
    x,
    selections.map((each, at) => (axes.includes(at) ? { kind: 'one', axis: at, position: 0 } : each)),
  )
})

const unstacked = ofArray((sharing, x, _, { axis = 0 }) => {
  const at = axisOf(axis as number, x.shape.length)
  return Array.from({ length: x.shape[at]! }, (__, position) =>
    sharing.select(x, wholeSelections(x.shape).with(at, { kind: 'one', axis: at, position })),
  )
})

/** Each rank stretches its part; what does not fit the largest operand moves to it. */
function stretchedTo(
  sharing: Sharing,
  arrays: readonly ArrayNode[],
  shape: readonly number[],
): ArrayNode[] | undefined {
  const spread = arrays.find((array) => array.spread !== undefined)?.spread
  const aligned = spread?.align(arrays, shape)
  const target = aligned?.spread
  if (!(target instanceof Distribution)) return undefined
  return aligned!.operands.map((array) =>
    computedByPart(sharing, array.dtype, target.partition, [array], ([part]) =>
      copyOf(broadcastTo(part!, target.shape)),
    ),
  )
}

const broadcast = ofArray((sharing, x, [shape]) => {
  const wanted = (shape as readonly (number | bigint)[]).map(Number)
  const added = wanted.length - x.shape.length
  const isStretch = x.shape.every((extent, axis) => extent === 1 || extent === wanted[axis + added])
  if (added < 0 || !isStretch || !wanted.every((extent) => Number.isInteger(extent) && extent >= 0)) return undefined
  return stretchedTo(sharing, [x], wanted)?.[0]
})

const broadcastAll: Rule = (sharing, _, arrays) => {
  const nodes = arrays as readonly ArrayNode[]
  return stretchedTo(sharing, nodes, broadcastShapes(...nodes.map(({ shape }) => shape)))
}

// ---- elements at other indices
// -----------------------------------------------------------------------------------------------------------------

const flipped = ofArray((sharing, x, _, { axis }) => {
  const maps: AxisMap[] = []
  for (const each of axesOf(axis as number | number[] | null, x.shape.length)) {
    const count = x.shape[each]!
    maps[each] = slicedMap({ start: count - 1, count, step: -1 })
  }
  return mapped(sharing, x, x.shape, maps)
})

const rolled = ofArray((sharing, x, [shift], { axis }) => {
  if (axis === undefined || axis === null) {
    if (Array.isArray(shift) || x.shape.length === 0) return undefined
    const flat = reshapedTo(sharing, x, [sizeOf(x.shape)])
    return reshapedTo(sharing, mapped(sharing, flat, flat.shape, [rolledMap(flat.shape[0]!, Number(shift))]), x.shape)
  }
  const axes = [axis].flat().map((each) => axisOf(each as number, x.shape.length))
  const shifts = Array.isArray(shift) ? shift.map(Number) : axes.map(() => Number(shift))
  if (shifts.length !== axes.length) return undefined
  const sums = x.shape.map(() => 0)
  for (const [at, each] of axes.entries()) sums[each]! += shifts[at]!
  return mapped(
    sharing,
    x,
    x.shape,
    sums.map((sum, each) => (axes.includes(each) ? rolledMap(x.shape[each]!, sum) : undefined)),
  )
})

/** Half of each axis, as fft.fftshift() and its inverse have it. */
const shifted = (half: (extent: number) => number): Rule =>
  ofArray((sharing, x, _, { axes }) => {
    const chosen = axesOf(axes as number | number[] | null, x.shape.length)
    return mapped(
      sharing,
      x,
      x.shape,
      x.shape.map((extent, axis) => (chosen.includes(axis) ? rolledMap(extent, half(extent)) : undefined)),
    )
  })

/** The elements at indices of an axis, which every rank gets. @throws ArrayError */
export function takenAlong(sharing: Sharing, x: ArrayNode, indices: ArrayNode, axis: number): ArrayNode {
  const extent = x.shape[axis]!
  const elements = elementsOf(demand(gathered(indices)))
  const positions = new Float64Array(elements.length)
  for (let at = 0; at < positions.length; at += 1) {
    const index = Number(elements[at])
    if (index < -extent || index >= extent)
      throw new ArrayError('INDEX', `index ${index} is out of bounds for axis ${axis} with size ${extent}`)
    positions[at] = index < 0 ? index + extent : index
  }
  const maps: AxisMap[] = []
  maps[axis] = pickedMap(positions)
  const { shape } = indices
  const flat = mapped(sharing, x, x.shape.with(axis, positions.length), maps)
  return shape.length === 1 ? flat : reshapedTo(sharing, flat, x.shape.toSpliced(axis, 1, ...shape))
}

const taken = ofArray((sharing, x, [indices], { axis }) => {
  if (!(indices instanceof ArrayNode) || (axis === undefined && x.shape.length !== 1)) return undefined
  checkIndices(indices.dtype)
  return takenAlong(sharing, x, indices, axisOf((axis as number) ?? 0, x.shape.length))
})

/** Every rank draws the order, and gets the elements of its part. */
const shuffled: Rule = (sharing, _, [stream, x, ...others]) => {
  if (!(stream instanceof RandomGenerator && x instanceof ArrayNode)) return undefined
  const { axis = 0 } = optionsOf(others) as { readonly axis?: number }
  const at = axisOf(axis, x.shape.length)
  return takenAlong(sharing, x, nodeOf(stream.permutation(x.shape[at]!)), at)
}

const repeated = ofArray((sharing, x, [repeats], { axis }) => {
  const isFlat = axis === undefined || axis === null
  if (isFlat && x.shape.length === 0) return undefined
  const from = isFlat ? reshapedTo(sharing, x, [sizeOf(x.shape)]) : x
  const at = axisOf(isFlat ? 0 : (axis as number), from.shape.length)
  const extent = from.shape[at]!
  const block = repeats instanceof ArrayNode ? demand(gathered(repeats)) : (repeats as number)
  const times = timesOf(block, extent)
  const each = typeof times === 'number' ? new Array<number>(extent).fill(times) : times
  const maps: AxisMap[] = []
  maps[at] = repeatedMap(each)
  return mapped(
    sharing,
    from,
    from.shape.with(
      at,
      each.reduce((sum, count) => sum + count, 0),
    ),
    maps,
  )
})

const tiled = ofArray((sharing, x, [repetitions]) => {
  const counts = (repetitions as readonly (number | bigint)[]).map(Number)
  if (counts.some((count) => !Number.isInteger(count) || count < 0)) return undefined
  const axes = Math.max(counts.length, x.shape.length)
  const times = [...new Array<number>(axes - counts.length).fill(1), ...counts]
  const added = axes - x.shape.length
  const from = added === 0 ? x : withAxes(sharing, x, [...new Array(added).keys()])
  const shape = from.shape.map((extent, axis) => extent * times[axis]!)
  return mapped(
    sharing,
    from,
    shape,
    from.shape.map((extent, axis) => (times[axis] === 1 ? undefined : tiledMap(extent, times[axis]!))),
  )
})

// ---- several arrays in one
// -----------------------------------------------------------------------------------------------------------------

/** The arrays one behind the other along an axis. Each element moves at most once. */
function joined(sharing: Sharing, arrays: readonly ArrayNode[], axis: number, dtype: DType): ArrayNode {
  const largest = arrays
    .filter(({ spread }) => spread !== undefined)
    .reduce((one, other) => (sizeOf(one.shape) >= sizeOf(other.shape) ? one : other))
  const extent = arrays.reduce((sum, { shape }) => sum + shape[axis]!, 0)
  const to = likePartition(partitionOf(sharing, largest), largest.shape.with(axis, extent))
  let start = 0
  const routes = arrays.map((array) => {
    const maps: AxisMap[] = []
    maps[axis] = shiftedMap(array.shape[axis]!, 0, start)
    start += array.shape[axis]!
    return routeOf(partitionOf(sharing, array), to, maps)
  })
  return exchanged(sharing, dtype, to, arrays, function* (blocks): Steps<Block> {
    const part = newBlock(dtype, to.shapeOf(sharing.team.rank))
    for (const [at, block] of blocks.entries())
      yield* exchange(sharing.team, castTo(block, dtype), routes[at]!, { into: part })
    return part
  })
}

interface Joined {
  readonly dtype: DType
  readonly axis?: number
}

const concatenated: Rule = (sharing, entry, [arrays, ...others]) => {
  if ('build' in entry) return undefined
  const nodes = arrays as readonly ArrayNode[]
  const { dtype, axis } = entry.result!(nodes, optionsOf(others)) as unknown as Joined
  if (axis !== undefined) return joined(sharing, nodes, axis, dtype)
  const flat = nodes.map((node) => reshapedTo(sharing, node, [sizeOf(node.shape)]))
  return joined(sharing, flat, 0, dtype)
}

const stacked: Rule = (sharing, entry, [arrays, ...others]) => {
  if ('build' in entry) return undefined
  const nodes = arrays as readonly ArrayNode[]
  const { dtype, axis } = entry.result!(nodes, optionsOf(others)) as unknown as Required<Joined>
  const apart = nodes.map((node) => withAxes(sharing, node, [axis]))
  return joined(sharing, apart, axis, dtype)
}

// ---- other shapes
// -----------------------------------------------------------------------------------------------------------------

/** The elements in row-major order in another shape, in blocks along its first axis of more than one element. */
function reshapedTo(sharing: Sharing, x: ArrayNode, shape: readonly number[]): ArrayNode {
  if (sameShape(x.shape, shape)) return x
  const { team } = sharing
  const from = partitionOf(sharing, x)
  const first = from.isReplicated ? -1 : shape.findIndex((extent) => extent > 1)
  const to = divide(
    shape,
    shape.map((_, axis) => (axis === first ? 'block' : 'replicated')),
    team.ranks,
  )
  const route = flatRoute(from, to)
  return exchanged(sharing, x.dtype, to, [x], ([block]) => exchange(team, block!, route))
}

const reshaped = ofArray((sharing, x, [shape], { copy }) =>
  copy === false ? undefined : reshapedTo(sharing, x, reshapedShape(x.shape, shape as number[])),
)

/** Zeros where a column is on the wrong side of a diagonal. */
const triangle = (isZero: (column: number, row: number, k: number) => boolean): Rule =>
  ofArray((sharing, x, _, { k = 0 }) => {
    if (x.shape.length < 2) return undefined
    const partition = partitionOf(sharing, x)
    const { rank } = sharing.team
    const [rows, columns] = partition.axes.slice(-2) as [Partition['axes'][number], Partition['axes'][number]]
    const [rowPart, columnPart] = partition.partsOf(rank).slice(-2) as [number, number]
    const zero = elementOf(0, x.dtype)
    return computedByPart(sharing, x.dtype, partition, [x], ([part]) => {
      const block = copyOf(part!)
      const [height, width] = block.shape.slice(-2) as [number, number]
      for (let at = 0; at < sizeOf(block.shape); at += 1) {
        const row = indexOfPlace(rows, rowPart, Math.floor(at / width) % height)
        if (isZero(indexOfPlace(columns, columnPart, at % width), row, Number(k))) writeElement(block.data, at, zero)
      }
      return block
    })
  })

/** Differences of neighbours, of which those at the ends of parts come from another rank. */
const differences = ofArray((sharing, x, _, { axis = -1, n = 1, prepend, append }) => {
  const at = axisOf(axis as number, x.shape.length)
  const ends = [prepend, x, append].filter((part) => part !== undefined && part !== null) as ArrayNode[]
  const times = Number(n)
  const isPlain = ends.every(
    (part) => part instanceof ArrayNode && String(part.shape.toSpliced(at, 1)) === String(x.shape.toSpliced(at, 1)),
  )
  if (!isPlain || !Number.isInteger(times) || times < 1) return undefined
  let result = ends.length === 1 ? x : (sharing.call('concat', [ends, { axis: at }]) as ArrayNode)
  const extent = result.shape[at]!
  for (let time = 0; time < Math.min(times, extent); time += 1) {
    const count = Math.max(0, result.shape[at]! - 1)
    const whole = wholeSelections(result.shape)
    const [before, after] = [0, 1].map((start) =>
      sharing.select(result, whole.with(at, { kind: 'slice', axis: at, start, count, step: 1 })),
    )
    result = sharing.call(x.dtype.name === 'bool' ? 'not_equal' : 'subtract', [after, before]) as ArrayNode
  }
  return result
})

export const movements: readonly (readonly [string, Rule])[] = [
  ['permute_dims', permuted],
  ['matrix_transpose', transposed],
  ['linalg.matrix_transpose', transposed],
  ['moveaxis', movedAxes],
  ['expand_dims', expanded],
  ['squeeze', squeezed],
  ['unstack', unstacked],
  ['broadcast_to', broadcast],
  ['broadcast_arrays', broadcastAll],
  ['flip', flipped],
  ['roll', rolled],
  ['fft.fftshift', shifted((extent) => Math.floor(extent / 2))],
  ['fft.ifftshift', shifted((extent) => -Math.floor(extent / 2))],
  ['take', taken],
  ['random.permutation', shuffled],
  ['repeat', repeated],
  ['tile', tiled],
  ['concat', concatenated],
  ['stack', stacked],
  ['reshape', reshaped],
  ['tril', triangle((column, row, k) => column - row > k)],
  ['triu', triangle((column, row, k) => column - row < k)],
  ['diff', differences],
]
