/**
 * Adds `sign` times the product of two matrices of float64 in row-major order, rows × inner and inner × columns, to a
 * third. Tiles of four rows by two columns are summed in registers, over strips of operands that stay in the cache.
 */
export function addProduct(
  to: Float64Array,
  first: Float64Array,
  second: Float64Array,
  { rows, inner, columns, sign }: ProductShape,
): void {
  const right = new Float64Array(STRIP * (columns + (columns & 1)))
  const left = new Float64Array(STRIP * 4)
  for (let start = 0; start < inner; start += STRIP) {
    const count = Math.min(STRIP, inner - start)
    packPairs(right, second, { start, count, columns })
    for (let row = 0; row < rows; row += 4) {
      const height = Math.min(4, rows - row)
      packRows(left, first, { row, height, start, count, inner, sign })
      for (let column = 0; column < columns; column += 2)
        addTile(to, left, right, { row, height, column, columns, count })
    }
  }
}

interface ProductShape {
  readonly rows: number
  readonly inner: number
  readonly columns: number
  readonly sign: 1 | -1
}

const STRIP = 256

/** Rows of a strip, two columns after another: the pair of columns c starts at c * count. */
function packPairs(
  to: Float64Array,
  from: Float64Array,
  { start, count, columns }: { start: number; count: number; columns: number },
): void {
  for (let k = 0; k < count; k += 1) {
    const row = (start + k) * columns
    for (let column = 0; column < columns; column += 2) {
      const at = column * count + 2 * k
      to[at] = from[row + column]!
      to[at + 1] = column + 1 < columns ? from[row + column + 1]! : 0
    }
  }
}

interface Strip {
  readonly row: number
  readonly height: number
  readonly start: number
  readonly count: number
  readonly inner: number
  readonly sign: 1 | -1
}

/** Four rows, element by element; rows that are not there are 0. */
function packRows(to: Float64Array, from: Float64Array, { row, height, start, count, inner, sign }: Strip): void {
  if (height < 4) to.fill(0)
  for (let r = 0; r < height; r += 1) {
    const at = (row + r) * inner + start
    for (let k = 0; k < count; k += 1) to[4 * k + r] = sign * from[at + k]!
  }
}

interface Tile {
  readonly row: number
  readonly height: number
  readonly column: number
  readonly columns: number
  readonly count: number
}

function addTile(to: Float64Array, left: Float64Array, right: Float64Array, tile: Tile): void {
  const { row, height, column, columns, count } = tile
  let s00 = 0
  let s01 = 0
  let s10 = 0
  let s11 = 0
  let s20 = 0
  let s21 = 0
  let s30 = 0
  let s31 = 0
  let i = 0
  const end = 4 * count
  for (let j = column * count; i < end; i += 4, j += 2) {
    const b0 = right[j]!
    const b1 = right[j + 1]!
    const a0 = left[i]!
    const a1 = left[i + 1]!
    const a2 = left[i + 2]!
    const a3 = left[i + 3]!
    s00 += a0 * b0
    s01 += a0 * b1
    s10 += a1 * b0
    s11 += a1 * b1
    s20 += a2 * b0
    s21 += a2 * b1
    s30 += a3 * b0
    s31 += a3 * b1
  }
  const at = row * columns + column
  const both = column + 1 < columns
  addPair(to, at, both, s00, s01)
  if (height > 1) addPair(to, at + columns, both, s10, s11)
  if (height > 2) addPair(to, at + 2 * columns, both, s20, s21)
  if (height > 3) addPair(to, at + 3 * columns, both, s30, s31)
}

function addPair(to: Float64Array, at: number, both: boolean, first: number, second: number): void {
  to[at] = to[at]! + first
  if (both) to[at + 1] = to[at + 1]! + second
}
