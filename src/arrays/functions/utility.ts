import type { Block } from '../blocks/block.ts'
import { type ReductionOptions, reducedShape } from '../local/reduction.ts'
import { all, any, diff } from '../local/utility.ts'
import { bool, type DType } from '../types/dtype.ts'
import type { Entry } from './entry.ts'

const parameters = 'x, /, *, axis=None, keepdims=False'

const truth = ({ shape }: Block, options: ReductionOptions = {}): { dtype: DType; shape: number[] } => ({
  dtype: bool,
  shape: reducedShape(shape, options),
})

export const utility: readonly Entry[] = [
  { name: 'all', parameters, moves: 'reduction', compute: all, result: truth },
  { name: 'any', parameters, moves: 'reduction', compute: any, result: truth },
  {
    name: 'diff',
    parameters: 'x, /, *, axis=-1, n=1, prepend=None, append=None',
    moves: 'exchange',
    compute: diff,
  },
]

export interface Utility {
  all: typeof all
  any: typeof any
  diff: typeof diff
}
