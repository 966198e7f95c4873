import { fromDense, fromTriplets, rowsBetween, toDense, transpose } from '../local/sparse/conversion.ts'
import { sparseMatmul } from '../local/sparse/product.ts'
import type { Entry } from './entry.ts'

/** Matrices by compressed rows: records of a shape and of arrays. */
export const sparseFunctions: readonly Entry[] = [
  {
    name: 'sparse.from_triplets',
    parameters: 'rows, columns, data, shape, /',
    moves: 'everything',
    compute: fromTriplets,
  },
  { name: 'sparse.from_dense', parameters: 'x, /', moves: 'everything', compute: fromDense },
  { name: 'sparse.to_dense', parameters: 'matrix, /', moves: 'everything', compute: toDense },
  { name: 'sparse.transpose', parameters: 'matrix, /', moves: 'everything', compute: transpose },
  { name: 'sparse.rows_between', parameters: 'matrix, start, stop, /', moves: 'everything', compute: rowsBetween },
  { name: 'sparse.matmul', parameters: 'matrix, x, /', moves: 'everything', compute: sparseMatmul },
]

export interface Sparse {
  sparse: {
    fromTriplets: typeof fromTriplets
    fromDense: typeof fromDense
    toDense: typeof toDense
    transpose: typeof transpose
    rowsBetween: typeof rowsBetween
    matmul: typeof sparseMatmul
  }
}
