import { type Block, newBlock } from '../../blocks/block.ts'
import { broadcastShapes } from '../../blocks/layout.ts'
import { ArrayError, shapeText } from '../../errors.ts'
import type { Complex } from '../../types/complex.ts'
import { isComplex, realOf } from '../../types/dtype.ts'
import { promote } from '../../types/promotion.ts'
import { quotient } from './complex.ts'
import {
  eachOfStacks,
  floatingOf,
  type Matrix,
  matrixShape,
  newMatrix,
  newStack,
  readInto,
  readMatrix,
  squareOrder,
  stackShape,
  writeMatrix,
} from './matrix.ts'
import { addMultiple, exchangeRows, multiplyRow } from './rows.ts'

/** The solution of x1 y = x2 for each matrix; x2 is one vector if it has one axis, else a stack of matrices. */
export function solve(x1: Block, x2: Block): Block {
  const order = squareOrder(x1)
  const isVector = x2.shape.length === 1
  const right: Block = isVector ? { ...x2, shape: [...x2.shape, 1], strides: [...x2.strides, 0] } : x2
  const [rows, columns] = matrixShape(right)
  if (rows !== order)
    throw new ArrayError(
      'SHAPE',
      `solve: ${shapeText(x1.shape)} and ${shapeText(x2.shape)} do not match: ` +
        `the matrix has ${order} rows, the right side ${rows}`,
    )
  const dtype = promote(floatingOf(x1.dtype), floatingOf(x2.dtype))
  const stack = broadcastShapes(stackShape(x1), stackShape(right))
  const result = newStack(stack, dtype, rows, columns)
  eachOfStacks([x1, right, result], [2, 2, 2], ([left = 0, place = 0, to = 0]) => {
    const matrix = newMatrix(order, order + columns, { im: isComplex(dtype) ? new Float64Array() : undefined })
    readInto(matrix, 0, x1, left)
    readInto(matrix, order, right, place)
    writeMatrix(result, to, solveInPlace(matrix), order)
  })
  return isVector ? { ...result, shape: result.shape.slice(0, -1), strides: result.strides.slice(0, -1) } : result
}

/** The inverse of each matrix. @throws ArrayError if there is none */
export function inv(x: Block): Block {
  const order = squareOrder(x)
  const result = newBlock(floatingOf(x.dtype), x.shape)
  eachOfStacks([x, result], [2, 2], ([from = 0, to = 0]) => {
    const matrix = readMatrix(x, from, order)
    for (let k = 0; k < order; k += 1) matrix.re[k * matrix.columns + order + k] = 1
    writeMatrix(result, to, solveInPlace(matrix), order)
  })
  return result
}

/** The determinant of each matrix. */
export function det(x: Block): Block {
  return ofDiagonals(x, (sign, diagonal) => {
    let product: Complex = { re: sign, im: 0 }
    for (const { re, im } of diagonal)
      product = { re: product.re * re - product.im * im, im: product.re * im + product.im * re }
    return product
  })
}

/** The determinant of each matrix as its sign, a number of absolute value 1 or 0, and the logarithm of its size. */
export function slogdet(x: Block): { sign: Block; logabsdet: Block } {
  const logabsdet = newStack(stackShape(x), realOf(floatingOf(x.dtype)))
  let index = 0
  const sign = ofDiagonals(x, (exchanges, diagonal) => {
    let product: Complex = { re: exchanges, im: 0 }
    let logarithm = 0
    for (const { re, im } of diagonal) {
      const size = Math.hypot(re, im)
      logarithm += Math.log(size)
      const unit = size === 0 ? { re: 0, im: 0 } : { re: re / size, im: im / size }
      product = { re: product.re * unit.re - product.im * unit.im, im: product.re * unit.im + product.im * unit.re }
    }
    logabsdet.data[index] = logarithm
    index += 1
    return product
  })
  return { sign, logabsdet }
}

/** One number of each matrix, made of the sign of its exchanges and the diagonal that elimination leaves. */
function ofDiagonals(x: Block, make: (sign: number, diagonal: readonly Complex[]) => Complex): Block {
  const order = squareOrder(x)
  const result = newStack(stackShape(x), floatingOf(x.dtype))
  const { lanes } = result.dtype
  eachOfStacks([x, result], [2, 0], ([from = 0, to = 0]) => {
    const matrix = readMatrix(x, from)
    const { sign } = eliminate(matrix)
    const diagonal = Array.from({ length: order }, (_, k) => elementAt(matrix, k, k))
    const { re, im } = make(sign, diagonal)
    // A determinant of 0 has no sign.
    result.data[to * lanes] = re + 0
    if (lanes === 2) result.data[to * lanes + 1] = im + 0
  })
  return result
}

function elementAt({ re, im, columns }: Matrix, row: number, column: number): Complex {
  return { re: re[row * columns + column]!, im: im?.[row * columns + column] ?? 0 }
}

/**
 * Gaussian elimination with partial pivoting, in place, of a square matrix and the columns right of it. Returns the
 * sign of the permutation, and whether a pivot was 0. Elements below the diagonal keep what they had.
 */
function eliminate(matrix: Matrix): { sign: 1 | -1; isSingular: boolean } {
  const { rows, columns, re, im } = matrix
  let sign: 1 | -1 = 1
  let isSingular = false
  for (let k = 0; k < rows; k += 1) {
    let pivot = k
    let largest = -1
    for (let row = k; row < rows; row += 1) {
      const size = Math.abs(re[row * columns + k]!) + (im === undefined ? 0 : Math.abs(im[row * columns + k]!))
      if (size > largest) {
        largest = size
        pivot = row
      }
    }
    if (largest === 0) {
      isSingular = true
      continue
    }
    if (pivot !== k) {
      exchangeRows(matrix, pivot, k)
      sign = sign === 1 ? -1 : 1
    }
    const { re: pr, im: pi } = elementAt(matrix, k, k)
    for (let row = k + 1; row < rows; row += 1) {
      const { re: ar, im: ai } = elementAt(matrix, row, k)
      if (ar === 0 && ai === 0) continue
      const factor = quotient(ar, ai, pr, pi)
      addMultiple(matrix, row, matrix, k, k + 1, -factor.re, -factor.im)
    }
  }
  return { sign, isSingular }
}

/** Makes the columns right of a square matrix the solution. @throws ArrayError */
function solveInPlace(matrix: Matrix): Matrix {
  if (eliminate(matrix).isSingular) throw new ArrayError('VALUE', 'Singular matrix')
  const { rows } = matrix
  for (let row = rows - 1; row >= 0; row -= 1) {
    for (let below = row + 1; below < rows; below += 1) {
      const { re, im } = elementAt(matrix, row, below)
      if (re !== 0 || im !== 0) addMultiple(matrix, row, matrix, below, rows, -re, -im)
    }
    const pivot = elementAt(matrix, row, row)
    const inverse = quotient(1, 0, pivot.re, pivot.im)
    multiplyRow(matrix, row, rows, inverse.re, inverse.im)
  }
  return matrix
}
