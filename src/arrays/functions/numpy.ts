import { bincount } from '../local/bincount.ts'
import { einsum } from '../local/einsum.ts'
import { histogram } from '../local/histogram.ts'
import { percentile, quantile } from '../local/quantile.ts'
import type { Entry } from './entry.ts'

const ofQuantiles = "x, q, /, *, axis=None, method='linear', keepdims=False"

/** Functions that NumPy has and the standard has not. */
export const numpyFunctions: readonly Entry[] = [
  { name: 'bincount', parameters: 'x, /, *, weights=None, minlength=0', moves: 'reduction', compute: bincount },
  { name: 'einsum', parameters: 'subscripts, /, *arrays', moves: 'exchange', compute: einsum },
  {
    name: 'histogram',
    parameters: 'x, /, *, bins=10, range=None, density=False, weights=None',
    moves: 'reduction',
    compute: histogram,
  },
  { name: 'percentile', parameters: ofQuantiles, moves: 'reduction', compute: percentile },
  { name: 'quantile', parameters: ofQuantiles, moves: 'reduction', compute: quantile },
]

export interface NumpyFunctions {
  bincount: typeof bincount
  einsum: typeof einsum
  histogram: typeof histogram
  percentile: typeof percentile
  quantile: typeof quantile
}
