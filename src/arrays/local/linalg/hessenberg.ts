import { type Matrix, newMatrix } from './matrix.ts'
import { product } from './qr.ts'
import { makeReflector, type Reflector, reflect } from './reflector.ts'
import { addMultiple } from './rows.ts'

/**
 * Reduces a matrix in place, by reflections from both sides, to one of which only one diagonal below the main one has
 * elements. Returns the basis, its columns as rows, if it is wanted ("Matrix computations", 7.4.2).
 */
export function reduceToHessenberg(matrix: Matrix, isBasisWanted: boolean): Matrix | undefined {
  const { rows: n, re, im } = matrix
  const vectors = newMatrix(Math.max(0, n - 2), n, matrix)
  const conjugate = newMatrix(1, n, matrix)
  const image = newMatrix(1, n, matrix)
  const reflectors: Reflector[] = []
  for (let k = 0; k + 2 < n; k += 1) {
    for (let i = k + 1; i < n; i += 1) {
      vectors.re[k * n + i] = re[i * n + k]!
      if (im !== undefined) vectors.im![k * n + i] = im[i * n + k]!
    }
    const reflector = makeReflector(vectors, k, k + 1)
    const { beta, tauRe, tauIm } = reflector
    reflectors.push(reflector)
    for (let i = k + 1; i < n; i += 1) {
      re[i * n + k] = i === k + 1 ? beta : 0
      if (im !== undefined) im[i * n + k] = 0
    }
    conjugate.re.set(vectors.re.subarray(k * n, (k + 1) * n))
    for (let i = k + 1; im !== undefined && i < n; i += 1) conjugate.im![i] = -vectors.im![k * n + i]!
    // From the left: A - conj(tau) v (v* A), for the columns right of k.
    image.re.fill(0)
    image.im?.fill(0)
    for (let i = k + 1; i < n; i += 1)
      addMultiple(image, 0, matrix, i, k + 1, conjugate.re[i]!, im === undefined ? 0 : conjugate.im![i]!)
    for (let i = k + 1; i < n; i += 1) {
      const vr = vectors.re[k * n + i]!
      const vi = im === undefined ? 0 : vectors.im![k * n + i]!
      addMultiple(matrix, i, image, 0, k + 1, -(tauRe * vr + tauIm * vi), -(tauRe * vi - tauIm * vr))
    }
    // From the right: each row, with the conjugate vector.
    for (let i = 0; i < n; i += 1) reflect(matrix, i, conjugate, 0, k + 1, tauRe, tauIm)
  }
  return isBasisWanted ? product({ ...vectors, columns: n }, reflectors, { count: n, shift: 1 }) : undefined
}
