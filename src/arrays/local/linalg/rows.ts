import type { Matrix } from './matrix.ts'

/*
 * What algorithms do with whole rows, which are runs of memory: their inner loops. Arguments are plain numbers, since
 * an object for each call would cost more than the work on a short row.
 */

/** Adds a multiple of a row, from column `from` on. Of a complex target the source may be real. */
export function addMultiple(
  target: Matrix,
  row: number,
  source: Matrix,
  sourceRow: number,
  from: number,
  re: number,
  im: number,
): void {
  const { re: tr, im: ti, columns } = target
  const { re: sr, im: si } = source
  const shift = sourceRow * source.columns - row * columns
  const end = (row + 1) * columns
  const start = row * columns + from
  if (ti === undefined) {
    for (let at = start; at < end; at += 1) tr[at] = tr[at]! + re * sr[at + shift]!
  } else if (si === undefined) {
    for (let at = start; at < end; at += 1) {
      const value = sr[at + shift]!
      tr[at] = tr[at]! + re * value
      ti[at] = ti[at]! + im * value
    }
  } else {
    for (let at = start; at < end; at += 1) {
      const a = sr[at + shift]!
      const b = si[at + shift]!
      tr[at] = tr[at]! + (re * a - im * b)
      ti[at] = ti[at]! + (re * b + im * a)
    }
  }
}

/** Multiplies a row, from column `from` on. */
export function multiplyRow(
  { re: r, im: i, columns }: Matrix,
  row: number,
  from: number,
  re: number,
  im: number,
): void {
  const end = (row + 1) * columns
  for (let at = row * columns + from; at < end; at += 1) {
    const a = r[at]!
    if (i === undefined) r[at] = a * re
    else {
      const b = i[at]!
      r[at] = a * re - b * im
      i[at] = a * im + b * re
    }
  }
}

export function exchangeRows({ re, im, columns }: Matrix, first: number, second: number): void {
  if (first === second) return
  for (const part of im === undefined ? [re] : [re, im]) {
    const kept = part.slice(first * columns, (first + 1) * columns)
    part.copyWithin(first * columns, second * columns, (second + 1) * columns)
    part.set(kept, second * columns)
  }
}

/** Turns two rows in their plane: first = c first + s second, second = c second - s first. */
export function rotateRows({ re, im, columns }: Matrix, first: number, second: number, c: number, s: number): void {
  rotateRun(re, first * columns, second * columns, columns, c, s)
  if (im !== undefined) rotateRun(im, first * columns, second * columns, columns, c, s)
}

function rotateRun(part: Float64Array, first: number, second: number, count: number, c: number, s: number): void {
  for (let k = 0; k < count; k += 1) {
    const a = part[first + k]!
    const b = part[second + k]!
    part[first + k] = c * a + s * b
    part[second + k] = c * b - s * a
  }
}

/** The sum of squares of absolute values of a row from column `from` on. */
export function squaresOf({ re, im, columns }: Matrix, row: number, from: number): number {
  let sum = 0
  const end = (row + 1) * columns
  for (let at = row * columns + from; at < end; at += 1) sum += re[at]! * re[at]!
  if (im !== undefined) for (let at = row * columns + from; at < end; at += 1) sum += im[at]! * im[at]!
  return sum
}

/** The rows in another order. */
export function sortedRows({ columns, re, im }: Matrix, order: readonly number[]): Matrix {
  const sort = (part: Float64Array): Float64Array => {
    const result = new Float64Array(order.length * columns)
    for (const [row, from] of order.entries())
      result.set(part.subarray(from * columns, (from + 1) * columns), row * columns)
    return result
  }
  return { rows: order.length, columns, re: sort(re), im: im === undefined ? undefined : sort(im) }
}
