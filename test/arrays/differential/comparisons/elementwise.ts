import { bool, type DType } from '../../../../src/arrays/types/dtype.ts'
import type { Closeness } from '../../support/blocks.ts'
import type { Comparison, Comparisons } from '../comparison.ts'
import { type Draw, kinds, promotable, type Range, shapes } from '../draw.ts'

/** Shapes of two operands that are broadcast. */
const pairs = [
  [[], []],
  [[7], [7]],
  [[3, 4], [4]],
  [
    [3, 1],
    [1, 4],
  ],
  [[0], [1]],
  [
    [2, 3, 4],
    [3, 1],
  ],
] as const

const exact: Closeness = {}
/** Ours and NumPy's each may be some units in the last place off. */
const near: Closeness = { ulps: 6 }

function one(
  dtypes: readonly DType[],
  closeness: Closeness,
  range: Range = { special: true },
  numpy?: string,
): Comparison {
  return {
    *calls(draw: Draw) {
      for (const dtype of dtypes) for (const shape of shapes) yield [draw.block(dtype, shape, range)]
    },
    closeness,
    ...(numpy === undefined ? {} : { numpy }),
  }
}

function two(
  dtypes: readonly DType[],
  closeness: Closeness,
  { first = {}, second = first, numpy }: { first?: Range; second?: Range; numpy?: string } = {},
): Comparison {
  return {
    *calls(draw: Draw) {
      for (const [left, right] of promotable(dtypes)) {
        for (const [one, other] of left === right ? pairs : [draw.pick(pairs.slice(1, 4))]) {
          yield [draw.block(left, one, first), draw.block(right, other, second)]
        }
      }
    },
    closeness,
    ...(numpy === undefined ? {} : { numpy }),
  }
}

const { all, numeric, realValued, floating, real, integer, integerOrBool } = kinds
const special = { special: true }
const ordinary = { first: special, second: special }
/** Division by zero, and what overflows in a division, is for the tests of special cases. */
const divisor = { first: {}, second: { nonzero: true } }

export const elementwise: Comparisons = {
  abs: one(numeric, { ulps: 1 }),
  acos: one(floating, near, { least: -1, greatest: 1 }, 'arccos'),
  acosh: one(floating, near, { least: 1 }, 'arccosh'),
  add: two(numeric, exact, ordinary),
  asin: one(floating, near, { least: -1, greatest: 1 }, 'arcsin'),
  asinh: one(floating, near, special, 'arcsinh'),
  atan: one(floating, near, special, 'arctan'),
  atan2: two(real, near, { ...ordinary, numpy: 'arctan2' }),
  atanh: one(floating, near, { least: -0.99, greatest: 0.99 }, 'arctanh'),
  bitwise_and: two(integerOrBool, exact),
  bitwise_invert: one(integerOrBool, exact, {}, 'invert'),
  bitwise_left_shift: two(integer, exact, { first: {}, second: { least: 0, greatest: 6 }, numpy: 'left_shift' }),
  bitwise_or: two(integerOrBool, exact),
  bitwise_right_shift: two(integer, exact, { first: {}, second: { least: 0, greatest: 6 }, numpy: 'right_shift' }),
  bitwise_xor: two(integerOrBool, exact),
  ceil: { ...one(realValued, exact), numpy: (a) => `np.ceil(${a}).astype(${a}.dtype)` },
  clip: {
    *calls(draw) {
      for (const dtype of realValued) {
        for (const shape of shapes) {
          const x = draw.block(dtype, shape, special)
          yield [x, 1, 5]
          yield [x, null, 3]
          yield [x, draw.block(dtype, [1], { least: 0, greatest: 2 }), draw.block(dtype, shape, { least: 3 })]
        }
      }
    },
    numpy: (a, least, greatest) => `np.clip(${a}, ${least}, ${greatest}).astype(${a}.dtype)`,
    closeness: { zerosEqual: true },
  },
  conj: one(numeric, exact),
  copysign: two(real, exact, ordinary),
  cos: one(floating, near),
  cosh: one(floating, near),
  divide: two(floating, { ulps: 4 }, { ...divisor }),
  equal: two([...numeric, bool], exact, ordinary),
  exp: one(floating, near),
  expm1: one(floating, near),
  floor: { ...one(realValued, exact), numpy: (a) => `np.floor(${a}).astype(${a}.dtype)` },
  floor_divide: two(realValued, { zerosEqual: true }, divisor),
  greater: two(realValued, exact, ordinary),
  greater_equal: two(realValued, exact, ordinary),
  hypot: two(real, near, ordinary),
  imag: one(
    kinds.floating.filter(({ lanes }) => lanes === 2),
    exact,
  ),
  isfinite: one(numeric, exact),
  isinf: one(numeric, exact),
  isnan: one(numeric, exact),
  less: two(realValued, exact, ordinary),
  less_equal: two(realValued, exact, ordinary),
  log: one(floating, near),
  log10: one(floating, near),
  log1p: one(floating, near, { least: -0.9 }),
  log2: one(floating, near),
  logaddexp: two(real, near, ordinary),
  logical_and: two([bool], exact),
  logical_not: one([bool], exact),
  logical_or: two([bool], exact),
  logical_xor: two([bool], exact),
  maximum: two(realValued, { zerosEqual: true }, ordinary),
  minimum: two(realValued, { zerosEqual: true }, ordinary),
  multiply: two(numeric, { ulps: 2 }, ordinary),
  negative: one(numeric, exact),
  nextafter: two(real, exact, ordinary),
  not_equal: two([...numeric, bool], exact, ordinary),
  positive: one(numeric, exact),
  pow: two(numeric, { ulps: 16 }, { first: { least: 1 }, second: { least: 0, greatest: 3 }, numpy: 'power' }),
  real: one(
    kinds.floating.filter(({ lanes }) => lanes === 2),
    exact,
  ),
  reciprocal: one(floating, { ulps: 4 }, { nonzero: true }),
  remainder: two(realValued, { ulps: 2, zerosEqual: true }, divisor),
  round: one(numeric, exact),
  sign: { ...one(numeric, { ulps: 2 }, { nonzero: true }), numpy: (a) => `(${a} / np.abs(${a})).astype(${a}.dtype)` },
  signbit: one(real, exact),
  sin: one(floating, near),
  sinh: one(floating, near),
  sqrt: one(floating, { ulps: 4 }),
  square: one(numeric, { ulps: 2 }),
  subtract: two(numeric, exact, ordinary),
  tan: one(floating, near),
  tanh: one(floating, near),
  trunc: { ...one(realValued, exact), numpy: (a) => `np.trunc(${a}).astype(${a}.dtype)` },
  where: {
    *calls(draw) {
      for (const dtype of all) {
        for (const [left, right] of pairs) {
          yield [draw.block(bool, left), draw.block(dtype, right, special), draw.block(dtype, left, special)]
        }
      }
    },
  },
}
