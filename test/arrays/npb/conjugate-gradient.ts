import type { NdArray } from '../../../src/arrays/array.ts'
import type { Arrays } from '../../../src/arrays/open-arrays.ts'
import { randomNumbers } from './random-numbers.ts'

/** The order of the matrix, what its rows are made of, and the eigenvalue that comes out. */
const CLASSES = {
  S: { order: 1400, nonzeros: 7, iterations: 15, shift: 10, eigenvalue: 8.5971775078648 },
  W: { order: 7000, nonzeros: 8, iterations: 15, shift: 12, eigenvalue: 10.362595087124 },
} as const

const SEED = 314159265
const CONDITION = 0.1
const STEPS = 25

/**
 * CG of the NAS Parallel Benchmarks: the power method on the inverse of a matrix, whose systems are solved by conjugate
 * gradients. The matrix is dense here, in rows that are divided. Returns how far the eigenvalue is from the one that
 * the benchmark states, which may be 1e-10.
 */
export async function conjugateGradient(xp: Arrays, name: keyof typeof CLASSES): Promise<number> {
  const { order, nonzeros, iterations, shift, eigenvalue } = CLASSES[name]
  const elements = xp.asarray(matrixOf(order, nonzeros, shift))
  const matrix = await xp.asarray(xp.reshape(elements, [order, order]), { copy: true, partition: 'block' }).compute()
  let x = xp.ones(order, { partition: 'block' })
  let found = 0
  for (let iteration = 0; iteration < iterations; iteration += 1) {
    const z = await solved(xp, matrix, x)
    found = shift + 1 / (await dot(x, z))
    x = await z.multiply(1 / Math.sqrt(await dot(z, z))).compute()
  }
  return Math.abs(found / eigenvalue - 1)
}

/** An approximation of the inverse of the matrix times `x`. */
async function solved(xp: Arrays, matrix: NdArray, x: NdArray): Promise<NdArray> {
  let [z, r, p] = [xp.zerosLike(x), x, x]
  let rho = await dot(r, r)
  for (let step = 0; step < STEPS; step += 1) {
    const q = await xp.matmul(matrix, p).compute()
    const alpha = rho / (await dot(p, q))
    z = await z.add(p.multiply(alpha)).compute()
    r = await r.subtract(q.multiply(alpha)).compute()
    const before = rho
    rho = await dot(r, r)
    p = await r.add(p.multiply(rho / before)).compute()
  }
  return z
}

async function dot(x: NdArray, y: NdArray): Promise<number> {
  return (await x.vecdot(y).compute()).item() as number
}

/** Sums of outer products of sparse vectors, scaled so that the condition is as it should be. */
function matrixOf(order: number, nonzeros: number, shift: number): Float64Array {
  const random = randomNumbers(SEED)
  random()
  const places = 2 ** Math.ceil(Math.log2(order))
  const matrix = new Float64Array(order * order)
  const ratio = CONDITION ** (1 / order)
  let size = 1
  for (let row = 0; row < order; row += 1) {
    const vector = new Map<number, number>()
    while (vector.size < nonzeros) {
      const [value, place] = [random(), Math.floor(places * random())]
      if (place < order && !vector.has(place)) vector.set(place, value)
    }
    vector.set(row, 0.5)
    for (const [one, left] of vector)
      for (const [other, right] of vector) {
        const onDiagonal = one === other && one === row ? CONDITION - shift : 0
        matrix[one * order + other]! += right * (size * left) + onDiagonal
      }
    size *= ratio
  }
  return matrix
}
