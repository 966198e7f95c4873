import type { Block } from '../blocks/block.ts'
import { isin, uniqueAll, uniqueCounts, uniqueInverse, uniqueValues } from '../local/sets.ts'
import { bool } from '../types/dtype.ts'
import { promote } from '../types/promotion.ts'
import type { Entry } from './entry.ts'

export const sets: readonly Entry[] = [
  {
    name: 'isin',
    parameters: 'x1, x2, /, *, invert=False',
    moves: 'exchange',
    compute: isin,
    result: (x1: Block, x2: Block) => {
      promote(x1.dtype, x2.dtype)
      return { dtype: bool, shape: x1.shape }
    },
  },
  { name: 'unique_all', parameters: 'x, /', moves: 'exchange', compute: uniqueAll },
  { name: 'unique_counts', parameters: 'x, /', moves: 'exchange', compute: uniqueCounts },
  { name: 'unique_inverse', parameters: 'x, /', moves: 'exchange', compute: uniqueInverse },
  { name: 'unique_values', parameters: 'x, /', moves: 'exchange', compute: uniqueValues },
]

export interface Sets {
  isin: typeof isin
  uniqueAll: typeof uniqueAll
  uniqueCounts: typeof uniqueCounts
  uniqueInverse: typeof uniqueInverse
  uniqueValues: typeof uniqueValues
}
