import { ArrayError } from '../../errors.ts'
import { type Matrix, newMatrix } from './matrix.ts'
import { product } from './qr.ts'
import { makeReflector, type Reflector } from './reflector.ts'
import { addMultiple, rotateRows } from './rows.ts'

/** A real symmetric matrix with three diagonals. */
export interface Tridiagonal {
  readonly diagonal: Float64Array
  /** One element less. */
  readonly below: Float64Array
  /** The vectors of the reflections that led here, and their factors. */
  readonly vectors: Matrix
  readonly reflectors: readonly Reflector[]
}

/** Reduces a Hermitian matrix in place to three real diagonals (Golub, Van Loan, "Matrix computations", 8.3.1). */
export function tridiagonalise(matrix: Matrix): Tridiagonal {
  const { rows: n, re, im } = matrix
  const diagonal = new Float64Array(n)
  const below = new Float64Array(Math.max(0, n - 1))
  const vectors = newMatrix(Math.max(0, n - 1), n, matrix)
  const reflectors: Reflector[] = []
  const image = newMatrix(1, n, matrix)
  for (let k = 0; k + 1 < n; k += 1) {
    diagonal[k] = re[k * n + k]!
    vectors.re.set(re.subarray(k * n + k + 1, (k + 1) * n), k * n + k + 1)
    if (im !== undefined) vectors.im!.set(im.subarray(k * n + k + 1, (k + 1) * n), k * n + k + 1)
    const reflector = makeReflector(vectors, k, k + 1)
    below[k] = reflector.beta
    reflectors.push(reflector)
    if (reflector.tauRe !== 0 || reflector.tauIm !== 0) reflectBothSides(matrix, vectors, k, reflector, image)
  }
  if (n > 0) diagonal[n - 1] = re[n * n - 1]!
  return { diagonal, below, vectors, reflectors }
}

/** A = H* A H for the columns from k + 1 on, each a row: A - w v* - v w*, where w is made of A v. */
function reflectBothSides(
  matrix: Matrix,
  vectors: Matrix,
  k: number,
  { tauRe, tauIm }: Reflector,
  image: Matrix,
): void {
  const n = matrix.rows
  const v = k * n
  image.re.fill(0)
  image.im?.fill(0)
  for (let j = k + 1; j < n; j += 1)
    addMultiple(image, 0, matrix, j, k + 1, vectors.re[v + j]!, vectors.im === undefined ? 0 : vectors.im[v + j]!)
  // v* A v is real.
  let form = 0
  for (let j = k + 1; j < n; j += 1) {
    form += vectors.re[v + j]! * image.re[j]!
    if (image.im !== undefined) form += vectors.im![v + j]! * image.im[j]!
  }
  const half = ((tauRe * tauRe + tauIm * tauIm) * form) / 2
  for (let j = k + 1; j < n; j += 1) {
    const re = image.re[j]!
    const im = image.im === undefined ? 0 : image.im[j]!
    image.re[j] = tauRe * re - tauIm * im - half * vectors.re[v + j]!
    if (image.im !== undefined) image.im[j] = tauRe * im + tauIm * re - half * vectors.im![v + j]!
  }
  for (let j = k + 1; j < n; j += 1) {
    addMultiple(matrix, j, image, 0, k + 1, -vectors.re[v + j]!, vectors.im === undefined ? 0 : vectors.im[v + j]!)
    addMultiple(matrix, j, vectors, k, k + 1, -image.re[j]!, image.im === undefined ? 0 : image.im[j]!)
  }
}

/** The unitary matrix of the reduction, its columns as rows. */
export function tridiagonalBasis({ vectors, reflectors, diagonal }: Tridiagonal): Matrix {
  return product({ ...vectors, columns: diagonal.length }, reflectors, { count: diagonal.length, shift: 1 })
}

/** Where matrices are scaled to one, smaller elements are taken for 0: their squares would be. */
export const SIZE_MIN = 1e-150
const STEPS_MAX = 40

/**
 * The eigenvalues of three diagonals, in place, by implicit QR steps with Wilkinson's shift ("Matrix computations",
 * 8.3.2). Each rotation is applied to the basis, whose rows become the eigenvectors.
 */
export function diagonalise({ diagonal: d, below: e }: Tridiagonal, basis: Matrix | undefined): void {
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
    if (steps > STEPS_MAX) throw new ArrayError('VALUE', 'Eigenvalues did not converge')
    step(d, e, start, end, basis)
  }
}

/**
 * An element beside the diagonal that is nothing beside its neighbours. After many steps it may be as large as the
 * rounding errors of a step, below which no step takes it.
 */
export function isNegligible(beside: number, first: number, second: number, steps: number = 0): boolean {
  const size = Math.abs(beside)
  const units = steps > STEPS_USUAL ? 16 : 1
  return size <= units * Number.EPSILON * (Math.abs(first) + Math.abs(second)) || size < SIZE_MIN
}

const STEPS_USUAL = 20

function step(d: Float64Array, e: Float64Array, start: number, end: number, basis: Matrix | undefined): void {
  const last = e[end - 1]!
  const half = (d[end - 1]! - d[end]!) / 2
  const root = Math.hypot(half, last)
  const shift = d[end]! - last * (last / (half + (half < 0 ? -root : root)))
  let x = d[start]! - shift
  let z = e[start]!
  for (let k = start; k < end; k += 1) {
    const r = Math.hypot(x, z)
    const c = r === 0 ? 1 : x / r
    const s = r === 0 ? 0 : z / r
    if (k > start) e[k - 1] = r
    const turned = (d[k + 1]! - d[k]!) * s + 2 * c * e[k]!
    d[k] = d[k]! + s * turned
    d[k + 1] = d[k + 1]! - s * turned
    e[k] = c * turned - e[k]!
    x = e[k]!
    if (k + 1 < end) {
      z = s * e[k + 1]!
      e[k + 1] = c * e[k + 1]!
    }
    if (basis !== undefined) rotateRows(basis, k, k + 1, c, s)
  }
}
