import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Division } from '../../src/arrays/partitions/partition.ts'
import { allOf } from './support/all-of.ts'
import { MeshArrays } from './support/mesh-arrays.ts'

const elements = async (x: Parameters<typeof allOf>[0]): Promise<unknown[]> => [...(await allOf(x))]

for (const isMapped of [true, false])
  test(`an operand without the first axes fits each part of a grid of ranks, ${isMapped ? 'mapped' : 'apart'}`, async () => {
    await using mesh = await MeshArrays.open(4, isMapped)
    const grids: readonly Division[] = [
      ['block', 'cyclic'],
      ['cyclic', 'block'],
    ]
    const results = await mesh.all(async (xp) => {
      const sums: unknown[] = []
      for (const grid of grids)
        for (const partition of ['block', 'replicated'] as const) {
          const x = xp.asarray(xp.reshape(xp.arange(12), [3, 4]), { copy: true, partition: grid })
          const row = xp.asarray(xp.arange(4).multiply(100), { copy: true, partition })
          sums.push(await elements(x.add(row)), await elements(xp.multiply(xp.expandDims(row, 0), xp.onesLike(x))))
        }
      return sums
    })
    const sum = Array.from({ length: 12 }, (_, at) => at + 100 * (at % 4))
    const product = sum.map((_, at) => 100 * (at % 4))
    for (const said of results) assert.deepEqual(said, [sum, product, sum, product, sum, product, sum, product])
  })

test('what has no elements has a product of 1, and no more differences than elements', async () => {
  await using mesh = await MeshArrays.open(2, true)
  const results = await mesh.all(async (xp) => {
    const none = xp.zeros([2, 0, 3], { dtype: xp.int64, partition: 'block' })
    const empty = xp.zeros(0, { partition: 'block' })
    return [
      await elements(xp.prod(none)),
      await elements(xp.prod(none, { keepdims: true })),
      await elements(xp.sum(none)),
      await elements(xp.diff(empty, { prepend: xp.asarray([1, 4]) })),
      await elements(xp.diff(empty, { append: xp.asarray([1]), n: 3 })),
      await elements(xp.diff(xp.ones(2, { partition: 'block' }), { append: xp.asarray([7, 7]), n: 3 })),
    ]
  })
  for (const said of results) assert.deepEqual(said, [[1n], [1n], [0n], [3], [], [-12]])
})

test('asarray takes another type of an array in parts, copies it or refuses to, and options may be followed by nothing', async () => {
  await using mesh = await MeshArrays.open(2, true)
  const code = 'ERR_AETHER_ARRAY_VALUE'
  const results = await mesh.all(async (xp) => {
    const x = await xp.zeros(5, { partition: 'block' }).compute()
    const same = await xp.asarray(x, { copy: false, partition: 'block' }).compute()
    const copied = await xp.asarray(x, { copy: true }).compute()
    x.localParts()[0]!.data[0] = 7
    assert.throws(() => xp.asarray(x, { copy: false, partition: 'cyclic' }), { code })
    assert.throws(() => xp.asarray(x, { copy: false, partition: 'block', access: 'read' }), { code })
    assert.throws(() => xp.asarray(x, { copy: false, dtype: xp.int8 }), { code })
    assert.throws(() => xp.repeat(x, (2n ** 64n) as never), { code: 'ERR_AETHER_ARRAY_MEMORY' })
    return [
      await elements(same),
      await elements(copied),
      xp.asarray(x, { dtype: xp.float32 }).dtype.name,
      (xp.call('empty_like', x, { dtype: xp.int8 }, undefined) as typeof x).dtype.name,
      (xp.call('from_dlpack', x, { copy: true }, undefined) as typeof x).shape,
    ]
  })
  for (const said of results) assert.deepEqual(said, [[7, 0, 7, 0, 0], [0, 0, 0, 0, 0], 'float32', 'int8', [5]])
})

for (const isMapped of [true, false])
  test(`reductions of parts have the bits of one process, wherever parts begin, ${isMapped ? 'mapped' : 'apart'}`, async () => {
    await using mesh = await MeshArrays.open(3, isMapped)
    const shapes = [[2], [1000], [9000], [12_288], [12_289], [16_384], [30_000], [7000, 3], [12_300, 2]]
    const results = await mesh.all(async (xp) => {
      const pairs: unknown[] = []
      for (const shape of shapes)
        for (const dtype of [xp.float64, xp.float32, xp.int16, xp.complex128]) {
          const size = shape.reduce((product, extent) => product * extent, 1)
          const numbers = xp.sin(xp.arange(size).multiply(1.7)).multiply(1000)
          const whole = await xp.reshape(numbers, shape).astype(dtype).compute()
          const parts = await xp.asarray(whole, { copy: true, partition: 'block' }).compute()
          for (const options of [{}, { axis: 0 }]) {
            pairs.push([await elements(xp.sum(parts, options)), await elements(xp.sum(whole, options))])
            if (dtype === xp.complex128) continue
            if (dtype === xp.int16) pairs.push([await elements(xp.prod(parts)), await elements(xp.prod(whole))])
            else pairs.push([await elements(xp.std(parts, options)), await elements(xp.std(whole, options))])
          }
        }
      return pairs as [unknown[], unknown[]][]
    })
    for (const pairs of results) for (const [found, expected] of pairs) assert.deepEqual(found, expected)
  })

test('a sum moves the heads of parts, and what pieces amount to', async () => {
  await using mesh = await MeshArrays.open(2, true)
  const results = await mesh.all(async (xp, rank) => {
    const x = await xp.ones(20_000, { partition: 'block' }).compute()
    const before = { ...xp.moved }
    const [sum] = await elements(xp.sum(x))
    return { rank, sum, bytes: xp.moved.bytes - before.bytes, exchanges: xp.moved.exchanges - before.exchanges }
  })
  // Five pieces, of which the first three begin at rank 0. 2288 elements of the third lie at rank 1.
  assert.deepEqual(results, [
    { rank: 0, sum: 20_000, bytes: 8 * (2288 + 2), exchanges: 1 },
    { rank: 1, sum: 20_000, bytes: 8 * 3, exchanges: 1 },
  ])
})
