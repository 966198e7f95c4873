import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Block, newBlock } from '../../src/arrays/blocks/block.ts'
import { copyOf } from '../../src/arrays/blocks/copying.ts'
import { cholesky } from '../../src/arrays/local/linalg/cholesky.ts'
import { eig, eigvals } from '../../src/arrays/local/linalg/eigenvalues.ts'
import { det, inv, slogdet, solve } from '../../src/arrays/local/linalg/elimination.ts'
import { eigh, eigvalsh } from '../../src/arrays/local/linalg/hermitian-eigenvalues.ts'
import { identityStack, matmul } from '../../src/arrays/local/linalg/matmul.ts'
import { transposed } from '../../src/arrays/local/linalg/matrix.ts'
import { matrixRank, pinv } from '../../src/arrays/local/linalg/pseudo-inverse.ts'
import { qr } from '../../src/arrays/local/linalg/qr.ts'
import { svd, svdvals } from '../../src/arrays/local/linalg/singular-values.ts'
import type { Scalar } from '../../src/arrays/types/complex.ts'
import {
  complex64,
  complex128,
  complexOf,
  type DType,
  float32,
  float64,
  int32,
  int64,
  isComplex,
  realOf,
} from '../../src/arrays/types/dtype.ts'
import { assertBlock, block, scattered } from './support/blocks.ts'
import { type Numpy, startNumpy, withoutNumpy } from './support/numpy.ts'
import { randomBlock, randomNumbers } from './support/random-block.ts'

/*
 * A decomposition is right if the product of its parts is the matrix, and unitary parts are unitary: up to 4 + 2n
 * rounding units of the largest element. Numbers that a matrix determines (singular values, eigenvalues of Hermitian
 * matrices, determinants) are compared with those of NumPy too.
 */
const FLOATING = [float32, float64, complex64, complex128]
const unit = (n: number): { epsilons: number; zerosEqual: true } => ({ epsilons: 4 + 2 * n, zerosEqual: true })

function adjoint(x: Block): Block {
  const copy = copyOf(transposed(x))
  if (isComplex(x.dtype)) for (let at = 1; at < copy.data.length; at += 2) copy.data[at] = -(copy.data[at] as number)
  return copy
}

function assertOrthonormal(columns: Block, what: string): void {
  const n = columns.shape.at(-1)!
  const rows = columns.shape.at(-2)!
  assertBlock(
    matmul(adjoint(columns), columns),
    identityStack(columns.shape.slice(0, -2), n, columns.dtype),
    unit(rows),
    what,
  )
}

/** Multiplies column k by the element k of a stack of vectors, which may be real. */
function timesDiagonal(columns: Block, values: Block): Block {
  const n = values.shape.at(-1)!
  const matrix = newBlock(values.dtype, [...values.shape, n])
  const { lanes } = values.dtype
  for (let at = 0; at < values.data.length; at += lanes)
    for (let lane = 0; lane < lanes; lane += 1) {
      const k = at / lanes
      matrix.data[(Math.floor(k / n) * n * n + (k % n) * (n + 1)) * lanes + lane] = values.data[at + lane]!
    }
  return matmul(columns, matrix)
}

function triangleOf(x: Block, isUpper: boolean): boolean {
  const [rows, columns] = x.shape.slice(-2) as [number, number]
  const { lanes } = x.dtype
  return x.data.every((value, at) => {
    const k = Math.floor(at / lanes)
    const column = k % columns
    const row = Math.floor(k / columns) % rows
    return value === 0 || (isUpper ? column >= row : column <= row)
  })
}

function hermitian(dtype: DType, n: number, seed: number): Block {
  return hermitianOf(randomBlock(dtype, [n, n], seed))
}

function hermitianOf(of: Block): Block {
  const x = copyOf(of)
  const other = adjoint(x)
  for (let at = 0; at < x.data.length; at += 1) x.data[at] = ((x.data[at] as number) + (other.data[at] as number)) / 2
  return x
}

const SHAPES = [
  [1, 1],
  [2, 2],
  [5, 3],
  [3, 5],
  [2, 1],
  [1, 4],
  [24, 24],
  [31, 20],
  [6, 40],
  [0, 3],
  [3, 0],
] as const

describe('decompositions', { skip: withoutNumpy }, () => {
  let numpy: Numpy
  before(async () => {
    numpy = await startNumpy()
  })
  after(() => numpy[Symbol.asyncDispose]())

  const agrees = async (actual: Block, expression: string, operands: Block[], epsilons: number): Promise<void> => {
    const [expected] = await numpy.call(expression, operands)
    const what = operands.map(({ dtype, shape }) => `${dtype}(${shape})`).join(', ')
    assertBlock(actual, expected!, { epsilons, zerosEqual: true }, `${expression} of ${what}`)
  }

  test('singular values are those of NumPy, and vectors are orthonormal', async () => {
    for (const dtype of FLOATING)
      for (const shape of SHAPES)
        for (const stack of [[], [2]]) {
          const x = randomBlock(dtype, [...stack, ...shape], 1 + shape[0])
          const n = Math.max(...shape)
          const { U, S, Vh } = svd(scattered(x), { fullMatrices: false })
          const what = `svd of ${dtype} (${x.shape})`
          await agrees(S, 'np.linalg.svd(a, compute_uv=False)', [x], 4 + 2 * n)
          await agrees(svdvals(x), 'np.linalg.svd(a, compute_uv=False)', [x], 4 + 2 * n)
          if (shape[0] > 0 && shape[1] > 0) assertBlock(matmul(timesDiagonal(U, S), Vh), x, unit(n), what)
          assertOrthonormal(U, what)
          assertOrthonormal(adjoint(Vh), what)
          const full = svd(x)
          assert.deepEqual([full.U.shape.at(-1), full.Vh.shape.at(-2)], shape)
          assertOrthonormal(full.U, what)
          assertOrthonormal(adjoint(full.Vh), what)
        }
  })

  test('eigenvalues of Hermitian matrices are those of NumPy, and vectors are orthonormal', async () => {
    for (const dtype of FLOATING)
      for (const n of [0, 1, 2, 3, 10, 40]) {
        const x = hermitian(dtype, n, n + 5)
        const { eigenvalues, eigenvectors } = eigh(scattered(x))
        await agrees(eigenvalues, 'np.linalg.eigvalsh(a)', [x], 4 + 2 * n)
        await agrees(eigvalsh(x), 'np.linalg.eigvalsh(a)', [x], 4 + 2 * n)
        assertOrthonormal(eigenvectors, `eigh of ${dtype} ${n}`)
        if (n > 0)
          assertBlock(matmul(x, eigenvectors), timesDiagonal(eigenvectors, eigenvalues), unit(n), `${dtype} ${n}`)
      }
    const lower = randomBlock(float64, [4, 4], 3)
    await agrees(eigvalsh(lower), 'np.linalg.eigvalsh(a)', [lower], 16)
  })

  test('eigenvalues of any matrix are those of NumPy, and its products with vectors are multiples of them', async () => {
    for (const dtype of FLOATING)
      for (const n of [0, 1, 2, 3, 4, 10, 40]) {
        const x = randomBlock(dtype, [2, n, n], n + 7)
        const { eigenvalues, eigenvectors } = eig(scattered(x))
        const complex = randomBlock(complexOf(dtype), [1], 1).dtype
        assert.equal(eigenvalues.dtype, complex)
        assertSameNumbers(eigenvalues, (await numpy.call(`np.linalg.eigvals(a).astype('${complex}')`, [x]))[0]!, n)
        assertSameNumbers(eigvals(x), eigenvalues, n)
        if (n > 0)
          assertBlock(matmul(x, eigenvectors), timesDiagonal(eigenvectors, eigenvalues), unit(2 * n), `${dtype} ${n}`)
        for (let k = 0; k < 2 * n; k += 1) {
          let norm = 0
          const [member, column] = [Math.floor(k / n), k % n]
          for (let row = 0; row < n; row += 1) {
            const at = 2 * (member * n * n + row * n + column)
            norm += (eigenvectors.data[at] as number) ** 2 + (eigenvectors.data[at + 1] as number) ** 2
          }
          assert.ok(Math.abs(norm - 1) < (realOf(dtype) === float32 ? 1e-6 : 1e-14), `norm of ${dtype} ${n}`)
        }
      }
  })

  test('Q and R are those of NumPy', async () => {
    for (const dtype of FLOATING)
      for (const shape of SHAPES) {
        const x = randomBlock(dtype, [2, ...shape], 9)
        for (const mode of ['reduced', 'complete'] as const) {
          const { Q, R } = qr(scattered(x), { mode })
          const n = Math.max(...shape)
          const what = `qr of ${dtype} (${shape})`
          assertOrthonormal(Q, what)
          assert.ok(triangleOf(R, true), what)
          if (shape[0] > 0 && shape[1] > 0) assertBlock(matmul(Q, R), x, unit(n), what)
          if (shape[0] !== shape[1]) continue
          await agrees(R, `np.linalg.qr(a, mode='${mode}')[1]`, [x], 100 * n)
          await agrees(Q, `np.linalg.qr(a, mode='${mode}')[0]`, [x], 100 * n)
        }
      }
  })

  test('triangles of Cholesky are those of NumPy', async () => {
    for (const dtype of FLOATING)
      for (const n of [0, 1, 2, 10, 30]) {
        const root = randomBlock(dtype, [2, n, n + 2], n)
        const x = matmul(root, adjoint(root))
        const lower = cholesky(scattered(x))
        await agrees(lower, 'np.linalg.cholesky(a)', [x], 1000 * (n + 1))
        assert.ok(triangleOf(lower, false))
        if (n > 0) assertBlock(matmul(lower, adjoint(lower)), x, unit(n))
        assertBlock(cholesky(x, { upper: true }), adjoint(lower), unit(n))
      }
  })

  test('solutions, inverses and determinants are those of NumPy', async () => {
    for (const dtype of [...FLOATING, int32, int64])
      for (const n of [0, 1, 2, 3, 10, 25]) {
        const x = randomBlock(dtype, [3, n, n], 2 * n + 1)
        const right = randomBlock(dtype, [n, 4], n)
        const vector = randomBlock(dtype, [n], n)
        // Both solutions have errors of as many rounding units as the condition of the matrix is large.
        const [condition] = await numpy.call(n === 0 ? 'np.float64(1)' : 'np.float64(np.linalg.cond(a).max())', [x])
        const epsilons = 4 * (n + 1) * (condition!.data[0] as number)
        await agrees(solve(scattered(x), scattered(right)), 'np.linalg.solve(a, b[None])', [x, right], epsilons)
        // NumPy before 2 takes an operand of one axis less for a stack of vectors.
        await agrees(solve(x, vector), 'np.linalg.solve(a, b[None, :, None])[..., 0]', [x, vector], epsilons)
        await agrees(inv(scattered(x)), 'np.linalg.inv(a)', [x], epsilons)
        await agrees(det(scattered(x)), 'np.linalg.det(a)', [x], epsilons)
        const { sign, logabsdet } = slogdet(x)
        await agrees(sign, 'np.linalg.slogdet(a)[0]', [x], epsilons)
        await agrees(logabsdet, 'np.linalg.slogdet(a)[1]', [x], epsilons)
      }
  })

  test('ranks and pseudo-inverses are those of NumPy', async () => {
    for (const dtype of FLOATING) {
      const thin = randomBlock(dtype, [2, 7, 3], 4)
      const x = matmul(thin, randomBlock(dtype, [2, 3, 5], 5))
      await agrees(matrixRank(scattered(x)), 'np.linalg.matrix_rank(a)', [x], 0)
      assertBlock(matrixRank(x), block(int64, [3, 3]))
      assertBlock(matrixRank(x, { rtol: block(float64, [0.9, 0]) }), block(int64, [1, 5]))
      await agrees(pinv(scattered(thin)), 'np.linalg.pinv(a)', [thin], 100)
      await agrees(pinv(x, { rtol: 1e-4 }), 'np.linalg.pinv(a, 1e-4)', [x], 500)
    }
  })
})

/** Are they the same numbers in any order, each as near to another one as n roundings of the largest? */
function assertSameNumbers(actual: Block, expected: Block, n: number): void {
  assert.equal(actual.dtype, expected.dtype)
  const list = ({ data }: Block): { re: number; im: number }[] =>
    Array.from({ length: data.length / 2 }, (_, k) => ({ re: data[2 * k] as number, im: data[2 * k + 1] as number }))
  const rest = list(expected)
  const largest = Math.max(0, ...rest.map(({ re, im }) => Math.hypot(re, im)))
  const epsilon = realOf(actual.dtype) === float32 ? 2 ** -23 : 2 ** -52
  for (const { re, im } of list(actual)) {
    const distances = rest.map((other) => Math.hypot(re - other.re, im - other.im))
    const nearest = distances.indexOf(Math.min(...distances))
    assert.ok(
      distances[nearest]! <= 100 * n * epsilon * largest,
      `${re}+${im}i is ${distances[nearest]} from any number`,
    )
    rest.splice(nearest, 1)
  }
}

/** Are the parts of each decomposition those of the matrix, up to roundings of its norm? */
function assertDecomposes(x: Block, name: string): void {
  const n = x.shape[0]!
  const { U, S, Vh } = svd(x)
  const unitOfNorm = (4 + 2 * n) * 2 ** -52 * (S.data[0] as number)
  const assertSame = (actual: Block, expected: Block, units: number, what: string): void => {
    for (const [at, value] of actual.data.entries()) {
      const difference = Math.abs((value as number) - (expected.data[at] as number))
      assert.ok(difference <= units * unitOfNorm, `${what} of ${name}: ${difference} at ${at}`)
    }
  }
  assertSame(matmul(timesDiagonal(U, S), Vh), x, 1, 'svd')
  assertSame(svdvals(x), S, 1, 'svdvals')
  const { Q, R } = qr(x)
  assertSame(matmul(Q, R), x, 1, 'qr')
  const { eigenvalues, eigenvectors } = eig(x)
  assertSame(matmul(x, eigenvectors), timesDiagonal(eigenvectors, eigenvalues), 4, 'eig')
  const symmetric = hermitianOf(x)
  const { eigenvalues: values, eigenvectors: vectors } = eigh(symmetric)
  assertSame(matmul(symmetric, vectors), timesDiagonal(vectors, values), 2, 'eigh')
  for (const basis of [U, adjoint(Vh), Q, vectors]) assertOrthonormal(basis, name)
}

/** A matrix of n rows by its elements. */
function matrixOf(dtype: DType, n: number, element: (i: number, j: number) => Scalar): Block {
  const rows = Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_unused, j) => element(i, j)))
  return block(dtype, rows)
}

test('matrices that are hard: of zeros, of ones, triangles, graded, nilpotent, orthogonal', () => {
  const elements: Record<string, (i: number, j: number) => number> = {
    zeros: () => 0,
    ones: () => 1,
    identity: (i, j) => Number(i === j),
    triangle: (i, j) => Number(j >= i),
    nilpotent: (i, j) => Number(j === i + 1),
    cycle: (i, j) => Number(j === (i + 1) % 12),
    graded: (i, j) => 10 ** -(i + j),
    gradedUpwards: (i, j) => 10 ** (i + j),
    large: (i, j) => 1e300 * Math.cos(i * j),
    small: (i, j) => 1e-300 * Math.cos(i * j),
    hilbert: (i, j) => 1 / (i + j + 1),
    zeroOnDiagonal: (i, j) => (j === i + 1 ? 1 : j === i && i % 3 !== 0 ? 1 : 0),
  }
  for (const [name, element] of Object.entries(elements)) {
    assertDecomposes(matrixOf(float64, 12, element), name)
    const turned = matrixOf(complex128, 12, (i, j) => ({ re: 0.6 * element(i, j), im: 0.8 * element(i, j) }))
    assertDecomposes(turned, `complex ${name}`)
  }
})

test('matrices of zeros and ones, whose eigenvalues come in groups', () => {
  const bits = (text: string): Block => {
    const rows = text.split(' ')
    return matrixOf(float64, rows.length, (i, j) => Number(rows[i]![j]))
  }
  // Two pairs of 1 and -1: shifts that are both of them take the first column of a step to 0.
  assertDecomposes(bits('000001 000001 000100 001000 101001 011000'), 'two pairs')
  // An eigenvalue 0 beside a pair near 0: a pair of equations must be solved with a pivot.
  const near = '0000101000 0000110010 1011010101 0110000110 0011101001 0010000011 0000101000 0100010010 0000011101'
  assertDecomposes(bits(`${near} 0000000000`), 'near zero')
  for (let seed = 0; seed < 150; seed += 1) {
    const next = randomNumbers(seed)
    const n = 1 + Math.floor(9 * next())
    assertDecomposes(
      matrixOf(float64, n, () => Number(next() < 0.3)),
      `bits ${seed}`,
    )
    const some = (): number => Math.floor(5 * next()) - 2
    assertDecomposes(
      matrixOf(complex128, n, () => ({ re: some(), im: some() })),
      `whole numbers ${seed}`,
    )
  }
})

test('elements of all sizes, whose squares overflow or vanish', () => {
  for (let seed = 0; seed < 150; seed += 1) {
    const next = randomNumbers(seed)
    const n = 1 + Math.floor(9 * next())
    const x = matrixOf(float64, n, () => (next() - 0.5) * 10 ** (Math.floor(500 * next()) - 250))
    const { U, S, Vh } = svd(x)
    const { Q, R } = qr(x)
    const symmetric = hermitianOf(x)
    const { eigenvalues, eigenvectors } = eigh(symmetric)
    const pairs = [
      [matmul(timesDiagonal(U, S), Vh), x],
      [matmul(Q, R), x],
      [matmul(timesDiagonal(eigenvectors, eigenvalues), adjoint(eigenvectors)), symmetric],
    ] as const
    for (const [actual, expected] of pairs) assertBlock(actual, expected, { ...unit(2 * n) }, `seed ${seed}`)
    for (const basis of [U, adjoint(Vh), Q, eigenvectors]) assertOrthonormal(basis, `seed ${seed}`)
    assert.ok(Array.from(eig(x).eigenvectors.data as Float64Array).every(Number.isFinite), `eig of seed ${seed}`)
  }
})

test('singular values that are nearly alike do not go in circles', () => {
  // Found by chance: what is above the diagonal stayed at a few roundings, or its square was 0.
  const diagonal = [1, -1, 2.2e-109, 2.2e-109, 1.2915328178581038e-116, -1.2915328178581038e-116]
  const above = [8e-16, 0, -6.49e-118, 0, 1.1270725851789228e-131]
  const x = matrixOf(float64, 6, (i, j) => (i === j ? diagonal[i]! : j === i + 1 ? above[i]! : 0))
  assertDecomposes(x, 'nearly alike')
})

test('a rotation has conjugate eigenvalues, a triangle its diagonal to the bit', () => {
  const { eigenvalues } = eig(
    block(float64, [
      [0, -2],
      [2, 0],
    ]),
  )
  assertBlock(
    eigenvalues,
    block(complex128, [
      { re: 0, im: 2 },
      { re: 0, im: -2 },
    ]),
  )
  assertBlock(
    eigvals(
      block(float64, [
        [1, 5],
        [0, 3],
      ]),
    ),
    block(complex128, [1, 3]),
    { zerosEqual: true },
  )
})

test('eigenvalues of a matrix whose elements differ by orders of size keep their digits', () => {
  const x = block(float64, [
    [1, 1e10, 0],
    [1e-10, 2, 1e5],
    [0, 1e-5, 3],
  ])
  const values = Array.from(eigvals(x).data as Float64Array).filter((_, at) => at % 2 === 0)
  // Those of [[1, 1, 0], [1, 2, 1], [0, 1, 3]], which is similar to it.
  const expected = [2 - Math.sqrt(3), 2, 2 + Math.sqrt(3)]
  for (const [k, value] of values.sort((a, b) => a - b).entries())
    assert.ok(Math.abs(value - expected[k]!) < 1e-14, `${value} is not ${expected[k]}`)
})

test('a vector on the right side is solved for each matrix of a stack', () => {
  const x = block(float64, [
    [
      [2, 0],
      [0, 4],
    ],
    [
      [1, 0],
      [0, 1],
    ],
  ])
  assertBlock(
    solve(x, block(float64, [2, 4])),
    block(float64, [
      [1, 1],
      [2, 4],
    ]),
  )
})

test('what cannot be decomposed is an error in the words of NumPy', () => {
  const singular = block(float64, [
    [1, 2],
    [2, 4],
  ])
  const nan = block(float64, [
    [1, 2],
    [Number.NaN, 4],
  ])
  const wide = randomBlock(float64, [2, 3], 1)
  assert.throws(() => inv(singular), /Singular matrix/)
  assert.throws(() => solve(singular, block(float64, [1, 2])), /Singular matrix/)
  assert.throws(() => solve(wide, block(float64, [1, 2])), /must be square/)
  assert.throws(() => solve(singular, block(float64, [1, 2, 3])), /\(2, 2\) and \(3,\)/)
  assert.throws(() => cholesky(singular), /Matrix is not positive definite/)
  assert.throws(() => svd(nan), /SVD did not converge/)
  assert.throws(() => eigh(nan), /Eigenvalues did not converge/)
  assert.throws(() => eig(nan), /must not contain infs or NaNs/)
  assert.throws(() => det(wide), /must be square/)
  assert.throws(() => qr(block(float64, [1])), /1-dimensional array given. Array must be at least two-dimensional/)
  assertBlock(det(singular), block(float64, 0))
  assertBlock(slogdet(singular).logabsdet, block(float64, Number.NEGATIVE_INFINITY))
})
