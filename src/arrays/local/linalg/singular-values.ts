import type { Block } from '../../blocks/block.ts'
import { ArrayError } from '../../errors.ts'
import { realOf } from '../../types/dtype.ts'
import { bidiagonalise, diagonalise } from './bidiagonal.ts'
import {
  conjugateMatrix,
  eachOfStacks,
  floatingOf,
  hasOnlyFinite,
  identityMatrix,
  type Matrix,
  matrixShape,
  newStack,
  readMatrix,
  scaleToOne,
  stackShape,
  transposed,
  writeMatrix,
  writeVector,
} from './matrix.ts'
import { product } from './qr.ts'
import { multiplyRow, sortedRows } from './rows.ts'

/** Are U and Vh square, or do they have as many columns and rows as there are singular values? */
export interface SvdOptions {
  readonly fullMatrices?: boolean
}

/** x = U S Vh for each matrix: U and Vh are unitary, S has the singular values in falling order. */
export function svd(x: Block, { fullMatrices = true }: SvdOptions = {}): { U: Block; S: Block; Vh: Block } {
  const [rows, columns] = matrixShape(x)
  const count = Math.min(rows, columns)
  const dtype = floatingOf(x.dtype)
  const U = newStack(stackShape(x), dtype, rows, fullMatrices ? rows : count)
  const Vh = newStack(stackShape(x), dtype, fullMatrices ? columns : count, columns)
  const S = newStack(stackShape(x), realOf(dtype), count)
  // A wide matrix is decomposed as its conjugate transpose, whose U is the V here.
  const isWide = rows < columns
  const from = isWide ? x : transposed(x)
  const tall = isWide ? Vh : transposed(U)
  const square = isWide ? transposed(U) : Vh
  eachOfStacks([from, tall, S, square], [2, 2, 1, 2], ([place = 0, toTall = 0, toS = 0, toSquare = 0]) => {
    const matrix = readMatrix(from, place)
    if (isWide) conjugateMatrix(matrix)
    const { values, left, right } = decompose(matrix, fullMatrices ? matrix.columns : count)
    writeVector(S, toS, values)
    writeMatrix(tall, toTall, isWide ? conjugateMatrix(left) : left)
    writeMatrix(square, toSquare, isWide ? right : conjugateMatrix(right))
  })
  return { U, S, Vh }
}

/** The singular values of each matrix in falling order. */
export function svdvals(x: Block): Block {
  const [rows, columns] = matrixShape(x)
  const S = newStack(stackShape(x), realOf(floatingOf(x.dtype)), Math.min(rows, columns))
  const from = rows < columns ? x : transposed(x)
  eachOfStacks([from, S], [2, 1], ([place = 0, to = 0]) => {
    const matrix = readMatrix(from, place)
    const scale = scaled(matrix)
    const reduced = bidiagonalise(matrix)
    diagonalise(reduced)
    writeVector(
      S,
      to,
      reduced.diagonal
        .map((value) => Math.abs(value) * scale)
        .sort()
        .reverse(),
    )
  })
  return S
}

/** Decomposes a matrix given by its columns. Rows of `left` and `right` are the columns of U and V. */
function decompose(columns: Matrix, count: number): { values: number[]; left: Matrix; right: Matrix } {
  const scale = scaled(columns)
  const reduced = bidiagonalise(columns)
  const left = product(columns, reduced.left, { count, shift: 0 })
  const right =
    columns.rows === 0
      ? identityMatrix(0, 0, columns)
      : product({ ...reduced.rightVectors, columns: columns.rows }, reduced.right, { count: columns.rows, shift: 1 })
  diagonalise(reduced, left, right)
  const values = reduced.diagonal
  for (const [k, value] of values.entries()) {
    if (value < 0) multiplyRow(right, k, 0, -1, 0)
    values[k] = Math.abs(value) * scale
  }
  const order = Array.from(values.keys()).sort((a, b) => values[b]! - values[a]!)
  const others = Array.from({ length: count - order.length }, (_, k) => order.length + k)
  return {
    values: order.map((k) => values[k]!),
    left: sortedRows(left, [...order, ...others]),
    right: sortedRows(right, order),
  }
}

function scaled(matrix: Matrix): number {
  if (!hasOnlyFinite(matrix)) throw new ArrayError('VALUE', 'SVD did not converge: the array has infs or NaNs')
  return scaleToOne(matrix)
}
