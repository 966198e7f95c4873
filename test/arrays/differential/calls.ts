import type { Arrays } from '../../../src/arrays/index.ts'
import { badValues } from '../../public/bad-values.ts'
import { asArrays } from '../support/namespace.ts'
import { comparisons } from './comparisons/index.ts'
import { Draw } from './draw.ts'

/** As an extent these are no mistake: gigabytes would be filled. */
export const wrongValues: readonly (() => unknown)[] = badValues.filter(
  (make) => ![2 ** 31, 2 ** 32].includes(make() as number),
)

/** Right calls of a function, of those that are not compared as of the others. */
export function* rightCalls(xp: Arrays, name: string, seed: number): Generator<readonly unknown[]> {
  const others = uncompared(xp)
  if (name in others) yield others[name]!
  else for (const operands of comparisons[name]!.calls(new Draw(seed))) yield asArrays(operands)
}

/** One right call of each function that is not compared with NumPy's. */
function uncompared(xp: Arrays): Readonly<Record<string, readonly unknown[]>> {
  const x = xp.asarray([1, 2, 4])
  const generator = xp.random.generator(1)
  const matrix = xp.sparse.fromDense(xp.asarray([1, 0, 0, 2].map((_, at, all) => [all[at]!, 1])))
  return {
    empty: [3, { dtype: xp.int8 }],
    empty_like: [x, { dtype: xp.int8 }],
    asarray: [x, { copy: true, dtype: xp.float32 }],
    from_dlpack: [x, { copy: true }],
    can_cast: [x, xp.float64],
    finfo: [xp.float64],
    iinfo: [xp.int8],
    isdtype: [xp.int8, 'integral'],
    result_type: [x, xp.float64],
    broadcast_shapes: [[1], [2, 1]],
    'random.generator': [7n],
    'random.random': [generator, [2, 3], { dtype: xp.float32 }],
    'random.uniform': [generator, 0, 2, [3]],
    'random.standard_normal': [generator, 3, { dtype: xp.float32 }],
    'random.normal': [generator, 0, 2, [3]],
    'random.integers': [generator, 1, 5n, 3, { dtype: xp.int8, endpoint: true }],
    'random.permutation': [generator, x, { axis: 0 }],
    'sparse.from_triplets': [
      [0, 1],
      [1, 0],
      [1, 2],
      [2, 2],
    ],
    'sparse.from_dense': [xp.asarray([[1, 0]])],
    'sparse.to_dense': [matrix],
    'sparse.transpose': [matrix],
    'sparse.rows_between': [matrix, 1, 2],
    'sparse.matmul': [matrix, xp.asarray([1, 2])],
  }
}

/** The arguments with another value at one place, then at one option, then with one more. */
export function* wrongCalls(operands: readonly unknown[], value: () => unknown): Generator<readonly unknown[]> {
  for (const [place, operand] of operands.entries()) {
    yield operands.with(place, value())
    if (!isOptions(operand)) continue
    for (const name of Object.keys(operand)) yield operands.with(place, { ...operand, [name]: value() })
  }
  yield [...operands, value()]
}

export function isOptions(value: unknown): value is Record<string, unknown> {
  const isRecord = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  return isRecord && !('Elements' in value)
}
