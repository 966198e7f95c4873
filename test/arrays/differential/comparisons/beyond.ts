import { type DType, float64, int32, int64 } from '../../../../src/arrays/types/dtype.ts'
import type { Comparison, Comparisons } from '../comparison.ts'
import { type Draw, kinds } from '../draw.ts'

const types: readonly DType[] = [...kinds.real, int32, int64]

function quantiles(name: string, scale: number): Comparison {
  return {
    *calls(draw: Draw) {
      for (const dtype of kinds.real) {
        const x = draw.block(dtype, [4, 5])
        for (const method of [
          'linear',
          'lower',
          'higher',
          'midpoint',
          'nearest',
          'hazen',
          'weibull',
          'median_unbiased',
        ]) {
          yield [x, 0.3 * scale, { method }]
        }
        yield [x, [0, 0.5 * scale, scale], { axis: draw.axis([4, 5]) }]
        yield [x, 0.25 * scale, { axis: 1, keepdims: true }]
      }
    },
    // NumPy 2 gives a quantile of float32 at a plain number in float32, and so did NumPy 1.
    numpy: (x, q, options) => `np.${name}(${x}, ${q}, ${options}).astype(${x}.dtype)`,
    closeness: { epsilons: 8 },
  }
}

/** Functions that NumPy has and the standard has not. */
export const beyond: Comparisons = {
  bincount: {
    *calls(draw) {
      for (const dtype of kinds.integer) yield [draw.block(dtype, [20], { least: 0, greatest: 9 }), {}]
      const x = draw.block(int64, [20], { least: 0, greatest: 9 })
      yield [x, { minlength: 15 }]
      yield [x, { weights: draw.block(float64, [20]) }]
      yield [draw.block(int64, [0]), {}]
    },
    // NumPy before 2.0 refuses uint64.
    numpy: (x, ...options) => `np.bincount(${[`${x}.astype('int64')`, ...options.filter(Boolean)].join(', ')})`,
    closeness: { epsilons: 8 },
  },
  einsum: {
    *calls(draw) {
      for (const dtype of types) {
        const [a, b] = [draw.block(dtype, [3, 4]), draw.block(dtype, [4, 3])]
        for (const subscripts of ['ij,jk->ik', 'ij,jk', 'ij,ji->', 'ij,jk->ki', 'ij,ji->j', 'ij,ji->ij', 'ij,ji->ji'])
          yield [subscripts, a, b]
        yield ['i,j->ij', draw.block(dtype, [3]), draw.block(dtype, [0])]
      }
    },
    closeness: { epsilons: 32 },
  },
  histogram: {
    *calls(draw) {
      for (const dtype of types) {
        const x = draw.block(dtype, [40])
        yield [x, {}]
        yield [x, { bins: 4, range: [-5, 5] }]
        yield [x, { bins: [-9.5, -2, 0, 9], density: true }]
        yield [x, { bins: 3, weights: draw.block(float64, [40]) }]
      }
    },
    closeness: { epsilons: 16 },
  },
  percentile: quantiles('percentile', 100),
  quantile: quantiles('quantile', 1),
}
