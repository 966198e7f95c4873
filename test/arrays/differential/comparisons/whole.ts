import { type Block, sizeOf } from '../../../../src/arrays/blocks/block.ts'
import {
  bool,
  complex128,
  type DType,
  float32,
  float64,
  int8,
  int32,
  int64,
  isFloating,
  uint8,
} from '../../../../src/arrays/types/dtype.ts'
import type { Closeness } from '../../support/blocks.ts'
import type { Comparison, Comparisons } from '../comparison.ts'
import { type Draw, kinds, type Range, shapes } from '../draw.ts'

const { all, numeric, realValued, floating } = kinds

/** One block of every type and shape, with options made for it. */
function each(
  dtypes: readonly DType[],
  argumentsFor: (draw: Draw, x: Block) => Iterable<readonly unknown[]>,
  rest: Omit<Comparison, 'calls'> & {
    readonly range?: Range
    readonly fits?: (shape: readonly number[]) => boolean
  } = {},
): Comparison {
  const { range = {}, fits = () => true, ...comparison } = rest
  return {
    *calls(draw) {
      for (const dtype of dtypes) {
        for (const shape of shapes.filter(fits)) {
          const x = draw.block(dtype, shape, range)
          for (const more of argumentsFor(draw, x)) yield [x, ...more]
        }
      }
    },
    ...comparison,
  }
}

const hasAxes = (shape: readonly number[]) => shape.length > 0
const hasElements = (shape: readonly number[]) => sizeOf(shape) > 0

/** Every way to say along which axes: all, one, several, none; with and without keeping them. */
function* overAxes(draw: Draw, { shape }: Block): Generator<readonly [Record<string, unknown>]> {
  yield [{}]
  yield [{ axis: null, keepdims: true }]
  if (shape.length === 0) return
  yield [{ axis: draw.axis(shape) }]
  yield [{ axis: draw.axis(shape), keepdims: true }]
  if (shape.length > 1) yield [{ axis: [0, -1], keepdims: draw.pick([true, false]) }]
  yield [{ axis: [] }]
}

function* overOneAxis(draw: Draw, { shape }: Block): Generator<readonly [Record<string, unknown>]> {
  yield [{}]
  yield [{ axis: null, keepdims: true }]
  if (shape.length === 0) return
  yield [{ axis: draw.axis(shape), keepdims: draw.pick([true, false]) }]
}

function* alongAxis(draw: Draw, { shape }: Block): Generator<readonly [Record<string, unknown>]> {
  yield [{}]
  yield [{ axis: draw.axis(shape) }]
}

const sums: Closeness = { ulps: 4, epsilons: 64 }
/** NumPy 1.24 sums small integers in 64 bits, and so does the standard; it has no sum of an array of bool. */
const wide = { range: { least: -3, greatest: 3 }, closeness: sums } as const

export const statistics: Comparisons = {
  max: each(realValued, overAxes, { range: { special: true }, fits: hasElements, closeness: { zerosEqual: true } }),
  min: each(realValued, overAxes, { range: { special: true }, fits: hasElements, closeness: { zerosEqual: true } }),
  mean: each(floating, overAxes, { fits: hasElements, closeness: sums }),
  sum: each(numeric, overAxes, wide),
  prod: each(numeric, overAxes, { range: { least: -2, greatest: 2 }, closeness: { ulps: 64, epsilons: 64 } }),
  std: each(kinds.real, withCorrection, {
    fits: (shape) => sizeOf(shape) > 1,
    closeness: sums,
    numpy: corrected('std'),
  }),
  var: each(kinds.real, withCorrection, {
    fits: (shape) => sizeOf(shape) > 1,
    closeness: sums,
    numpy: corrected('var'),
  }),
  cumulative_sum: each(numeric, cumulative, { ...wide, fits: hasAxes, numpy: accumulated('add', 0) }),
  cumulative_prod: each(numeric, cumulative, {
    range: { least: -2, greatest: 2 },
    closeness: { ulps: 64, epsilons: 64 },
    fits: hasAxes,
    numpy: accumulated('multiply', 1),
  }),
}

function* withCorrection(draw: Draw, { shape }: Block): Generator<readonly [Record<string, unknown>]> {
  yield [{}]
  yield [{ correction: 1, keepdims: true }]
  const long = shape.findIndex((extent) => extent > 2)
  if (long >= 0) yield [{ axis: long, correction: draw.pick([0, 0.5, 1, 2]) }]
}

function corrected(name: string) {
  return (x: string, options: string) => `np.${name}(${x}, ${options.replace('correction', 'ddof')})`
}

function* cumulative(draw: Draw, { shape }: Block): Generator<readonly [Record<string, unknown>]> {
  const axis = draw.axis(shape)
  yield [{ axis }]
  yield [{ axis, includeInitial: true }]
}

/** NumPy has these with an initial value only since 2.1. */
function accumulated(ufunc: string, initial: number) {
  return (x: string, options: string) => `
def accumulated(x, *, axis, include_initial=False):
    small = x.dtype.kind in 'iu' and x.dtype.itemsize < 8
    out = np.${ufunc}.accumulate(x, axis=axis, dtype={'i': 'int64', 'u': 'uint64'}[x.dtype.kind] if small else x.dtype)
    first = np.full_like(out.take([0], axis) if out.shape[axis] else np.zeros([1 if i == axis % x.ndim else n for i, n in enumerate(x.shape)], out.dtype), ${initial})
    return np.concatenate([first, out], axis) if include_initial else out
accumulated(${x}, ${options})`
}

export const utility: Comparisons = {
  all: each(all, overAxes, { range: { least: 0, greatest: 1 } }),
  any: each(all, overAxes, { range: { least: 0, greatest: 1 } }),
  diff: {
    *calls(draw) {
      for (const dtype of numeric) {
        for (const shape of [[7], [3, 4], [2, 3, 4], [0]]) {
          const x = draw.block(dtype, shape)
          yield [x, {}]
          yield [x, { axis: 0, n: 2 }]
          yield [x, { axis: -1, prepend: draw.block(dtype, [...shape.slice(0, -1), 2]) }]
          yield [x, { axis: -1, append: draw.block(dtype, [...shape.slice(0, -1), 1]), n: draw.whole(1, 3) }]
        }
      }
    },
    closeness: { epsilons: 8 },
  },
}

export const searching: Comparisons = {
  argmax: each(realValued, overOneAxis, { fits: hasElements }),
  argmin: each(realValued, overOneAxis, { fits: hasElements }),
  count_nonzero: each(all, overAxes, {
    range: { least: 0, greatest: 2 },
    // NumPy gives a plain int without an axis.
    numpy: (x, options = '') => `np.asarray(np.count_nonzero(${x}, ${options}), dtype=np.int64)`,
  }),
  nonzero: each(all, () => [[]], { range: { least: 0, greatest: 2 }, fits: hasAxes }),
  searchsorted: {
    *calls(draw) {
      for (const dtype of realValued) {
        const x = draw.block(dtype, [9])
        for (const side of ['left', 'right']) {
          for (const shape of [[], [5], [2, 3], [0]]) yield [sorted(x), draw.block(dtype, shape), { side }]
        }
        yield [draw.block(dtype, [0]), draw.block(dtype, [2]), {}]
      }
    },
  },
}

/** The same numbers in order, without a function that is under test. */
function sorted(x: Block): Block {
  const data = x.data.slice()
  const list = Array.from({ length: x.shape[0]! }, (_, i) => x.data[x.offset + i * x.strides[0]!]!)
  list.sort((one, other) => (one < other ? -1 : one > other ? 1 : 0))
  for (const [index, element] of list.entries()) data[index] = element as never
  return { ...x, data, offset: 0, strides: [1] }
}

const few = { range: { least: 0, greatest: 4 } }
const whole: Closeness = { zerosEqual: true }

/** Floating elements that repeat. */
function* repeating(draw: Draw, dtypes: readonly DType[]): Generator<Block> {
  for (const dtype of dtypes) {
    for (const shape of shapes) {
      const x = draw.block(dtype, shape, few.range)
      if (isFloating(dtype))
        for (const [index, element] of x.data.entries()) x.data[index] = Math.round(Number(element)) as never
      yield x
    }
  }
}

export const sets: Comparisons = {
  unique_all: {
    *calls(draw) {
      for (const x of repeating(draw, realValued)) yield [x]
    },
    numpy: (x) =>
      `v, i, n, c = np.unique(${x}, return_index=True, return_inverse=True, return_counts=True)\n` +
      `v, i.astype('int64'), n.reshape(${x}.shape).astype('int64'), c.astype('int64')`,
    closeness: whole,
  },
  unique_counts: {
    *calls(draw) {
      for (const x of repeating(draw, realValued)) yield [x]
    },
    numpy: (x) => `np.unique(${x}, return_counts=True)`,
    closeness: whole,
  },
  unique_inverse: {
    *calls(draw) {
      for (const x of repeating(draw, realValued)) yield [x]
    },
    numpy: (x) => `v, n = np.unique(${x}, return_inverse=True)\nv, n.reshape(${x}.shape)`,
    closeness: whole,
  },
  unique_values: {
    *calls(draw) {
      for (const x of repeating(draw, realValued)) yield [x]
    },
    numpy: 'unique',
    closeness: whole,
  },
  isin: {
    *calls(draw) {
      for (const dtype of realValued) {
        for (const shape of shapes) yield [draw.block(dtype, shape, few.range), draw.block(dtype, [3], few.range), {}]
        yield [draw.block(dtype, [4], few.range), draw.block(dtype, [0]), { invert: true }]
      }
    },
  },
}

export const sorting: Comparisons = {
  sort: each([bool, ...realValued], sortings, {
    range: { special: true },
    fits: hasAxes,
    closeness: whole,
    numpy: (x, options = '') => `${SORTED}\nnp.take_along_axis(${x}, order(${x}, ${options}), ${axisOf(options)})`,
  }),
  argsort: each([bool, ...realValued], sortings, {
    range: { least: 0, greatest: 5 },
    fits: hasAxes,
    numpy: (x, options = '') => `${SORTED}\norder(${x}, ${options}).astype('int64')`,
  }),
}

function* sortings(draw: Draw, x: Block): Generator<readonly [Record<string, unknown>]> {
  for (const [options] of alongAxis(draw, x)) {
    yield [options]
    yield [{ ...options, descending: true }]
  }
}

/** A stable order; descending keeps equal elements in their order too. */
const SORTED = `
def order(x, axis=-1, descending=False):
    if not descending:
        return np.argsort(x, axis=axis, kind='stable')
    n = x.shape[axis]
    return np.flip(n - 1 - np.argsort(np.flip(x, axis), axis=axis, kind='stable'), axis)`

function axisOf(options: string): string {
  return /axis=(-?\d+)/.exec(options)?.[1] ?? '-1'
}

export const indexing: Comparisons = {
  take: {
    *calls(draw) {
      for (const dtype of all) {
        for (const indices of [int8, int32, int64, uint8]) {
          yield [draw.block(dtype, [7]), draw.block(indices, [5], { least: 0, greatest: 6 }), {}]
          yield [draw.block(dtype, [2, 3, 4]), draw.block(indices, [0]), { axis: draw.axis([2, 3, 4]) }]
        }
        yield [draw.block(dtype, [2, 3, 4]), draw.block(int64, [6], { least: -3, greatest: 2 }), { axis: 1 }]
        yield [draw.block(dtype, [3, 4]), draw.block(int64, [2, 2], { least: 0, greatest: 2 }), { axis: 0 }]
      }
    },
  },
  take_along_axis: {
    *calls(draw) {
      for (const dtype of all) {
        for (const axis of [0, 1, -1]) {
          yield [draw.block(dtype, [3, 4]), draw.block(int64, [3, 4], { least: 0, greatest: 2 }), { axis }]
        }
        yield [draw.block(dtype, [5]), draw.block(int32, [9], { least: -5, greatest: 4 }), {}]
      }
    },
    numpy: (x, indices, options = '') => `np.take_along_axis(${x}, ${indices}, ${axisOf(options)})`,
  },
}

const someTypes = [bool, uint8, int64, float32, complex128]

export const manipulation: Comparisons = {
  broadcast_arrays: {
    *calls(draw) {
      for (const dtype of someTypes) {
        yield [draw.block(dtype, [3, 1]), draw.block(float64, [4]), draw.block(dtype, [])]
        yield [draw.block(dtype, [0]), draw.block(dtype, [2, 1])]
      }
    },
  },
  broadcast_to: {
    *calls(draw) {
      for (const dtype of all) {
        yield [draw.block(dtype, []), [2, 3]]
        yield [draw.block(dtype, [3, 1]), [2, 3, 4]]
        yield [draw.block(dtype, [1]), [0]]
      }
    },
  },
  concat: {
    *calls(draw) {
      for (const dtype of all) {
        yield [[draw.block(dtype, [2, 3]), draw.block(dtype, [0, 3]), draw.block(dtype, [4, 3])], {}]
        yield [[draw.block(dtype, [2, 3]), draw.block(dtype, [2, 1])], { axis: -1 }]
        yield [[draw.block(dtype, [2, 3]), draw.block(dtype, []), draw.block(dtype, [2])], { axis: null }]
      }
      yield [[draw.block(int8, [2]), draw.block(int64, [3])], { axis: 0 }]
    },
    numpy: (arrays, options = '') =>
      options.includes('None')
        ? `np.concatenate([np.ravel(x) for x in ${arrays}])`
        : `np.concatenate(${[arrays, options].filter(Boolean).join(', ')})`,
  },
  expand_dims: each(someTypes, (draw, { shape }) => [[draw.whole(-shape.length - 1, shape.length)]]),
  flip: each(all, function* (draw, { shape }) {
    yield [{}]
    if (shape.length > 0) yield [{ axis: draw.axis(shape) }]
    if (shape.length > 1) yield [{ axis: [0, -1] }]
  }),
  moveaxis: each(
    someTypes,
    function* (draw, { shape }) {
      yield [draw.axis(shape), draw.axis(shape)]
      if (shape.length === 3)
        yield [
          [0, 1],
          [2, 0],
        ]
    },
    { fits: hasAxes },
  ),
  permute_dims: each(all, (_, { shape }) => [[shape.map((_extent, axis) => shape.length - 1 - axis)]], {
    numpy: 'transpose',
  }),
  repeat: {
    *calls(draw) {
      for (const dtype of all) {
        yield [draw.block(dtype, [2, 3]), 2, {}]
        yield [draw.block(dtype, [2, 3]), 0, { axis: 1 }]
        yield [draw.block(dtype, [2, 3]), draw.block(int64, [3], { least: 0, greatest: 3 }), { axis: -1 }]
        yield [draw.block(dtype, [2, 3]), draw.block(int64, [1], { least: 2, greatest: 2 }), { axis: 0 }]
      }
    },
  },
  reshape: each(
    all,
    (draw, { shape }) => [
      [[sizeOf(shape)], {}],
      [[1, ...shape.toReversed()], { copy: draw.pick([true, null]) }],
      ...(sizeOf(shape) > 0 ? [[[-1, 1], {}]] : []),
    ],
    { numpy: (x, shape) => `np.reshape(${x}, ${shape})` },
  ),
  roll: each(all, function* (draw, { shape }) {
    yield [draw.whole(-9, 9), {}]
    if (shape.length > 0) yield [draw.whole(-9, 9), { axis: draw.axis(shape) }]
    if (shape.length > 1) yield [[1, -2], { axis: [0, -1] }]
  }),
  squeeze: {
    *calls(draw) {
      for (const dtype of someTypes) {
        yield [draw.block(dtype, [1, 5, 1]), 0]
        yield [draw.block(dtype, [1, 5, 1]), [0, -1]]
        yield [draw.block(dtype, [1, 0]), -2]
      }
    },
  },
  stack: {
    *calls(draw) {
      for (const dtype of all) {
        for (const shape of shapes) {
          const axis = draw.whole(-shape.length - 1, shape.length)
          yield [[draw.block(dtype, shape), draw.block(dtype, shape)], { axis }]
        }
      }
    },
  },
  tile: each(all, (draw) => [[[2]], [[draw.whole(0, 2), 3, 1, 2]], [[]]]),
  unstack: each(
    someTypes,
    (draw, { shape }) => {
      const axis = draw.axis(shape)
      return shape[axis < 0 ? axis + shape.length : axis] === 0 ? [] : [[{ axis }]]
    },
    { fits: hasAxes, numpy: (x, options = '') => `list(np.moveaxis(${x}, ${axisOf(options)}, 0))` },
  ),
}

export const creation: Comparisons = {
  arange: {
    *calls(draw) {
      for (const dtype of realValued) {
        yield [0, 10, 3, { dtype }]
        yield [draw.whole(0, 5), null, 1, { dtype }]
        yield [2, 2, 1, { dtype }]
        if (dtype.kind !== 'unsigned integer') yield [5, -5, -2, { dtype }]
        if (isFloating(dtype)) yield [0.25, 3, 0.5, { dtype }]
      }
    },
    numpy: (start, stop, step, options = '') =>
      `np.arange(${stop === 'None' ? start : `${start}, ${stop}, ${step}`}, ${options})`,
    closeness: { ulps: 4 },
  },
  eye: {
    *calls(draw) {
      for (const dtype of all) {
        yield [3, null, { dtype }]
        yield [3, 4, { dtype, k: draw.whole(-4, 5) }]
        yield [0, 2, { dtype }]
      }
    },
  },
  full: {
    *calls(draw) {
      for (const dtype of numeric) for (const shape of shapes) yield [shape, draw.whole(0, 9), { dtype }]
      yield [[2], true, {}]
      yield [[2], 1.5, {}]
      yield [[2], 7n, {}]
      yield [[2], { re: 1, im: -2 }, {}]
    },
  },
  full_like: each(all, (_, { dtype }) => [
    [dtype === bool ? true : 3, {}],
    [1, { dtype: float32 }],
  ]),
  linspace: {
    *calls() {
      for (const dtype of floating) {
        yield [-1, 7, 9, { dtype }]
        yield [0, 1, 7, { dtype, endpoint: false }]
        yield [3, 3, 1, { dtype }]
        yield [3, 5, 0, { dtype }]
      }
    },
    closeness: { ulps: 4 },
  },
  meshgrid: {
    *calls(draw) {
      for (const dtype of numeric) {
        for (const indexing of ['xy', 'ij']) {
          yield [draw.block(dtype, [3]), draw.block(dtype, [2]), { indexing }]
          yield [draw.block(dtype, [3]), draw.block(dtype, [0]), draw.block(dtype, [2]), { indexing }]
        }
        yield [draw.block(dtype, [3]), {}]
      }
    },
  },
  ones: {
    *calls() {
      for (const dtype of all) for (const shape of shapes) yield [shape, { dtype }]
      yield [[2], {}]
    },
  },
  ones_like: each(all, () => [[{}], [{ dtype: int8 }]]),
  tril: each(all, (draw) => [[{}], [{ k: draw.whole(-3, 3) }]], { fits: (shape) => shape.length > 1 }),
  triu: each(all, (draw) => [[{}], [{ k: draw.whole(-3, 3) }]], { fits: (shape) => shape.length > 1 }),
  zeros: {
    *calls() {
      for (const dtype of all) for (const shape of shapes) yield [shape, { dtype }]
      yield [[2], {}]
    },
  },
  zeros_like: each(all, () => [[{}], [{ dtype: int8 }]]),
}

export const dataTypes: Comparisons = {
  astype: {
    *calls(draw) {
      for (const from of all) {
        for (const to of all.filter(({ lanes }) => lanes >= from.lanes)) {
          // What a negative or a large number becomes in an integer type that lacks it is not defined for floating
          // types.
          for (const shape of [[], [7], [2, 3], [0]]) yield [draw.block(from, shape, { least: 0, greatest: 100 }), to]
        }
      }
    },
    numpy: (x, to) => `${x}.astype(${to})`,
  },
}
