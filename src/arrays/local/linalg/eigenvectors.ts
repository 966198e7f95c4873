import type { Complex } from '../../types/complex.ts'
import { type Balance, unbalance } from './balance.ts'
import { quotient } from './complex.ts'
import { type Matrix, newMatrix } from './matrix.ts'
import { addMultiple, multiplyRow, squaresOf } from './rows.ts'

/** Is row k of a Schur form the first of a block of two? */
function isPair({ re, rows: n }: Matrix, k: number): boolean {
  return k + 1 < n && re[(k + 1) * n + k] !== 0
}

/** The eigenvalues of a Schur form: an upper triangle with blocks of two rows, which have conjugate eigenvalues. */
export function eigenvaluesOf(schur: Matrix): Complex[] {
  const { re, im, rows: n } = schur
  const values: Complex[] = []
  for (let k = 0; k < n; k += 1) {
    if (im !== undefined || !isPair(schur, k)) {
      values.push({ re: re[k * (n + 1)]!, im: im === undefined ? 0 : im[k * (n + 1)]! })
      continue
    }
    const a = re[k * n + k]!
    const d = re[(k + 1) * n + k + 1]!
    const half = (a - d) / 2
    const imaginary = Math.sqrt(-(half * half + re[k * n + k + 1]! * re[(k + 1) * n + k]!))
    values.push({ re: d + half, im: imaginary }, { re: d + half, im: -imaginary })
    k += 1
  }
  return values
}

/**
 * The eigenvectors of the matrix that `basis` took to a Schur form, as rows of norm 1. Of a complex vector the largest
 * element is made real, as LAPACK does.
 */
export function eigenvectorsOf(schur: Matrix, basis: Matrix, balance: Balance): Matrix {
  const n = schur.rows
  const vectors = newMatrix(n, n, { im: schur.re })
  const smallest =
    Number.EPSILON * Math.max(1e-290, largestOf(schur.re), schur.im === undefined ? 0 : largestOf(schur.im))
  const values = eigenvaluesOf(schur)
  for (let k = 0; k < n; k += 1) {
    const { re, im } = values[k]!
    const pair = schur.im === undefined && im !== 0
    const coefficients = backSubstitute(schur, k, { re, im, smallest, pair })
    for (let j = 0; j < coefficients.re.length; j += 1)
      addMultiple(vectors, k, basis, j, 0, coefficients.re[j]!, coefficients.im[j]!)
    unbalance(vectors, k, balance)
    normalise(vectors, k)
    if (!pair) continue
    for (let j = 0; j < n; j += 1) {
      vectors.re[(k + 1) * n + j] = vectors.re[k * n + j]!
      vectors.im![(k + 1) * n + j] = -vectors.im![k * n + j]!
    }
    k += 1
  }
  return vectors
}

interface Eigenvalue extends Complex {
  /** A divisor below this is taken for this: eigenvalues that are alike have no vectors of their own. */
  readonly smallest: number
  readonly pair: boolean
}

/** The eigenvector of a Schur form for the eigenvalue of row k, or of rows k and k + 1 if it is one of a pair. */
function backSubstitute(
  schur: Matrix,
  k: number,
  { re: valueRe, im: valueIm, smallest, pair }: Eigenvalue,
): { re: Float64Array; im: Float64Array } {
  const { re: t, im: ti, rows: n } = schur
  const size = pair ? k + 2 : k + 1
  const re = new Float64Array(size)
  const im = new Float64Array(size)
  if (pair) {
    re[k] = valueRe - t[(k + 1) * n + k + 1]!
    im[k] = valueIm
    re[k + 1] = t[(k + 1) * n + k]!
  } else re[k] = 1
  /** What rows above take from the elements that are known. */
  const right = (row: number, from: number): Complex => {
    let sumRe = 0
    let sumIm = 0
    for (let j = from; j < size; j += 1) {
      const a = t[row * n + j]!
      const b = ti === undefined ? 0 : ti[row * n + j]!
      sumRe -= a * re[j]! - b * im[j]!
      sumIm -= a * im[j]! + b * re[j]!
    }
    return { re: sumRe, im: sumIm }
  }
  for (let row = k - 1; row >= 0; row -= 1) {
    if (ti === undefined && row > 0 && isPair(schur, row - 1)) {
      const above = right(row - 1, row + 1)
      const below = right(row, row + 1)
      const [first, second] = solvePair(
        {
          first: { re: t[(row - 1) * (n + 1)]! - valueRe, im: -valueIm },
          second: { re: t[(row - 1) * n + row]!, im: 0 },
          right: above,
        },
        {
          first: { re: t[row * n + row - 1]!, im: 0 },
          second: { re: t[row * (n + 1)]! - valueRe, im: -valueIm },
          right: below,
        },
        smallest,
      )
      re[row - 1] = first.re
      im[row - 1] = first.im
      re[row] = second.re
      im[row] = second.im
      row -= 1
    } else {
      const { re: rightRe, im: rightIm } = right(row, row + 1)
      let dr = t[row * (n + 1)]! - valueRe
      const di = (ti === undefined ? 0 : ti[row * (n + 1)]!) - valueIm
      if (Math.abs(dr) + Math.abs(di) < smallest) dr = smallest
      const value = quotient(rightRe, rightIm, dr, di)
      re[row] = value.re
      im[row] = value.im
    }
    if (Math.abs(re[row]!) + Math.abs(im[row]!) > 1e100) shrink(re, im)
  }
  return { re, im }
}

/** Makes elements small again; their directions stay. */
function shrink(re: Float64Array, im: Float64Array): void {
  for (let j = 0; j < re.length; j += 1) {
    re[j] = re[j]! * 2 ** -300
    im[j] = im[j]! * 2 ** -300
  }
}

function normalise(vectors: Matrix, row: number): void {
  const { re, im, columns: n } = vectors
  let largest = 0
  for (let j = row * n; j < (row + 1) * n; j += 1) largest = Math.max(largest, Math.abs(re[j]!), Math.abs(im![j]!))
  multiplyRow(vectors, row, 0, 1 / largest, 0)
  const norm = Math.sqrt(squaresOf(vectors, row, 0))
  let turn: Complex = { re: 1, im: 0 }
  let most = 0
  let at = row * n
  for (let j = row * n; j < (row + 1) * n; j += 1) {
    const size = Math.hypot(re[j]!, im![j]!)
    if (size <= most) continue
    most = size
    at = j
  }
  const isReal = im!.subarray(row * n, (row + 1) * n).every((value) => value === 0)
  if (!isReal) turn = { re: re[at]! / most, im: -im![at]! / most }
  multiplyRow(vectors, row, 0, turn.re / norm, turn.im / norm)
  if (!isReal) im![at] = 0
}

function largestOf(part: Float64Array): number {
  let largest = 0
  for (const value of part) largest = Math.max(largest, Math.abs(value))
  return largest
}

function times(first: Complex, second: Complex): Complex {
  return { re: first.re * second.re - first.im * second.im, im: first.re * second.im + first.im * second.re }
}

function minus(first: Complex, second: Complex): Complex {
  return { re: first.re - second.re, im: first.im - second.im }
}

const size = ({ re, im }: Complex): number => Math.abs(re) + Math.abs(im)

interface Equation {
  readonly first: Complex
  readonly second: Complex
  readonly right: Complex
}

/** The solution of two equations, by elimination with a pivot. A pivot below `smallest` is taken for that. */
function solvePair(one: Equation, other: Equation, smallest: number): [Complex, Complex] {
  const [pivot, rest] = size(one.first) >= size(other.first) ? [one, other] : [other, one]
  const over = (value: Complex, divisor: Complex): Complex =>
    size(divisor) < smallest
      ? quotient(value.re, value.im, smallest, 0)
      : quotient(value.re, value.im, divisor.re, divisor.im)
  const factor = over(rest.first, pivot.first)
  const last = minus(rest.second, times(factor, pivot.second))
  const second = over(minus(rest.right, times(factor, pivot.right)), last)
  return [over(minus(pivot.right, times(pivot.second, second)), pivot.first), second]
}
