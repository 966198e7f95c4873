import type { Block } from '../../blocks/block.ts'
import { ArrayError } from '../../errors.ts'
import {
  eachOfStacks,
  floatingOf,
  identityMatrix,
  type Matrix,
  matrixShape,
  newMatrix,
  newStack,
  readMatrix,
  scaleToOne,
  stackShape,
  transposed,
  writeMatrix,
} from './matrix.ts'
import { makeReflector, type Reflector, reflect } from './reflector.ts'

/** Are there as many columns of Q as fit the shape, or is it square? */
export interface QrOptions {
  readonly mode?: 'reduced' | 'complete'
}

/** x = Q R for each matrix, by Householder reflections: the columns of Q are orthonormal, R is an upper triangle. */
export function qr(x: Block, { mode = 'reduced' }: QrOptions = {}): { Q: Block; R: Block } {
  const [rows, columns] = matrixShape(x)
  if (mode !== 'reduced' && mode !== 'complete')
    throw new ArrayError('VALUE', `Unrecognized mode '${mode}'; it is 'reduced' or 'complete'`)
  const count = mode === 'complete' ? rows : Math.min(rows, columns)
  const dtype = floatingOf(x.dtype)
  const Q = newStack(stackShape(x), dtype, rows, count)
  const R = newStack(stackShape(x), dtype, count, columns)
  const from = transposed(x)
  const orthonormal = transposed(Q)
  eachOfStacks([from, orthonormal, R], [2, 2, 2], ([place = 0, toQ = 0, toR = 0]) => {
    const matrix = readMatrix(from, place)
    const scale = scaleToOne(matrix)
    const reflectors = triangulate(matrix)
    writeMatrix(R, toR, triangle(matrix, reflectors, count, scale))
    writeMatrix(orthonormal, toQ, product(matrix, reflectors, { count, shift: 0 }))
  })
  return { Q, R }
}

/** Reflects each column, a row of the transposed matrix, onto its diagonal; leaves the vectors of reflections there. */
function triangulate(columns: Matrix): Reflector[] {
  const reflectors: Reflector[] = []
  for (let k = 0; k < Math.min(columns.rows, columns.columns); k += 1) {
    const reflector = makeReflector(columns, k, k)
    for (let j = k + 1; j < columns.rows; j += 1) reflect(columns, j, columns, k, k, reflector.tauRe, -reflector.tauIm)
    reflectors.push(reflector)
  }
  return reflectors
}

/** What `triangulate` left above the diagonal, which is in the reflectors. */
function triangle(columns: Matrix, reflectors: readonly Reflector[], rows: number, scale: number): Matrix {
  const result = newMatrix(rows, columns.rows, columns)
  for (let j = 0; j < columns.rows; j += 1) {
    for (let i = 0; i < Math.min(rows, j); i += 1) {
      result.re[i * result.columns + j] = columns.re[j * columns.columns + i]! * scale
      if (result.im !== undefined) result.im[i * result.columns + j] = columns.im![j * columns.columns + i]! * scale
    }
    const reflector = reflectors[j]
    if (reflector !== undefined) result.re[j * result.columns + j] = reflector.beta * scale
  }
  return result
}

/**
 * The first columns of the product of all reflections, each as a row. The vector of reflection k stands in row k from
 * column k + shift on.
 */
export function product(
  vectors: Matrix,
  reflectors: readonly Reflector[],
  { count, shift }: { readonly count: number; readonly shift: number },
): Matrix {
  const result = identityMatrix(count, vectors.columns, vectors)
  for (let k = reflectors.length - 1; k >= 0; k -= 1) {
    const { tauRe, tauIm } = reflectors[k]!
    for (let j = k + shift; j < count; j += 1) reflect(result, j, vectors, k, k + shift, tauRe, tauIm)
  }
  return result
}
