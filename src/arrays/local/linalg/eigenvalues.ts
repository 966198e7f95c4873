import type { Block } from '../../blocks/block.ts'
import { ArrayError } from '../../errors.ts'
import { complexOf } from '../../types/dtype.ts'
import { balance } from './balance.ts'
import { reduceToComplexSchur } from './complex-schur.ts'
import { eigenvaluesOf, eigenvectorsOf } from './eigenvectors.ts'
import { reduceToHessenberg } from './hessenberg.ts'
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
} from './matrix.ts'
import { reduceToRealSchur } from './real-schur.ts'

/** Eigenvalues of square matrices in no order, and eigenvectors of norm 1 as columns; complex for any matrix. */
export function eig(x: Block): { eigenvalues: Block; eigenvectors: Block } {
  const n = squareOrder(x)
  const eigenvectors = newStack(stackShape(x), complexOf(floatingOf(x.dtype)), n, n)
  return { eigenvalues: solve(x, eigenvectors), eigenvectors }
}

export function eigvals(x: Block): Block {
  return solve(x, undefined)
}

function solve(x: Block, eigenvectors: Block | undefined): Block {
  const n = squareOrder(x)
  const eigenvalues = newStack(stackShape(x), complexOf(floatingOf(x.dtype)), n)
  const to = eigenvectors === undefined ? eigenvalues : transposed(eigenvectors)
  const axes = eigenvectors === undefined ? 1 : 2
  eachOfStacks([x, eigenvalues, to], [2, 1, axes], ([from = 0, place = 0, toVectors = 0]) => {
    const matrix = readMatrix(x, from)
    if (!hasOnlyFinite(matrix)) throw new ArrayError('VALUE', 'Array must not contain infs or NaNs')
    const scale = scaleToOne(matrix)
    const balanced = balance(matrix)
    const basis = reduceToHessenberg(matrix, eigenvectors !== undefined)
    reduceToSchur(matrix, basis)
    for (const [k, { re, im }] of eigenvaluesOf(matrix).entries()) {
      eigenvalues.data[2 * (place + k)] = re * scale
      eigenvalues.data[2 * (place + k) + 1] = im * scale
    }
    if (basis !== undefined) writeMatrix(to, toVectors, eigenvectorsOf(matrix, basis, balanced))
  })
  return eigenvalues
}

function reduceToSchur(matrix: Matrix, basis: Matrix | undefined): void {
  if (matrix.im === undefined) reduceToRealSchur(matrix, basis)
  else reduceToComplexSchur(matrix, basis)
}
