import { type Block, newBlock } from '../../blocks/block.ts'
import { ArrayError } from '../../errors.ts'
import { eachOfStacks, floatingOf, type Matrix, readMatrix, squareOrder, transposed, writeMatrix } from './matrix.ts'
import { addMultiple, multiplyRow } from './rows.ts'

/** Which triangle of the matrix is read and returned; the lower one by default. */
export interface CholeskyOptions {
  readonly upper?: boolean
}

/** The triangle L of each matrix x = L L*, or U of x = U* U. @throws ArrayError if a matrix is not positive definite */
export function cholesky(x: Block, { upper = false }: CholeskyOptions = {}): Block {
  squareOrder(x)
  const result = newBlock(floatingOf(x.dtype), x.shape)
  // Transposed, the lower triangle stands in rows: row j of what is computed is column j of L. The transposed upper
  // triangle is the conjugate of the lower one, which makes up for conjugating U.
  const from = upper ? x : transposed(x)
  const to = upper ? result : transposed(result)
  eachOfStacks([from, to], [2, 2], ([fromPlace = 0, toPlace = 0]) => {
    const matrix = readMatrix(from, fromPlace)
    factorise(matrix)
    writeMatrix(to, toPlace, matrix)
  })
  return result
}

/** Row by row: takes the product with the conjugate of row k from each row below, and clears what is left of it. */
function factorise(matrix: Matrix): void {
  const { re, im, columns: n } = matrix
  for (let k = 0; k < n; k += 1) {
    const diagonal = re[k * n + k]!
    if (!(diagonal > 0)) throw new ArrayError('VALUE', 'Matrix is not positive definite')
    re.fill(0, k * n, k * n + k)
    im?.fill(0, k * n, k * n + k + 1)
    multiplyRow(matrix, k, k, 1 / Math.sqrt(diagonal), 0)
    re[k * n + k] = Math.sqrt(diagonal)
    for (let row = k + 1; row < n; row += 1) {
      const factorRe = re[k * n + row]!
      const factorIm = im === undefined ? 0 : im[k * n + row]!
      if (factorRe !== 0 || factorIm !== 0) addMultiple(matrix, row, matrix, k, row, -factorRe, factorIm)
    }
  }
}
