import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openArrays } from '../../../src/arrays/index.ts'
import { DTYPES, type DType, isComplex, isFloating, isInteger, type Kind } from '../../../src/arrays/types/dtype.ts'
import { values } from '../support/blocks.ts'
import { startNumpy, withoutNumpy } from '../support/numpy.ts'
import { kinds, promotable } from './draw.ts'

const types = Object.values(DTYPES)

test('the common type of two is that of NumPy where the standard has one, and an error elsewhere', {
  skip: withoutNumpy,
}, async () => {
  await using numpy = await startNumpy()
  const xp = await openArrays()
  const known = new Map([...promotable(kinds.all)].map((pair) => [pair.join(), pair]))
  const names = [...known.values()].map(([one, other]) => `np.result_type('${one}', '${other}').num`)
  const [expected] = await numpy.call(`np.array([${names}], dtype='int64')`)
  const [numbers] = await numpy.call(`np.array([${types.map((type) => `np.dtype('${type}').num`)}], dtype='int64')`)
  const typeOf = (number: unknown): DType => types[values(numbers!).indexOf(number as bigint)]!
  for (const [index, [one, other]] of [...known.values()].entries()) {
    assert.equal(xp.resultType(one, other), typeOf(values(expected!)[index]), `${one} and ${other}`)
    assert.equal(xp.canCast(one, other), xp.resultType(one, other) === other, `${one} to ${other}`)
  }
  for (const one of types) {
    for (const other of types) {
      if (known.has([one, other].join())) continue
      assert.throws(() => xp.resultType(one, other), { code: 'ERR_AETHER_ARRAY_TYPE' }, `${one} and ${other}`)
      assert.equal(xp.canCast(one, other), false, `${one} to ${other}`)
    }
  }
})

test('the limits of types are those of NumPy', { skip: withoutNumpy }, async () => {
  await using numpy = await startNumpy()
  const xp = await openArrays()
  for (const type of kinds.floating) {
    const { bits, eps, max, min, smallestNormal, dtype } = xp.finfo(type)
    const text = `i = np.finfo('${type}')\nnp.array([i.bits, i.eps, i.max, i.min, i.smallest_normal], dtype='float64')`
    assert.deepEqual([bits, eps, max, min, smallestNormal], values((await numpy.call(text))[0]!), type.name)
    assert.ok(isFloating(dtype) && !isComplex(dtype))
    assert.throws(() => xp.iinfo(type), { code: 'ERR_AETHER_ARRAY_TYPE' })
  }
  for (const type of kinds.integer) {
    const { bits, max, min } = xp.iinfo(type)
    const text = `i = np.iinfo('${type}')\nnp.array([i.max], dtype='uint64'), np.array([i.bits, i.min], dtype='int64')`
    const [most, others] = await numpy.call(text)
    assert.deepEqual([BigInt(bits), min, max], [...values(others!), ...values(most!)], type.name)
    assert.throws(() => xp.finfo(type), { code: 'ERR_AETHER_ARRAY_TYPE' })
  }
})

test('a type is of its kind, of the kinds that hold it, of itself, and of nothing else', async () => {
  const xp = await openArrays()
  const names: readonly Kind[] = ['bool', 'signed integer', 'unsigned integer', 'real floating', 'complex floating']
  for (const type of types) {
    for (const kind of names) assert.equal(xp.isdtype(type, kind), type.kind === kind, `${type}: ${kind}`)
    assert.equal(xp.isdtype(type, 'integral'), isInteger(type))
    assert.equal(xp.isdtype(type, 'numeric'), type.name !== 'bool')
    for (const other of types) assert.equal(xp.isdtype(type, other), type === other)
    assert.ok(xp.isdtype(type, ['bool', 'numeric']))
  }
  assert.throws(() => xp.isdtype(types[0]!, 'floating' as Kind), { code: 'ERR_AETHER_ARRAY_VALUE' })
})

test('shapes are broadcast as NumPy broadcasts them, or refused with both', { skip: withoutNumpy }, async () => {
  await using numpy = await startNumpy()
  const xp = await openArrays()
  const cases = [
    [[]],
    [[3], [1]],
    [[2, 1], [4]],
    [
      [0, 1],
      [1, 4, 1, 1],
    ],
    [[5, 1, 3], [], [4, 1]],
    [[1], [0]],
  ]
  for (const shapes of cases) {
    const text = `np.array(np.broadcast_shapes(${shapes.map((shape) => `(${shape.map((extent) => `${extent},`)})`)}), dtype='int64')`
    const [expected] = await numpy.call(text.replaceAll(',,', ','))
    assert.deepEqual(xp.broadcastShapes(...shapes).map(BigInt), values(expected!), text)
  }
  assert.throws(() => xp.broadcastShapes([2, 3], [4]), { code: 'ERR_AETHER_ARRAY_SHAPE', message: /\(2, 3\) \(4,\)/ })
})

test('an array of lists has the least type that holds all of them, and that of a typed array', async () => {
  const xp = await openArrays()
  const typeOf = (value: Parameters<typeof xp.asarray>[0]): string => xp.asarray(value).dtype.name
  assert.equal(typeOf([[true], [false]]), 'bool')
  assert.equal(typeOf([1n, 2n]), 'int64')
  assert.equal(typeOf([1, 2]), 'float64')
  assert.equal(typeOf([1n, 0.5]), 'float64')
  assert.equal(typeOf([1, { re: 0, im: 1 }]), 'complex128')
  assert.equal(typeOf([]), 'float64')
  for (const { name, Elements, lanes } of types) {
    if (name !== 'bool' && lanes === 1) assert.equal(typeOf(new Elements(2)), name)
  }
  assert.deepEqual(xp.asarray([[1, 2, 3]]).shape, [1, 3])
  assert.deepEqual(xp.asarray(5).shape, [])
  assert.throws(() => xp.asarray([[1, 2], [3]]), { code: 'ERR_AETHER_ARRAY_VALUE', message: /inhomogeneous/ })
  const x = xp.asarray([1, 2])
  const same = xp.asarray(x)
  const copied = xp.asarray(x, { copy: true })
  x.set(0, 9)
  assert.deepEqual([same.get(0), copied.get(0)], [9, 1])
})

test('a mask with an extent of 0 picks nothing of any axis, as in NumPy', async () => {
  const xp = await openArrays()
  const mask = xp.zeros([1, 0], { dtype: xp.bool })
  assert.deepEqual(xp.asarray([[132, 6]]).at(mask).shape, [0])
  assert.deepEqual(xp.asarray([[132, 6]]).at(xp.zeros([0], { dtype: xp.bool })).shape, [0, 2])
  assert.throws(() => xp.asarray([[132, 6]]).at(xp.zeros([1, 3], { dtype: xp.bool })), {
    code: 'ERR_AETHER_ARRAY_INDEX',
  })
})
