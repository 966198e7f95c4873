import type { Matrix } from './matrix.ts'
import { multiplyRow, squaresOf } from './rows.ts'

/**
 * H = I - tau v v*, where v stands in a row of a matrix from a column on, with 1 as its first element. The conjugate
 * transpose of H takes the numbers that stood there to (beta, 0, 0, …). Beta is real also for complex numbers.
 *
 * See A. S. Householder, "Unitary triangularization of a nonsymmetric matrix", J. ACM 5, 1958, and for complex numbers
 * R. B. Lehoucq, "The computation of elementary unitary matrices", ACM Trans. Math. Softw. 22, 1996.
 */
export interface Reflector {
  readonly beta: number
  readonly tauRe: number
  readonly tauIm: number
}

/** Makes the numbers of a row from a column on the vector of their reflector. */
export function makeReflector(matrix: Matrix, row: number, from: number): Reflector {
  const at = row * matrix.columns + from
  const re = matrix.re[at]!
  const im = matrix.im?.[at] ?? 0
  const rest = squaresOf(matrix, row, from + 1)
  const squares = re * re + im * im + rest
  if (squares < SQUARES_MIN) return ofSmallNumbers(matrix, row, from)
  if (rest === 0 && im === 0) {
    setOne(matrix, at)
    return { beta: re, tauRe: 0, tauIm: 0 }
  }
  const norm = Math.sqrt(squares)
  const beta = re < 0 ? norm : -norm
  const dr = re - beta
  const size = dr * dr + im * im
  multiplyRow(matrix, row, from, dr / size, -im / size)
  setOne(matrix, at)
  return { beta, tauRe: (beta - re) / beta, tauIm: -im / beta }
}

/** Smaller sums of squares have lost digits. */
const SQUARES_MIN = 1e-280
const MAGNIFICATION = 2 ** 700

function ofSmallNumbers(matrix: Matrix, row: number, from: number): Reflector {
  multiplyRow(matrix, row, from, MAGNIFICATION, 0)
  if (squaresOf(matrix, row, from) === 0) {
    setOne(matrix, row * matrix.columns + from)
    return { beta: 0, tauRe: 0, tauIm: 0 }
  }
  const { beta, tauRe, tauIm } = makeReflector(matrix, row, from)
  return { beta: beta / MAGNIFICATION, tauRe, tauIm }
}

function setOne({ re, im }: Matrix, at: number): void {
  re[at] = 1
  if (im !== undefined) im[at] = 0
}

/** Applies I - tau v v* to a row of `target`, seen as a column vector, where v is a row of `source`. */
export function reflect(
  target: Matrix,
  row: number,
  source: Matrix,
  sourceRow: number,
  from: number,
  tauRe: number,
  tauIm: number,
): void {
  if (tauRe === 0 && tauIm === 0) return
  const { re: tr, im: ti, columns } = target
  const { re: vr, im: vi } = source
  const shift = sourceRow * source.columns - row * columns
  const start = row * columns + from
  const end = (row + 1) * columns
  if (ti === undefined || vi === undefined) {
    let dot = 0
    for (let at = start; at < end; at += 1) dot += vr[at + shift]! * tr[at]!
    dot *= tauRe
    for (let at = start; at < end; at += 1) tr[at] = tr[at]! - dot * vr[at + shift]!
    return
  }
  let dotRe = 0
  let dotIm = 0
  for (let at = start; at < end; at += 1) {
    const a = vr[at + shift]!
    const b = vi[at + shift]!
    dotRe += a * tr[at]! + b * ti[at]!
    dotIm += a * ti[at]! - b * tr[at]!
  }
  const factorRe = dotRe * tauRe - dotIm * tauIm
  const factorIm = dotRe * tauIm + dotIm * tauRe
  for (let at = start; at < end; at += 1) {
    const a = vr[at + shift]!
    const b = vi[at + shift]!
    tr[at] = tr[at]! - (factorRe * a - factorIm * b)
    ti[at] = ti[at]! - (factorRe * b + factorIm * a)
  }
}
