import { ArrayError } from '../../errors.ts'
import type { Complex } from '../../types/complex.ts'
import { quotient, squareRoot } from './complex.ts'
import type { Matrix } from './matrix.ts'
import { SIZE_MIN } from './tridiagonal.ts'

const STEPS_MAX = 60

/**
 * Makes a complex Hessenberg matrix in place an upper triangle by implicit QR steps with Wilkinson's shift ("Matrix
 * computations", 7.5). Rotations are applied to the rows of the basis.
 */
export function reduceToComplexSchur(matrix: Matrix, basis: Matrix | undefined): void {
  const n = matrix.rows
  let end = n - 1
  let steps = 0
  while (end > 0) {
    let start = end
    while (start > 0 && !isSmall(matrix, start)) start -= 1
    if (start > 0) setElement(matrix, start * n + start - 1, { re: 0, im: 0 })
    if (start === end) {
      end -= 1
      steps = 0
      continue
    }
    steps += 1
    if (steps > STEPS_MAX) throw new ArrayError('VALUE', 'Eigenvalues did not converge')
    step(matrix, basis, { start, end, shift: shiftOf(matrix, end, steps % 10 === 0) })
  }
}

function element({ re, im }: Matrix, at: number): Complex {
  return { re: re[at]!, im: im![at]! }
}

function setElement({ re, im }: Matrix, at: number, value: Complex): void {
  re[at] = value.re
  im![at] = value.im
}

function sizeAt({ re, im }: Matrix, at: number): number {
  return Math.abs(re[at]!) + Math.abs(im![at]!)
}

function isSmall(matrix: Matrix, k: number): boolean {
  const n = matrix.rows
  const size = sizeAt(matrix, k * n + k - 1)
  return size <= Number.EPSILON * (sizeAt(matrix, (k - 1) * (n + 1)) + sizeAt(matrix, k * (n + 1))) || size < SIZE_MIN
}

/** The eigenvalue of the last two rows that is nearer to the last element; now and then another number. */
function shiftOf(matrix: Matrix, end: number, isExceptional: boolean): Complex {
  const n = matrix.rows
  const d = element(matrix, end * n + end)
  const c = element(matrix, end * n + end - 1)
  if (isExceptional) return { re: d.re + Math.abs(c.re) + Math.abs(c.im), im: d.im }
  const a = element(matrix, (end - 1) * n + end - 1)
  const b = element(matrix, (end - 1) * n + end)
  const half = { re: (a.re - d.re) / 2, im: (a.im - d.im) / 2 }
  const product = { re: b.re * c.re - b.im * c.im, im: b.re * c.im + b.im * c.re }
  const root = squareRoot(half.re * half.re - half.im * half.im + product.re, 2 * half.re * half.im + product.im)
  const sign = half.re * root.re + half.im * root.im < 0 ? -1 : 1
  const divisor = { re: half.re + sign * root.re, im: half.im + sign * root.im }
  if (divisor.re === 0 && divisor.im === 0) return d
  const away = quotient(product.re, product.im, divisor.re, divisor.im)
  return { re: d.re - away.re, im: d.im - away.im }
}

interface Step {
  readonly start: number
  readonly end: number
  readonly shift: Complex
}

function step(matrix: Matrix, basis: Matrix | undefined, { start, end, shift }: Step): void {
  const n = matrix.rows
  const corner = element(matrix, start * n + start)
  let x: Complex = { re: corner.re - shift.re, im: corner.im - shift.im }
  let y = element(matrix, (start + 1) * n + start)
  for (let k = start; k < end; k += 1) {
    if (k > start) {
      x = element(matrix, k * n + k - 1)
      y = element(matrix, (k + 1) * n + k - 1)
    }
    const sizeX = Math.hypot(x.re, x.im)
    const norm = Math.hypot(sizeX, y.re, y.im)
    if (norm === 0) continue
    // Takes (x, y) to (phase norm, 0).
    const phase = sizeX === 0 ? { re: 1, im: 0 } : { re: x.re / sizeX, im: x.im / sizeX }
    const c = sizeX / norm
    const s = { re: (phase.re * y.re + phase.im * y.im) / norm, im: (phase.im * y.re - phase.re * y.im) / norm }
    if (k > start) {
      setElement(matrix, k * n + k - 1, { re: phase.re * norm, im: phase.im * norm })
      setElement(matrix, (k + 1) * n + k - 1, { re: 0, im: 0 })
    }
    const conjugate = { re: s.re, im: -s.im }
    rotate(matrix, { first: k * n + k, second: (k + 1) * n + k, count: n - k, apart: 1 }, c, s)
    rotate(matrix, { first: k, second: k + 1, count: Math.min(k + 2, end) + 1, apart: n }, c, conjugate)
    if (basis !== undefined) rotate(basis, { first: k * n, second: (k + 1) * n, count: n, apart: 1 }, c, conjugate)
  }
}

/** Pairs of elements, as many as `count`, each `apart` from the one before. */
interface Pairs {
  readonly first: number
  readonly second: number
  readonly count: number
  readonly apart: number
}

/** first = c first + s second, second = c second - conj(s) first. */
function rotate({ re, im }: Matrix, { first, second, count, apart }: Pairs, c: number, s: Complex): void {
  const imaginary = im!
  const sr = s.re
  const si = s.im
  for (let index = 0, a = first, b = second; index < count; index += 1, a += apart, b += apart) {
    const ar = re[a]!
    const ai = imaginary[a]!
    const br = re[b]!
    const bi = imaginary[b]!
    re[a] = c * ar + (sr * br - si * bi)
    imaginary[a] = c * ai + (sr * bi + si * br)
    re[b] = c * br - (sr * ar + si * ai)
    imaginary[b] = c * bi - (sr * ai - si * ar)
  }
}
