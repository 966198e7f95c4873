import type { Block } from '../blocks/block.ts'
import { axisOf } from '../blocks/layout.ts'
import { argsort, type SortOptions, sort } from '../local/sorting.ts'
import { int64 } from '../types/dtype.ts'
import type { Entry } from './entry.ts'

const parameters = 'x, /, *, axis=-1, descending=False, stable=True'

export const sorting: readonly Entry[] = [
  {
    name: 'argsort',
    parameters,
    moves: 'exchange',
    compute: argsort,
    result: (x: Block, options: SortOptions = {}) => ({ dtype: int64, shape: sortedShape(x, options) }),
  },
  {
    name: 'sort',
    parameters,
    moves: 'exchange',
    compute: sort,
    result: (x: Block, options: SortOptions = {}) => ({ dtype: x.dtype, shape: sortedShape(x, options) }),
  },
]

function sortedShape({ shape }: Block, { axis = -1 }: SortOptions): readonly number[] {
  axisOf(axis, shape.length)
  return shape
}

export interface Sorting {
  argsort: typeof argsort
  sort: typeof sort
}
