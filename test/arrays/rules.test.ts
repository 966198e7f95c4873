import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { NdArray } from '../../src/arrays/array.ts'
import { blockOver } from '../../src/arrays/blocks/block.ts'
import { type Arrays, openArrays } from '../../src/arrays/open-arrays.ts'
import type { Division } from '../../src/arrays/partitions/partition.ts'
import { float64 } from '../../src/arrays/types/dtype.ts'
import { drawn } from '../support/drawn.ts'
import { programs } from './fixtures/programs.ts'
import { allOf } from './support/all-of.ts'
import { rowMajorElements } from './support/blocks.ts'
import { MeshArrays } from './support/mesh-arrays.ts'
import { type Numpy, startNumpy, withoutNumpy } from './support/numpy.ts'

/** A function of arrays among ranks, and what NumPy calls it. `a` has one axis, `b` two, `c` three. */
interface Case {
  readonly numpy: string
  readonly call: (xp: Arrays, operands: Operands) => NdArray
  /** How many bytes may come to a rank. Without it: what the function moves are elements, each at most once. */
  readonly bytesMax?: (size: number) => number
}

interface Operands {
  readonly a: NdArray
  readonly b: NdArray
  readonly c: NdArray
}

const LENGTH = 45
const values = {
  // Repeated values, zeros of both signs and a NaN.
  a: Float64Array.from({ length: LENGTH }, (_, at) =>
    at === 30 ? Number.NaN : at % 9 === 4 ? -0 : ((at * 7) % 11) - 4,
  ),
  b: Float64Array.from({ length: 42 }, (_, at) => ((at * 13) % 17) - 8),
  c: Float64Array.from({ length: 60 }, (_, at) => ((at * 5) % 23) - 3),
}
const shapes = { a: [LENGTH], b: [7, 6], c: [3, 4, 5] }
const all = 8 * LENGTH

/** Of what only moves elements, the bytes that come are exactly those of elements that another rank has. */
const moves: readonly Case[] = [
  { numpy: 'a[::-1]', call: (xp, { a }) => xp.flip(a) },
  { numpy: 'np.flip(b, 1)', call: (xp, { b }) => xp.flip(b, { axis: 1 }) },
  { numpy: 'np.roll(a, 11)', call: (xp, { a }) => xp.roll(a, 11) },
  { numpy: 'np.roll(c, (1, -2), (0, 2))', call: (xp, { c }) => xp.roll(c, [1, -2], { axis: [0, 2] }) },
  {
    numpy: 'np.take(a, [3, 3, -1, 40, 7, 8, 9])',
    call: (xp, { a }) => xp.take(a, xp.asarray([3n, 3n, -1n, 40n, 7n, 8n, 9n])),
  },
  { numpy: 'np.take(b, [5, 0, 1], axis=1)', call: (xp, { b }) => xp.take(b, xp.asarray([5n, 0n, 1n]), { axis: 1 }) },
  {
    numpy: 'np.take(a, (np.arange(40) * 17) % 45)',
    call: (xp, { a }) => xp.take(a, xp.remainder(xp.arange(40n).multiply(17n), 45n)),
  },
  { numpy: 'np.repeat(a, 3)', call: (xp, { a }) => xp.repeat(a, 3) },
  {
    numpy: 'np.repeat(b, [0, 2, 1, 0, 3, 1], axis=1)',
    call: (xp, { b }) => xp.repeat(b, xp.asarray([0n, 2n, 1n, 0n, 3n, 1n]), { axis: 1 }),
  },
  { numpy: 'np.tile(a, 2)', call: (xp, { a }) => xp.tile(a, [2]) },
  { numpy: 'np.concatenate([a, a])', call: (xp, { a }) => xp.concat([a, a]) },
  {
    numpy: 'np.concatenate([b, b[:, 1:3]], axis=1)',
    call: (xp, { b }) => xp.concat([b, b.slice(':, 1:3').copy()], { axis: 1 }),
    bytesMax: () => 8 * 56 * 2,
  },
  { numpy: 'np.stack([b, b], axis=1)', call: (xp, { b }) => xp.stack([b, b], { axis: 1 }) },
  { numpy: 'b.reshape(6, 7)', call: (xp, { b }) => xp.reshape(b, [6, 7]) },
  { numpy: 'c.reshape(-1)', call: (xp, { c }) => xp.reshape(c, [-1]) },
  { numpy: 'a.reshape(1, 5, 9)', call: (xp, { a }) => xp.reshape(a, [1, 5, 9]) },
  { numpy: 'a[5]', call: (_, { a }) => a.at(5) },
  { numpy: 'b[3]', call: (_, { b }) => b.at(3) },
  { numpy: 'c[:, -1, None, ::-2]', call: (_, { c }) => c.slice(':, -1, None, ::-2') },
  { numpy: 'a[40:3:-7]', call: (_, { a }) => a.slice('40:3:-7') },
  { numpy: 'a[4:39:3]', call: (_, { a }) => a.slice('4:39:3') },
  { numpy: 'np.expand_dims(b, (0, 2))', call: (xp, { b }) => xp.expandDims(b, [0, 2]) },
  { numpy: 'np.moveaxis(c, 0, 2)', call: (xp, { c }) => xp.moveaxis(c, 0, 2) },
  { numpy: 'np.fft.fftshift(b)', call: (xp, { b }) => xp.fft.fftshift(b) },
]

/** The elements of the matrices of `c` that one rank has at most. */
const stackBytes = (size: number): number => 8 * 20 * Math.ceil(3 / size)
/** What is counted to find an element by eight digits, of which each has 256 values. */
const COUNTS = 8 * 8 * 257
/** More elements than counts. */
const MANY = '(np.arange(100000.0) * 7919)'
const many = (xp: Arrays): NdArray => xp.arange(100_000, null, 1, { partition: 'cyclic' }).multiply(7919)

const others: readonly Case[] = [
  { numpy: 'np.argmax(a)', call: (xp, { a }) => xp.argmax(a), bytesMax: (size) => 16 * size },
  { numpy: 'np.argmin(c)', call: (xp, { c }) => xp.argmin(c), bytesMax: (size) => 16 * size },
  { numpy: 'np.argmax(b, axis=0)', call: (xp, { b }) => xp.argmax(b, { axis: 0 }), bytesMax: (size) => 6 * 16 * size },
  {
    numpy: 'np.argmin(b, axis=1, keepdims=True)',
    call: (xp, { b }) => xp.argmin(b, { axis: 1, keepdims: true }),
    bytesMax: (size) => 7 * 16 * size,
  },
  {
    numpy: 'np.cumsum(np.sin(a[:30]))',
    call: (xp, { a }) => xp.cumulativeSum(xp.sin(a.slice(':30'))),
    bytesMax: (size) => 8 * size + 8 * 30,
  },
  {
    numpy: 'np.cumsum(b * 0.1, axis=0)',
    call: (xp, { b }) => xp.cumulativeSum(b.multiply(0.1), { axis: 0 }),
    bytesMax: (size) => 8 * 6 * size + 8 * 42,
  },
  {
    numpy: 'np.cumprod((b / 3).astype(np.int64) + 1, axis=0)',
    call: (xp, { b }) => xp.cumulativeProd(b.divide(3).astype(xp.int64).add(1n), { axis: 0 }),
    bytesMax: (size) => 8 * 6 * size + 8 * 42,
  },
  {
    numpy: 'np.concatenate([[0], np.cumsum(np.arange(45))])',
    call: (xp, { a }) =>
      xp.cumulativeSum(xp.isnan(a).astype(xp.int64).multiply(0n).add(xp.arange(45n)), { includeInitial: true }),
    bytesMax: (size) => 8 * size + all,
  },
  {
    numpy: 'np.sort(a, kind="stable")',
    call: (xp, { a }) => xp.sort(a),
    bytesMax: (size) => 3 * all + 16 * size * (size + 2),
  },
  {
    numpy: 'np.argsort(a, kind="stable")',
    call: (xp, { a }) => xp.argsort(a),
    bytesMax: (size) => 4 * all + 16 * size * (size + 2),
  },
  {
    numpy: 'np.sort(a * 0, kind="stable")',
    call: (xp, { a }) => xp.sort(a.multiply(0)),
    bytesMax: (size) => 3 * all + 16 * size * (size + 2),
  },
  {
    numpy: '44 - np.arange(45)',
    call: (xp, { a }) => xp.argsort(a.multiply(0).greater(1), { descending: true }).multiply(-1n).add(44n),
    bytesMax: (size) => 4 * all + 16 * size * (size + 2),
  },
  { numpy: 'np.sort(b, axis=0)', call: (xp, { b }) => xp.sort(b, { axis: 0 }), bytesMax: () => 8 * 42 },
  {
    numpy: 'np.searchsorted(np.arange(45) * 1.5, a)',
    call: (xp, { a }) => xp.searchsorted(xp.arange(45).multiply(1.5), a),
    bytesMax: () => 0,
  },
  {
    numpy: 'np.searchsorted(np.sort(a), np.array([1.0, -4.0]), side="right")',
    call: (xp, { a }) => xp.searchsorted(xp.sort(a), xp.asarray([1, -4]), { side: 'right' }),
    bytesMax: (size) => 3 * all + 16 * size * (size + 4),
  },
  { numpy: 'np.isin(b, [1, 2, 5])', call: (xp, { b }) => xp.isin(b, xp.asarray([1, 2, 5])), bytesMax: () => 0 },
  {
    numpy: 'b @ np.arange(12.0).reshape(6, 2)',
    call: (xp, { b }) => xp.matmul(b, xp.reshape(xp.arange(12), [6, 2])),
    bytesMax: () => 8 * 42,
  },
  { numpy: 'b @ b.T', call: (xp, { b }) => xp.matmul(b, b.T), bytesMax: () => 2 * 8 * 42 },
  { numpy: 'np.arange(7.0) @ b', call: (xp, { b }) => xp.matmul(xp.arange(7), b), bytesMax: () => 8 * 42 },
  {
    numpy: 'a[:30] @ a[15:]',
    call: (xp, { a }) => xp.matmul(a.slice(':30'), a.slice('15:').multiply(0).add(1).multiply(a.slice('15:'))),
    bytesMax: () => 3 * all,
  },
  {
    numpy: 'c @ np.arange(60.0).reshape(3, 5, 4)',
    call: (xp, { c }) => xp.matmul(c, xp.reshape(xp.arange(60), [3, 5, 4])),
    bytesMax: stackBytes,
  },
  {
    numpy: 'np.arange(20.0).reshape(4, 5) @ c.swapaxes(1, 2)',
    call: (xp, { c }) => xp.matmul(xp.reshape(xp.arange(20), [4, 5]), xp.permuteDims(c, [0, 2, 1])),
    bytesMax: stackBytes,
  },
  { numpy: 'np.arange(4.0) @ c', call: (xp, { c }) => xp.matmul(xp.arange(4), c), bytesMax: stackBytes },
  {
    numpy: 'np.einsum("bij,bkj->kbi", c, c)',
    call: (xp, { c }) => xp.einsum('bij,bkj->kbi', c, c),
    bytesMax: (size) => 2 * stackBytes(size),
  },
  {
    numpy: `np.percentile(${MANY} % 40009 - 20000, 37.5)`,
    call: (xp) => xp.percentile(many(xp).remainder(40_009).subtract(20_000), 37.5),
    bytesMax: (size) => COUNTS * 2 * size,
  },
  {
    numpy: `np.quantile(${MANY} % 7 * 0.1 - 0.3, [0, 0.5, 1], method="lower")`,
    call: (xp) => xp.quantile(many(xp).remainder(7).multiply(0.1).subtract(0.3), [0, 0.5, 1], { method: 'lower' }),
    bytesMax: (size) => COUNTS * 3 * size,
  },
  {
    numpy: `np.quantile(np.where(${MANY} < 7919, np.nan, 1), 0.5)`,
    call: (xp) => xp.quantile(many(xp).divide(many(xp)), 0.5),
    bytesMax: (size) => COUNTS * 2 * size,
  },
  { numpy: 'np.einsum("ij,ij->i", b, b)', call: (xp, { b }) => xp.vecdot(b, b), bytesMax: () => 8 * 42 },
  { numpy: 'np.diff(a[:30])', call: (xp, { a }) => xp.diff(a.slice(':30')), bytesMax: () => 8 * 30 },
  { numpy: 'np.tril(b, 1)', call: (xp, { b }) => xp.tril(b, { k: 1 }), bytesMax: () => 0 },
  { numpy: 'np.broadcast_to(b, (2, 7, 6))', call: (xp, { b }) => xp.broadcastTo(b, [2, 7, 6]), bytesMax: () => 0 },
]

const divisions: readonly (readonly [Division, Division, Division])[] = [
  ['block', 'block', 'block'],
  ['cyclic', ['replicated', 'block'], ['block', 'replicated', 'cyclic']],
  [{ blockCyclic: 4 }, [{ blockCyclic: 2 }, 'block'], ['replicated', 'replicated', 'block']],
]

let numpy: Numpy | undefined
after(() => numpy?.[Symbol.asyncDispose]())
const alone = await openArrays()

function operandsOf(
  xp: Arrays,
  [first, second, third]: readonly Division[],
  of: (name: keyof typeof shapes) => Float64Array,
): Operands {
  const made = (name: keyof typeof shapes, partition: Division | undefined): NdArray =>
    xp.asarray(xp.reshape(xp.asarray(of(name)), shapes[name]), partition === undefined ? {} : { copy: true, partition })
  return { a: made('a', first), b: made('b', second), c: made('c', third) }
}

/** An array as NumPy says it. */
const whole = async (x: NdArray): Promise<unknown> => [x.dtype.name, x.shape, [...(await allOf(x))]]

/** For each element of an operand a number that no other has, to see where elements of a result come from. */
const numbers = { a: 0, b: 1000, c: 2000 }
const numbered = (name: keyof typeof shapes): Float64Array => values[name].map((_, at) => numbers[name] + at)

/** The bytes of a result's elements that a rank does not have of the operands. */
function bytesFrom(rank: number, result: NdArray, sources: NdArray, operands: Operands): number {
  const named = Object.keys(numbers) as (keyof typeof shapes)[]
  const isOwn = (x: NdArray, at: number): boolean => {
    const owner = x.owner(indicesOf(x.shape, at))
    return owner === undefined || owner === rank
  }
  let bytes = 0
  for (const [at, source] of (sources.toTypedArray() as Float64Array).entries()) {
    const name = named.findLast((each) => source >= numbers[each])!
    if (isOwn(result, at) && !isOwn(operands[name], source - numbers[name])) bytes += 8
  }
  return bytes
}

function indicesOf(shape: readonly number[], flat: number): number[] {
  const indices: number[] = []
  let rest = flat
  for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
    indices.unshift(rest % shape[axis]!)
    rest = Math.floor(rest / shape[axis]!)
  }
  return indices
}

for (const size of drawn([1, 2, 3, 4, 7], 3))
  test(`on ${size} ranks functions give NumPy's elements, and what they say moves`, {
    skip: withoutNumpy,
  }, async () => {
    numpy ??= await startNumpy()
    const blocks = (['a', 'b', 'c'] as const).map((name) => blockOver(values[name], float64, shapes[name]))
    const wanted: unknown[] = []
    for (const { numpy: expression } of [...moves, ...others]) {
      const [block] = await numpy.call(expression, blocks)
      wanted.push([block!.dtype.name, block!.shape, [...rowMajorElements(block!)]])
    }
    for (const isMapped of [true, false]) {
      await using mesh = await MeshArrays.open(size, isMapped)
      for (const division of divisions) {
        const results = await mesh.all(async (xp, rank) => {
          const operands = operandsOf(xp, division, (name) => values[name])
          for (const each of [operands.a, operands.b, operands.c]) await each.compute()
          const said: { readonly elements: unknown; readonly bytes: number; readonly needed: number | undefined }[] = []
          for (const [at, { call, bytesMax }] of [...moves, ...others].entries()) {
            const before = xp.moved.bytes
            const result = await call(xp, operands).compute()
            const bytes = xp.moved.bytes - before
            const isExact = at < moves.length && bytesMax === undefined
            const sources = isExact ? call(alone, operandsOf(alone, [], numbered)) : undefined
            const needed = sources && bytesFrom(rank, result, sources, operands)
            said.push({ elements: await whole(result), bytes, needed })
          }
          return said
        })
        for (const [rank, said] of results.entries())
          for (const [at, { elements, bytes, needed }] of said.entries()) {
            const { numpy: expression, bytesMax } = [...moves, ...others][at]!
            const text = `${expression} at rank ${rank} of ${JSON.stringify(division)}, ${isMapped ? 'mapped' : 'apart'}`
            assert.deepEqual(elements, wanted[at], text)
            if (needed !== undefined) assert.equal(bytes, needed, `bytes of ${text}`)
            else assert.ok(bytes <= bytesMax!(size), `${bytes} bytes of ${text}`)
          }
      }
    }
  })

/** Those that look at elements only where ranks wait for each other. */
const waiting = ['elementwise', 'broadcast', 'reductions', 'alongAxes', 'tall'] as const
const ways: readonly Division[] = [{ blockCyclic: 2 }, 'block']

for (const size of drawn([4, 7], 1))
  test(`on ${size} ranks programs have the bits of one process`, async () => {
    for (const [turn, isMapped] of [true, false].entries()) {
      await using mesh = await MeshArrays.open(size, isMapped)
      for (const [at, name] of waiting.entries()) {
        const wanted = await programs[name]!(alone, 'replicated')
        const results = await mesh.all((xp) => programs[name]!(xp, ways[(at + turn) % 2]!))
        for (const [rank, said] of results.entries()) assert.deepEqual(said, wanted, `${name} at rank ${rank}`)
      }
    }
  })
