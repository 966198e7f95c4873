import { cholesky } from '../local/linalg/cholesky.ts'
import { cross } from '../local/linalg/cross.ts'
import { diagonal, trace } from '../local/linalg/diagonal.ts'
import { eig, eigvals } from '../local/linalg/eigenvalues.ts'
import { det, inv, slogdet, solve } from '../local/linalg/elimination.ts'
import { eigh, eigvalsh } from '../local/linalg/hermitian-eigenvalues.ts'
import { matmul, outer } from '../local/linalg/matmul.ts'
import { transposed as matrixTranspose } from '../local/linalg/matrix.ts'
import { matrixPower } from '../local/linalg/matrix-power.ts'
import { matrixNorm, vectorNorm } from '../local/linalg/norms.ts'
import { matrixRank, pinv } from '../local/linalg/pseudo-inverse.ts'
import { qr } from '../local/linalg/qr.ts'
import { svd, svdvals } from '../local/linalg/singular-values.ts'
import { tensordot } from '../local/linalg/tensordot.ts'
import { vecdot } from '../local/linalg/vecdot.ts'
import type { BlockFunction, Entry } from './entry.ts'

/** The functions of linear algebra that the standard has in its main namespace, and in the extension `linalg` too. */
const products: readonly Entry[] = [
  { name: 'matmul', parameters: 'x1, x2, /', moves: 'exchange', compute: matmul },
  { name: 'matrix_transpose', parameters: 'x, /', moves: 'exchange', compute: matrixTranspose },
  { name: 'tensordot', parameters: 'x1, x2, /, *, axes=2', moves: 'exchange', compute: tensordot },
  { name: 'vecdot', parameters: 'x1, x2, /, *, axis=-1', moves: 'reduction', compute: vecdot },
]

/** A function of whole matrices, which each rank needs. */
const whole = (name: string, parameters: string, compute: BlockFunction): Entry => ({
  name: `linalg.${name}`,
  parameters,
  moves: 'everything',
  compute,
})

export const linearAlgebra: readonly Entry[] = [
  ...products,
  ...products.map((entry) => ({ ...entry, name: `linalg.${entry.name}` })),
  whole('cholesky', 'x, /, *, upper=False', cholesky),
  { name: 'linalg.cross', parameters: 'x1, x2, /, *, axis=-1', moves: 'exchange', compute: cross },
  whole('det', 'x, /', det),
  { name: 'linalg.diagonal', parameters: 'x, /, *, offset=0', moves: 'exchange', compute: diagonal },
  whole('eig', 'x, /', eig),
  whole('eigh', 'x, /', eigh),
  whole('eigvals', 'x, /', eigvals),
  whole('eigvalsh', 'x, /', eigvalsh),
  whole('inv', 'x, /', inv),
  whole('matrix_norm', "x, /, *, keepdims=False, ord='fro'", matrixNorm),
  whole('matrix_power', 'x, n, /', matrixPower),
  whole('matrix_rank', 'x, /, *, rtol=None', matrixRank),
  { name: 'linalg.outer', parameters: 'x1, x2, /', moves: 'exchange', compute: outer },
  whole('pinv', 'x, /, *, rtol=None', pinv),
  whole('qr', "x, /, *, mode='reduced'", qr),
  whole('slogdet', 'x, /', slogdet),
  whole('solve', 'x1, x2, /', solve),
  whole('svd', 'x, /, *, full_matrices=True', svd),
  whole('svdvals', 'x, /', svdvals),
  { name: 'linalg.trace', parameters: 'x, /, *, offset=0, dtype=None', moves: 'reduction', compute: trace },
  {
    name: 'linalg.vector_norm',
    parameters: 'x, /, *, axis=None, keepdims=False, ord=2',
    moves: 'reduction',
    compute: vectorNorm,
  },
]

/** Those of the main namespace. */
export interface Products {
  matmul: typeof matmul
  matrixTranspose: typeof matrixTranspose
  tensordot: typeof tensordot
  vecdot: typeof vecdot
}

/** Those of the extension `linalg`. */
export interface LinearAlgebra extends Products {
  cholesky: typeof cholesky
  cross: typeof cross
  det: typeof det
  diagonal: typeof diagonal
  eig: typeof eig
  eigh: typeof eigh
  eigvals: typeof eigvals
  eigvalsh: typeof eigvalsh
  inv: typeof inv
  matrixNorm: typeof matrixNorm
  matrixPower: typeof matrixPower
  matrixRank: typeof matrixRank
  outer: typeof outer
  pinv: typeof pinv
  qr: typeof qr
  slogdet: typeof slogdet
  solve: typeof solve
  svd: typeof svd
  svdvals: typeof svdvals
  trace: typeof trace
  vectorNorm: typeof vectorNorm
}
