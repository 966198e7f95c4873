import assert from 'node:assert/strict'
import { type Block, sizeOf } from '../../../../src/arrays/blocks/block.ts'
import { type DType, float32, isComplex, realOf } from '../../../../src/arrays/types/dtype.ts'
import { values } from '../../support/blocks.ts'
import type { Comparison, Comparisons, Judge } from '../comparison.ts'
import { type Draw, kinds, promotable } from '../draw.ts'

const { all, numeric, floating } = kinds
/** Of a few rows each, in stacks, without rows, and of one element. */
const squares = [
  [1, 1],
  [3, 3],
  [2, 4, 4],
  [0, 2, 2],
  [6, 6],
]
const matrices = [...squares, [3, 5], [5, 3], [2, 4, 1], [1, 4]]
const close = { epsilons: 256 } as const

function each(
  dtypes: readonly DType[],
  shapes: readonly (readonly number[])[],
  argumentsFor: (draw: Draw, x: Block) => Iterable<readonly unknown[]>,
  rest: Omit<Comparison, 'calls'> = {},
): Comparison {
  return {
    *calls(draw) {
      for (const dtype of dtypes) {
        for (const shape of shapes) {
          const x = draw.block(dtype, shape)
          for (const more of argumentsFor(draw, x)) yield [x, ...more]
        }
      }
    },
    closeness: close,
    ...rest,
  }
}

function pairs(
  dtypes: readonly DType[],
  shapes: readonly (readonly [readonly number[], readonly number[], ...unknown[]])[],
): Comparison['calls'] {
  return function* (draw) {
    for (const [left, right] of promotable(dtypes)) {
      for (const [one, other, ...more] of shapes) yield [draw.block(left, one), draw.block(right, other), ...more]
    }
  }
}

/**
 * Judges a factorisation by what it promises: NumPy computes residuals, which are to be some epsilons. In the text `a`
 * is the operand and `b`, `c`, … are the results.
 */
function holds(residuals: string, shapes = 'None'): NonNullable<Comparison['check']> {
  return async ({ numpy, arguments: [x], result }: Judge) => {
    const a = x as Block
    for (const block of result) assert.ok(block.dtype === a.dtype || block.dtype === realOf(a.dtype), 'dtype')
    const expression = `
H = lambda m: np.conj(np.swapaxes(m, -1, -2))
one = lambda m: np.eye(m.shape[-1])
scale = np.maximum(1, np.abs(a).max(initial=0)) * max(a.shape)
far = [np.abs(r).max(initial=0) / scale for r in (${residuals},)]
wanted = ${shapes}
if wanted is not None:
    assert tuple(m.shape for m in (b, c, d)[:len(wanted)]) == tuple(wanted), 'shapes'
np.array(far, dtype='float64')`
    const spare = Array.from({ length: Math.max(0, 3 - result.length) }, () => a)
    const epsilon = realOf(a.dtype) === float32 ? 2 ** -23 : 2 ** -52
    const [far] = await numpy.call(expression, [a, ...result, ...spare])
    for (const [index, residual] of values(far!).entries()) {
      const text = residuals.split(/,\s*(?![^(]*\))/)[index]
      assert.ok(
        (residual as number) <= 64 * epsilon,
        `${text} of ${a.dtype}(${a.shape}) is ${Number(residual) / epsilon} ε`,
      )
    }
  }
}

/** x becomes Hermitian, and positive definite if asked for. */
function hermitian(draw: Draw, dtype: DType, shape: readonly number[], definite: boolean): Block {
  const x = draw.block(dtype, shape, { least: -1, greatest: 1 })
  const n = shape.at(-1)!
  const data = new dtype.Elements(sizeOf(shape) * dtype.lanes)
  const source = values(x).map((value) => (typeof value === 'object' ? value : { re: Number(value), im: 0 }))
  for (let at = 0; at < source.length; at += 1) {
    const [row, column, start] = [Math.floor(at / n) % n, at % n, at - (at % (n * n))]
    const { re, im } = source[start + Math.max(row, column) * n + Math.min(row, column)]!
    const real = row === column && definite ? Math.abs(re) + 2 * n : re
    data[at * dtype.lanes] = real as never
    if (isComplex(dtype)) data[at * 2 + 1] = (row === column ? 0 : row > column ? im : -im) as never
  }
  const strides = shape.map((_, axis) => sizeOf(shape.slice(axis + 1)))
  return { dtype, shape, strides, offset: 0, data }
}

function hermitians(definite: boolean, options: readonly unknown[] = []): Comparison['calls'] {
  return function* (draw) {
    for (const dtype of floating) {
      for (const shape of squares) {
        const x = hermitian(draw, dtype, shape, definite)
        yield [x]
        for (const more of options) yield [x, more]
      }
    }
  }
}

/** Well away from singular: the diagonal outweighs the rest. */
function* regulars(draw: Draw): Generator<Block> {
  for (const dtype of floating) {
    for (const shape of squares) {
      const x = draw.block(dtype, shape, { least: -1, greatest: 1 })
      const n = shape.at(-1)!
      const data = x.data.slice()
      for (let at = 0; at < sizeOf(shape); at += n + 1) {
        let [element, rest] = [x.offset, at]
        for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
          element += (rest % shape[axis]!) * x.strides[axis]!
          rest = Math.floor(rest / shape[axis]!)
        }
        data[element * dtype.lanes] = ((data[element * dtype.lanes] as number) + 2 * n) as never
        if ((at + n + 1) % (n * n) === n) at -= n
      }
      yield { ...x, data }
    }
  }
}

const regular: Comparison['calls'] = function* (draw) {
  for (const x of regulars(draw)) yield [x]
}

const products = [
  [[3], [3]],
  [[2, 3], [3]],
  [[3], [3, 2]],
  [
    [2, 3],
    [3, 4],
  ],
  [
    [5, 2, 3],
    [3, 4],
  ],
  [
    [5, 1, 2, 3],
    [2, 3, 4],
  ],
  [
    [2, 0],
    [0, 3],
  ],
] as const

const matmul: Comparison = { calls: pairs(numeric, products), numpy: 'matmul', closeness: close }
const vecdot: Comparison = {
  calls: pairs(numeric, [
    [[3], [3], {}],
    [[2, 3], [3], {}],
    [[4, 1, 3], [2, 3], { axis: -1 }],
    [[2, 0], [2, 0], {}],
  ]),
  numpy: (a, b) => `np.asarray((np.conj(${a}) * ${b}).sum(-1, dtype=np.result_type(${a}.dtype, ${b}.dtype)))`,
  closeness: close,
}
const tensordot: Comparison = {
  calls: pairs(numeric, [
    [[2, 3, 4], [3, 4, 5], {}],
    [[2, 3], [4], { axes: 0 }],
    [
      [2, 3, 4],
      [4, 3],
      {
        axes: [
          [1, 2],
          [1, 0],
        ],
      },
    ],
    [[2, 3], [3, 2], { axes: 1 }],
  ]),
  closeness: close,
}
const matrix_transpose = each(all, matrices, () => [[]], { numpy: (a) => `np.swapaxes(${a}, -1, -2)` })

export const linalg: Comparisons = {
  matmul,
  matrix_transpose,
  tensordot,
  vecdot,
  'linalg.matmul': matmul,
  'linalg.matrix_transpose': matrix_transpose,
  'linalg.tensordot': { ...tensordot, numpy: 'tensordot' },
  'linalg.vecdot': vecdot,
  'linalg.cholesky': {
    calls: hermitians(true, [{ upper: true }]),
    numpy: (a, options = '') =>
      options.includes('True') ? `np.conj(np.swapaxes(np.linalg.cholesky(${a}), -1, -2))` : `np.linalg.cholesky(${a})`,
    closeness: close,
  },
  'linalg.cross': {
    calls: pairs(numeric, [
      [[3], [3], {}],
      [[2, 3], [2, 3], {}],
      [[3, 2], [3, 2], { axis: -2 }],
    ]),
    numpy: 'cross',
    closeness: close,
  },
  'linalg.det': { calls: regular, closeness: { epsilons: 256 } },
  'linalg.diagonal': each(all, matrices, (draw) => [[{}], [{ offset: draw.whole(-3, 3) }]], {
    numpy: (a, options = '') => `np.diagonal(${a}, ${options ? `${options}, ` : ''}axis1=-2, axis2=-1)`,
  }),
  'linalg.eig': each(floating, squares, () => [[]], { check: eigenpairs }),
  'linalg.eigh': {
    calls: hermitians(false),
    check: holds('a @ c - c * b[..., None, :], H(c) @ c - one(c), np.minimum(0, np.diff(b))'),
  },
  'linalg.eigvals': each(floating, squares, () => [[]], { check: eigenvalues }),
  'linalg.eigvalsh': { calls: hermitians(false), closeness: close },
  'linalg.inv': { calls: regular, closeness: close },
  'linalg.matrix_norm': each(
    floating,
    matrices.filter((shape) => sizeOf(shape) > 0),
    () =>
      [
        {},
        { ord: 1, keepdims: true },
        { ord: -1 },
        { ord: 2 },
        { ord: -2 },
        { ord: Number.POSITIVE_INFINITY },
        { ord: Number.NEGATIVE_INFINITY },
        { ord: 'nuc' },
      ].map((options) => [options]),
    { numpy: (a, options) => `np.linalg.norm(${a}, axis=(-2, -1), ${options})` },
  ),
  'linalg.matrix_power': each(floating, squares, () => [[0], [1], [3]]),
  'linalg.matrix_rank': each(floating, matrices, () => [[]], {
    numpy: (a) => `np.asarray(np.linalg.matrix_rank(${a}), dtype='int64')`,
  }),
  'linalg.outer': {
    calls: pairs(numeric, [
      [[3], [4]],
      [[0], [2]],
    ]),
    numpy: 'outer',
    closeness: close,
  },
  'linalg.pinv': each(
    floating,
    [
      [3, 3],
      [3, 5],
      [5, 3],
      [2, 4, 2],
    ],
    () => [[]],
    { check: holds('a @ b @ a - a, b @ a @ b - b, H(a @ b) - a @ b, H(b @ a) - b @ a') },
  ),
  'linalg.qr': each(floating, matrices, () => [[{}], [{ mode: 'complete' }]], {
    check: holds('b @ c - a, H(b) @ b - one(b), np.tril(c, -1)'),
  }),
  'linalg.slogdet': { calls: regular, numpy: (a) => `s, l = np.linalg.slogdet(${a})\ns, l`, closeness: close },
  'linalg.solve': {
    *calls(draw) {
      for (const x of regulars(draw)) {
        yield [x, draw.block(x.dtype, [x.shape.at(-1)!, 2])]
        yield [x, draw.block(x.dtype, [x.shape.at(-1)!])]
      }
    },
    // NumPy before 2.0 takes a matrix beside a stack of matrices for a stack of vectors.
    numpy: (a, b) =>
      `stack = lambda y: np.broadcast_to(y, ${a}.shape[:-2] + y.shape)\n` +
      `np.linalg.solve(${a}, stack(${b}[:, None]))[..., 0] if ${b}.ndim == 1 else np.linalg.solve(${a}, stack(${b}))`,
    closeness: close,
  },
  'linalg.svd': each(floating, matrices, () => [[{}], [{ fullMatrices: false }]], {
    check: holds(
      'b[..., :c.shape[-1]] * c[..., None, :] @ d[..., :c.shape[-1], :] - a, H(b) @ b - one(b), d @ H(d) - np.eye(d.shape[-2]), np.maximum(0, np.diff(c))',
    ),
  }),
  'linalg.svdvals': each(floating, matrices, () => [[]], { numpy: (a) => `np.linalg.svd(${a}, compute_uv=False)` }),
  'linalg.trace': each(numeric, matrices, (draw) => [[{}], [{ offset: draw.whole(-2, 2) }]], {
    numpy: (a, options = '') => `np.trace(${a}, ${options ? `${options}, ` : ''}axis1=-2, axis2=-1)`,
  }),
  'linalg.vector_norm': each(
    floating,
    [[7], [3, 4], [2, 3, 4]],
    (draw, { shape }) => [
      ...[0, 1, 2, 3, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map((ord) => [
        { axis: draw.axis(shape), ord },
      ]),
      [{ axis: -1, keepdims: true }],
      [{}],
      ...(shape.length > 1 ? [[{ axis: [0, -1], ord: 1 }]] : []),
    ],
    { numpy: (a, options = '') => `${VECTOR_NORM}\nvector_norm(${a}, ${options})` },
  ),
}

const VECTOR_NORM = `
def vector_norm(x, axis=None, ord=2, keepdims=False):
    axis = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    m = np.abs(x)
    if ord == np.inf: return m.max(axis, keepdims=keepdims)
    if ord == -np.inf: return m.min(axis, keepdims=keepdims)
    if ord == 0: return (m != 0).sum(axis, keepdims=keepdims).astype(m.dtype)
    return ((m ** ord).sum(axis, keepdims=keepdims) ** (1 / ord)).astype(m.dtype)`

/** Pairs in any order: each is one, and together they are all, since their sum is the trace. */
async function eigenpairs({ numpy, arguments: [x], result }: Judge): Promise<void> {
  await residualsOf(
    numpy,
    x as Block,
    result,
    'a @ c - c * b[..., None, :], np.trace(a, axis1=-2, axis2=-1) - b.sum(-1), 1 - np.linalg.norm(c, axis=-2)',
  )
}

async function eigenvalues({ numpy, arguments: [x], result }: Judge): Promise<void> {
  await residualsOf(
    numpy,
    x as Block,
    result,
    'np.sort_complex(np.round(np.linalg.eigvals(a.astype("complex128")), 1)) - np.sort_complex(np.round(b, 1))',
  )
}

async function residualsOf(
  numpy: Judge['numpy'],
  a: Block,
  result: readonly Block[],
  residuals: string,
): Promise<void> {
  assert.ok(
    result.every(({ dtype }) => isComplex(dtype) && realOf(dtype) === realOf(a.dtype)),
    'complex results',
  )
  const [far] = await numpy.call(`np.array([np.abs(r).max(initial=0) for r in (${residuals},)], dtype='float64')`, [
    a,
    ...result,
  ])
  const epsilon = realOf(a.dtype) === float32 ? 2 ** -23 : 2 ** -52
  for (const residual of values(far!)) assert.ok((residual as number) < 4096 * epsilon, `${residuals}: ${residual}`)
}
