import type { Block } from '../blocks/block.ts'
import { cumulativeProd, cumulativeResult, cumulativeSum } from '../local/cumulating.ts'
import type { ReductionOptions } from '../local/reduction.ts'
import { reducedShape } from '../local/reduction.ts'
import {
  accumulatedType,
  extremumResult,
  max,
  mean,
  meanType,
  min,
  prod,
  spreadType,
  std,
  sum,
  type TypedOptions,
  variance,
} from '../local/statistics.ts'
import type { DType } from '../types/dtype.ts'
import type { Entry } from './entry.ts'

const cumulative = 'x, /, *, axis=None, dtype=None, include_initial=False'
const typed = 'x, /, *, axis=None, dtype=None, keepdims=False'
const plain = 'x, /, *, axis=None, keepdims=False'
const spread = 'x, /, *, axis=None, correction=0.0, keepdims=False'

/** The result of a reduction whose type follows from that of the operand. */
function reducedTo(typeOf: (dtype: DType) => DType) {
  return ({ dtype, shape }: Block, options: ReductionOptions = {}): { dtype: DType; shape: number[] } => ({
    dtype: typeOf(dtype),
    shape: reducedShape(shape, options),
  })
}

function accumulatedTo(name: string) {
  return ({ dtype, shape }: Block, options: TypedOptions = {}): { dtype: DType; shape: number[] } => ({
    dtype: accumulatedType(dtype, options, name),
    shape: reducedShape(shape, options),
  })
}

/** Sums and products go over fixed pieces, whose results are all that moves. To cumulate, ranks tell their last. */
export const statistics: readonly Entry[] = [
  {
    name: 'cumulative_prod',
    parameters: cumulative,
    moves: 'exchange',
    compute: cumulativeProd,
    result: cumulativeResult('cumulative_prod'),
  },
  {
    name: 'cumulative_sum',
    parameters: cumulative,
    moves: 'exchange',
    compute: cumulativeSum,
    result: cumulativeResult('cumulative_sum'),
  },
  { name: 'max', parameters: plain, moves: 'reduction', compute: max, result: extremumResult('max') },
  { name: 'mean', parameters: plain, moves: 'reduction', compute: mean, result: reducedTo(meanType) },
  { name: 'min', parameters: plain, moves: 'reduction', compute: min, result: extremumResult('min') },
  { name: 'prod', parameters: typed, moves: 'reduction', compute: prod, result: accumulatedTo('prod') },
  { name: 'std', parameters: spread, moves: 'reduction', compute: std, result: reducedTo(spreadType) },
  { name: 'sum', parameters: typed, moves: 'reduction', compute: sum, result: accumulatedTo('sum') },
  { name: 'var', parameters: spread, moves: 'reduction', compute: variance, result: reducedTo(spreadType) },
]

export interface Statistics {
  cumulativeProd: typeof cumulativeProd
  cumulativeSum: typeof cumulativeSum
  max: typeof max
  mean: typeof mean
  min: typeof min
  prod: typeof prod
  std: typeof std
  sum: typeof sum
  var: typeof variance
}
