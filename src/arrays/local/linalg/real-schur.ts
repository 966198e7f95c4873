import { ArrayError } from '../../errors.ts'
import type { Matrix } from './matrix.ts'
import { rotateRows } from './rows.ts'
import { isNegligible } from './tridiagonal.ts'

const STEPS_MAX = 60

/**
 * Makes a real Hessenberg matrix in place an upper triangle, but for blocks of two rows with conjugate eigenvalues. The
 * double steps are those of J. G. F. Francis, "The QR transformation", Comput. J. 4, 1961. Rotations and reflections
 * are applied to the rows of the basis.
 */
export function reduceToRealSchur(matrix: Matrix, basis: Matrix | undefined): void {
  const { re: h, rows: n } = matrix
  let end = n - 1
  let steps = 0
  while (end > 0) {
    let start = end
    while (start > 0 && !isNegligible(h[start * n + start - 1]!, h[(start - 1) * (n + 1)]!, h[start * (n + 1)]!))
      start -= 1
    if (start > 0) h[start * n + start - 1] = 0
    if (start < end - 1) {
      steps += 1
      if (steps > STEPS_MAX) throw new ArrayError('VALUE', 'Eigenvalues did not converge')
      doubleStep(matrix, basis, { start, end, isExceptional: steps % 10 === 0 })
      continue
    }
    if (start === end - 1) splitPair(matrix, basis, start)
    end = start - 1
    steps = 0
  }
}

/** A block of two rows with real eigenvalues is rotated to a triangle. */
function splitPair(matrix: Matrix, basis: Matrix | undefined, k: number): void {
  const { re: h, rows: n } = matrix
  const a = h[k * n + k]!
  const b = h[k * n + k + 1]!
  const c = h[(k + 1) * n + k]!
  const d = h[(k + 1) * n + k + 1]!
  const half = (a - d) / 2
  const discriminant = half * half + b * c
  if (c === 0 || discriminant < 0) return
  // (z, c) is the eigenvector of the eigenvalue d + z.
  const root = Math.sqrt(discriminant)
  const z = half < 0 ? half - root : half + root
  const r = Math.hypot(z, c)
  rotateBoth(matrix, basis, k, z / r, c / r)
  h[k * n + k] = d + z
  h[(k + 1) * n + k + 1] = z === 0 ? d : d - b * (c / z)
  h[(k + 1) * n + k] = 0
}

/** Turns rows, columns and the basis in the plane of k and k + 1. */
function rotateBoth({ re: h, rows: n }: Matrix, basis: Matrix | undefined, k: number, c: number, s: number): void {
  for (let j = k; j < n; j += 1) {
    const a = h[k * n + j]!
    const b = h[(k + 1) * n + j]!
    h[k * n + j] = c * a + s * b
    h[(k + 1) * n + j] = c * b - s * a
  }
  for (let i = 0; i < Math.min(n, k + 3); i += 1) {
    const a = h[i * n + k]!
    const b = h[i * n + k + 1]!
    h[i * n + k] = c * a + s * b
    h[i * n + k + 1] = c * b - s * a
  }
  if (basis !== undefined) rotateRows(basis, k, k + 1, c, s)
}

interface Block {
  readonly start: number
  readonly end: number
  /** Other shifts are taken now and then, since some matrices go in circles with the usual ones. */
  readonly isExceptional: boolean
}

function doubleStep(matrix: Matrix, basis: Matrix | undefined, { start, end, isExceptional }: Block): void {
  const { re: h, rows: n } = matrix
  const at = (row: number, column: number): number => h[row * n + column]!
  const { sum, determinant } = shiftsOf(matrix, end, isExceptional)
  let x = at(start, start) * (at(start, start) - sum) + at(start, start + 1) * at(start + 1, start) + determinant
  let y = at(start + 1, start) * (at(start, start) + at(start + 1, start + 1) - sum)
  let z = at(start + 1, start) * at(start + 2, start + 1)
  for (let k = start; k <= end - 2; k += 1) {
    const largest = Math.max(Math.abs(x), Math.abs(y), Math.abs(z))
    if (largest > 0) {
      // The reflection I - u w^T that takes (x, y, z) to (beta, 0, 0).
      x /= largest
      y /= largest
      z /= largest
      const norm = Math.sqrt(x * x + y * y + z * z)
      const beta = x < 0 ? norm : -norm
      const u0 = (beta - x) / beta
      const u1 = -y / beta
      const u2 = -z / beta
      const w1 = y / (x - beta)
      const w2 = z / (x - beta)
      if (k > start) {
        h[k * n + k - 1] = beta * largest
        h[(k + 1) * n + k - 1] = 0
        h[(k + 2) * n + k - 1] = 0
      }
      reflectRows(h, { first: k * n + k, step: n, count: n - k, apart: 1 }, [u0, u1, u2, w1, w2])
      reflectRows(h, { first: k, step: 1, count: Math.min(k + 3, end) + 1, apart: n }, [u0, u1, u2, w1, w2])
      if (basis !== undefined)
        reflectRows(basis.re, { first: k * n, step: n, count: n, apart: 1 }, [u0, u1, u2, w1, w2])
    }
    x = at(k + 1, k)
    y = at(k + 2, k)
    if (k < end - 2) z = at(k + 3, k)
  }
  const r = Math.hypot(x, y)
  if (r === 0) return
  const k = end - 1
  h[k * n + k - 1] = r
  h[end * n + k - 1] = 0
  rotateBoth(matrix, basis, k, x / r, y / r)
}

/**
 * The sum and the product of two shifts: the eigenvalues of the last two rows. Of two real ones the nearer to the last
 * element is taken twice: a block above with the same two eigenvalues would stop the iteration.
 */
function shiftsOf(
  { re: h, rows: n }: Matrix,
  end: number,
  isExceptional: boolean,
): { sum: number; determinant: number } {
  const a = h[(end - 1) * n + end - 1]!
  const b = h[(end - 1) * n + end]!
  const c = h[end * n + end - 1]!
  const d = h[end * n + end]!
  if (isExceptional) {
    const size = Math.abs(c) + Math.abs(h[(end - 1) * n + end - 2]!)
    return { sum: 1.5 * size, determinant: size * size }
  }
  const half = (a - d) / 2
  const discriminant = half * half + b * c
  if (discriminant < 0) return { sum: a + d, determinant: a * d - b * c }
  const away = half + (half < 0 ? -1 : 1) * Math.sqrt(discriminant)
  const shift = away === 0 ? d : d - b * (c / away)
  return { sum: 2 * shift, determinant: shift * shift }
}

/** Triples of numbers that lie `step` apart, as many as `count`, each `apart` from the one before. */
interface Triples {
  readonly first: number
  readonly step: number
  readonly count: number
  readonly apart: number
}

function reflectRows(
  numbers: Float64Array,
  { first, step, count, apart }: Triples,
  [u0, u1, u2, w1, w2]: readonly [number, number, number, number, number],
): void {
  for (let index = 0, at = first; index < count; index += 1, at += apart) {
    const sum = numbers[at]! + w1 * numbers[at + step]! + w2 * numbers[at + 2 * step]!
    numbers[at] = numbers[at]! - sum * u0
    numbers[at + step] = numbers[at + step]! - sum * u1
    numbers[at + 2 * step] = numbers[at + 2 * step]! - sum * u2
  }
}
