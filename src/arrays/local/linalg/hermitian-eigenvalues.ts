import type { Block } from '../../blocks/block.ts'
import { ArrayError } from '../../errors.ts'
import { realOf } from '../../types/dtype.ts'
import {
  eachOfStacks,
  floatingOf,
  hasOnlyFinite,
  type Matrix,
  newStack,
  readMatrix,
  scaleToOne,
  squareOrder,
  stackShape,
  transposed,
  writeMatrix,
  writeVector,
} from './matrix.ts'
import { sortedRows } from './rows.ts'
import { diagonalise, tridiagonalBasis, tridiagonalise } from './tridiagonal.ts'

/** Eigenvalues of Hermitian matrices in rising order, with the eigenvectors as columns. Reads the lower triangles. */
export function eigh(x: Block): { eigenvalues: Block; eigenvectors: Block } {
  const eigenvectors = newStack(stackShape(x), floatingOf(x.dtype), squareOrder(x), squareOrder(x))
  return { eigenvalues: solve(x, eigenvectors), eigenvectors }
}

export function eigvalsh(x: Block): Block {
  return solve(x, undefined)
}

function solve(x: Block, eigenvectors: Block | undefined): Block {
  const n = squareOrder(x)
  const eigenvalues = newStack(stackShape(x), realOf(floatingOf(x.dtype)), n)
  const to = eigenvectors === undefined ? eigenvalues : transposed(eigenvectors)
  const axes = eigenvectors === undefined ? 1 : 2
  const columns = transposed(x)
  eachOfStacks([columns, eigenvalues, to], [2, 1, axes], ([from = 0, place = 0, toVectors = 0]) => {
    const matrix = readMatrix(columns, from)
    mirrorLower(matrix)
    if (!hasOnlyFinite(matrix))
      throw new ArrayError('VALUE', 'Eigenvalues did not converge: the array has infs or NaNs')
    const scale = scaleToOne(matrix)
    const reduced = tridiagonalise(matrix)
    const basis = eigenvectors === undefined ? undefined : tridiagonalBasis(reduced)
    diagonalise(reduced, basis)
    const order = Array.from(reduced.diagonal.keys()).sort((a, b) => reduced.diagonal[a]! - reduced.diagonal[b]!)
    writeVector(
      eigenvalues,
      place,
      order.map((k) => reduced.diagonal[k]! * scale),
    )
    if (basis !== undefined) writeMatrix(to, toVectors, sortedRows(basis, order))
  })
  return eigenvalues
}

/** Makes the matrix, of which row j is column j, Hermitian: what is above the diagonal is taken from below it. */
function mirrorLower({ rows: n, re, im }: Matrix): void {
  for (let j = 0; j < n; j += 1) {
    if (im !== undefined) im[j * n + j] = 0
    for (let i = j + 1; i < n; i += 1) {
      re[i * n + j] = re[j * n + i]!
      if (im !== undefined) im[i * n + j] = -im[j * n + i]!
    }
  }
}
