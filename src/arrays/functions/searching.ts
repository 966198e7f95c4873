import type { Block } from '../blocks/block.ts'
import type { ReductionOptions } from '../local/reduction.ts'
import { reducedShape } from '../local/reduction.ts'
import {
  argmax,
  argmin,
  argumentResult,
  countNonzero,
  nonzero,
  searchsorted,
  searchsortedResult,
} from '../local/searching.ts'
import { int64 } from '../types/dtype.ts'
import type { Entry } from './entry.ts'

/** All but `where`, which is element-wise. */
export const searching: readonly Entry[] = [
  {
    name: 'argmax',
    parameters: 'x, /, *, axis=None, keepdims=False',
    moves: 'reduction',
    compute: argmax,
    result: argumentResult('argmax'),
  },
  {
    name: 'argmin',
    parameters: 'x, /, *, axis=None, keepdims=False',
    moves: 'reduction',
    compute: argmin,
    result: argumentResult('argmin'),
  },
  {
    name: 'count_nonzero',
    parameters: 'x, /, *, axis=None, keepdims=False',
    moves: 'reduction',
    compute: countNonzero,
    result: ({ shape }: Block, options: ReductionOptions = {}) => ({
      dtype: int64,
      shape: reducedShape(shape, options),
    }),
  },
  { name: 'nonzero', parameters: 'x, /', moves: 'exchange', compute: nonzero },
  {
    name: 'searchsorted',
    parameters: "x1, x2, /, *, side='left', sorter=None",
    moves: 'exchange',
    compute: searchsorted,
    result: searchsortedResult,
  },
]

export interface Searching {
  argmax: typeof argmax
  argmin: typeof argmin
  countNonzero: typeof countNonzero
  nonzero: typeof nonzero
  searchsorted: typeof searchsorted
}
