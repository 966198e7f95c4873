import { ArrayError } from '../../errors.ts'
import { type Matrix, newMatrix } from './matrix.ts'
import { makeReflector, type Reflector, reflect } from './reflector.ts'
import { addMultiple, rotateRows } from './rows.ts'
import { isNegligible } from './tridiagonal.ts'

/** A real matrix of a diagonal and the one above it, and the reflections from left and right that led to it. */
export interface Bidiagonal {
  readonly diagonal: Float64Array
  /** One element less. */
  readonly above: Float64Array
  readonly left: readonly Reflector[]
  readonly right: readonly Reflector[]
  /** The vectors of reflections from the right; those from the left are left in the matrix. */
  readonly rightVectors: Matrix
}

/**
 * Reduces a matrix in place to two real diagonals. Its columns are given as rows, and there are at least as many rows
 * as columns. See G. Golub, W. Kahan, "Calculating the singular values and pseudo-inverse of a matrix", SIAM J. Numer.
 * Anal. B 2, 1965.
 */
export function bidiagonalise(columns: Matrix): Bidiagonal {
  const { rows: n, columns: m, re, im } = columns
  const diagonal = new Float64Array(n)
  const above = new Float64Array(Math.max(0, n - 1))
  const left: Reflector[] = []
  const right: Reflector[] = []
  const rightVectors = newMatrix(Math.max(0, n - 1), n, columns)
  const image = newMatrix(1, m, columns)
  for (let k = 0; k < n; k += 1) {
    const reflector = makeReflector(columns, k, k)
    diagonal[k] = reflector.beta
    left.push(reflector)
    for (let j = k + 1; j < n; j += 1) reflect(columns, j, columns, k, k, reflector.tauRe, -reflector.tauIm)
    if (k + 1 === n) break
    // The vector is made of the conjugate row, and is applied from the right: A - tau (A v) v*.
    for (let j = k + 1; j < n; j += 1) {
      rightVectors.re[k * n + j] = re[j * m + k]!
      if (im !== undefined) rightVectors.im![k * n + j] = -im[j * m + k]!
    }
    const { beta, tauRe, tauIm } = makeReflector(rightVectors, k, k + 1)
    above[k] = beta
    right.push({ beta, tauRe, tauIm })
    image.re.fill(0)
    image.im?.fill(0)
    for (let j = k + 1; j < n; j += 1) {
      const vi = im === undefined ? 0 : rightVectors.im![k * n + j]!
      addMultiple(image, 0, columns, j, k + 1, rightVectors.re[k * n + j]!, vi)
    }
    for (let j = k + 1; j < n; j += 1) {
      const vr = rightVectors.re[k * n + j]!
      const vi = im === undefined ? 0 : rightVectors.im![k * n + j]!
      addMultiple(columns, j, image, 0, k + 1, -(tauRe * vr + tauIm * vi), -(tauIm * vr - tauRe * vi))
    }
  }
  return { diagonal, above, left, right, rightVectors }
}

const STEPS_MAX = 60

/**
 * The singular values of two diagonals, in place, by implicit QR steps (G. H. Golub, C. Reinsch, "Singular value
 * decomposition and least squares solutions", Numer. Math. 14, 1970). Rotations are applied to the rows of both bases.
 */
export function diagonalise({ diagonal: d, above: e }: Bidiagonal, left?: Matrix, right?: Matrix): void {
  let end = d.length - 1
  let steps = 0
  while (end > 0) {
    let start = end
    while (start > 0 && !isNegligible(e[start - 1]!, d[start - 1]!, d[start]!, steps)) start -= 1
    if (start > 0) e[start - 1] = 0
    if (start === end) {
      end -= 1
      steps = 0
      continue
    }
    steps += 1
    if (steps > STEPS_MAX) throw new ArrayError('VALUE', 'SVD did not converge')
    const zero = zeroOfDiagonal(d, e, start, end)
    if (zero === undefined) step(d, e, start, end, left, right)
    else if (zero === end) clearColumn(d, e, start, end, right)
    else clearRow(d, e, zero, end, left)
  }
}

/** Where a number of the diagonal is nothing beside those above its neighbours, which must then be cleared. */
function zeroOfDiagonal(d: Float64Array, e: Float64Array, start: number, end: number): number | undefined {
  for (let k = end; k >= start; k -= 1) {
    const beside = (k < end ? Math.abs(e[k]!) : 0) + (k > start ? Math.abs(e[k - 1]!) : 0)
    if (Math.abs(d[k]!) > Number.EPSILON * beside) continue
    d[k] = 0
    return k
  }
  return undefined
}

/** Row `zero` has only the number right of the diagonal: rows below take it on, one after another. */
function clearRow(d: Float64Array, e: Float64Array, zero: number, end: number, left: Matrix | undefined): void {
  let moved = e[zero]!
  e[zero] = 0
  for (let k = zero + 1; k <= end; k += 1) {
    const r = Math.hypot(d[k]!, moved)
    if (r === 0) return
    const c = d[k]! / r
    const s = moved / r
    d[k] = r
    if (left !== undefined) rotateRows(left, k, zero, c, s)
    if (k === end) return
    moved = -s * e[k]!
    e[k] = c * e[k]!
  }
}

/** The last column has only the number above the diagonal: columns before take it on, one after another. */
function clearColumn(d: Float64Array, e: Float64Array, start: number, end: number, right: Matrix | undefined): void {
  let moved = e[end - 1]!
  e[end - 1] = 0
  for (let k = end - 1; k >= start; k -= 1) {
    const r = Math.hypot(d[k]!, moved)
    if (r === 0) return
    const c = d[k]! / r
    const s = moved / r
    d[k] = r
    if (right !== undefined) rotateRows(right, k, end, c, s)
    if (k === start) return
    moved = -s * e[k - 1]!
    e[k - 1] = c * e[k - 1]!
  }
}

function step(
  d: Float64Array,
  e: Float64Array,
  start: number,
  end: number,
  left: Matrix | undefined,
  right: Matrix | undefined,
): void {
  let x = d[start]! - shiftOf(d, e, start, end) / d[start]!
  let z = e[start]!
  for (let k = start; k < end; k += 1) {
    let r = Math.hypot(x, z)
    let c = r === 0 ? 1 : x / r
    let s = r === 0 ? 0 : z / r
    if (k > start) e[k - 1] = r
    x = c * d[k]! + s * e[k]!
    e[k] = c * e[k]! - s * d[k]!
    z = s * d[k + 1]!
    d[k + 1] = c * d[k + 1]!
    if (right !== undefined) rotateRows(right, k, k + 1, c, s)
    r = Math.hypot(x, z)
    c = r === 0 ? 1 : x / r
    s = r === 0 ? 0 : z / r
    d[k] = r
    x = c * e[k]! + s * d[k + 1]!
    d[k + 1] = c * d[k + 1]! - s * e[k]!
    e[k] = x
    if (k + 1 < end) {
      z = s * e[k + 1]!
      e[k + 1] = c * e[k + 1]!
    }
    if (left !== undefined) rotateRows(left, k, k + 1, c, s)
  }
}

/** The eigenvalue of the last two rows of B* B that is nearer to its last element. */
function shiftOf(d: Float64Array, e: Float64Array, start: number, end: number): number {
  const before = end - 1 > start ? e[end - 2]! : 0
  const first = d[end - 1]! * d[end - 1]! + before * before
  const last = d[end]! * d[end]! + e[end - 1]! * e[end - 1]!
  const beside = d[end - 1]! * e[end - 1]!
  const half = (first - last) / 2
  const root = Math.hypot(half, beside)
  const divisor = half + (half < 0 ? -root : root)
  return divisor === 0 ? last : last - beside * (beside / divisor)
}
