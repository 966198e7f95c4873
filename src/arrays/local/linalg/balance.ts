import type { Matrix } from './matrix.ts'
import { exchangeRows, multiplyRow } from './rows.ts'

/** What was done to a matrix before its eigenvalues are computed: the eigenvectors are those of another matrix. */
export interface Balance {
  /** Row k of eigenvectors is multiplied by element k. */
  readonly scales: Float64Array
  /** Then rows are exchanged, pair by pair. */
  readonly exchanges: readonly (readonly [number, number])[]
}

/**
 * Balances a matrix in place: eigenvalues stay, and rounding errors of large elements do not drown small ones. Rows and
 * columns with an eigenvalue of their own are moved to the ends. The others are multiplied by powers of two until a row
 * and its column have norms alike.
 *
 * See B. N. Parlett, C. Reinsch, "Balancing a matrix for calculation of eigenvalues and eigenvectors", Numer. Math. 13,
 * 1969. Norms are Euclidean and include the diagonal, as R. James, J. Langou, B. R. Lowery, "On matrix balancing and
 * eigenvector computation", 2014, has it.
 */
export function balance(matrix: Matrix): Balance {
  const exchanges: [number, number][] = []
  const move = (from: number, to: number): void => {
    exchangeRows(matrix, from, to)
    exchangeColumns(matrix, from, to)
    exchanges.push([from, to])
  }
  let first = 0
  let end = matrix.rows
  for (let row = end - 1; row >= first; row -= 1)
    if (isAlone(matrix, row, { first, end, isRow: true })) {
      end -= 1
      move(row, end)
      row = end
    }
  for (let column = first; column < end; column += 1)
    if (isAlone(matrix, column, { first, end, isRow: false })) {
      move(column, first)
      first += 1
      column = first - 1
    }
  return { scales: scale(matrix, first, end), exchanges: exchanges.reverse() }
}

/** The part of a matrix that has not been moved to its ends. */
interface Part {
  readonly first: number
  readonly end: number
}

/** Has a row or a column no element but that of the diagonal? */
function isAlone({ re, im, rows: n }: Matrix, k: number, { first, end, isRow }: Part & { isRow: boolean }): boolean {
  for (let j = first; j < end; j += 1) {
    const at = isRow ? k * n + j : j * n + k
    if (j !== k && (re[at] !== 0 || (im !== undefined && im[at] !== 0))) return false
  }
  return true
}

function exchangeColumns({ re, im, rows: n }: Matrix, first: number, second: number): void {
  for (const part of im === undefined ? [re] : [re, im])
    for (let row = 0; row < n; row += 1) {
      const kept = part[row * n + first]!
      part[row * n + first] = part[row * n + second]!
      part[row * n + second] = kept
    }
}

function scale(matrix: Matrix, first: number, end: number): Float64Array {
  const { re, im, rows: n } = matrix
  const scales = new Float64Array(n).fill(1)
  for (let isChanged = true; isChanged; ) {
    isChanged = false
    for (let k = first; k < end; k += 1) {
      const row = norm(matrix, k * n, 1, { first, end })
      const column = norm(matrix, k, n, { first, end })
      if (row === 0 || column === 0) continue
      const factor = 2 ** Math.round(Math.log2(row / column) / 2)
      if (!(column * factor + row / factor < 0.95 * (column + row))) continue
      isChanged = true
      scales[k] = scales[k]! * factor
      multiplyRow(matrix, k, 0, 1 / factor, 0)
      for (let at = k; at < n * n; at += n) {
        re[at] = re[at]! * factor
        if (im !== undefined) im[at] = im[at]! * factor
      }
    }
  }
  return scales
}

function norm({ re, im }: Matrix, start: number, step: number, { first, end }: Part): number {
  let squares = 0
  for (let at = start + first * step; at < start + end * step; at += step)
    squares += re[at]! * re[at]! + (im === undefined ? 0 : im[at]! * im[at]!)
  return Math.sqrt(squares)
}

/** Makes rows of eigenvectors, each a column of a matrix, those of the matrix before it was balanced. */
export function unbalance(vectors: Matrix, row: number, { scales, exchanges }: Balance): void {
  for (const part of [vectors.re, vectors.im]) {
    if (part === undefined) continue
    const start = row * vectors.columns
    for (let k = 0; k < scales.length; k += 1) part[start + k] = part[start + k]! * scales[k]!
    for (const [first, second] of exchanges) {
      const kept = part[start + first]!
      part[start + first] = part[start + second]!
      part[start + second] = kept
    }
  }
}
