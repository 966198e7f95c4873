import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DType, openArrays } from '../../src/arrays/index.ts'

const xp = await openArrays()

const integers = [xp.int8, xp.int16, xp.int32, xp.int64, xp.uint8, xp.uint16, xp.uint32, xp.uint64]
const floats = [xp.float32, xp.float64, xp.complex64, xp.complex128]

/** The tables of the standard's page "Type Promotion Rules": a row for each type in the order of the lists above. */
const ofIntegers = `
  int8 int16 int32 int64 int16 int32 int64 -
  int16 int16 int32 int64 int16 int32 int64 -
  int32 int32 int32 int64 int32 int32 int64 -
  int64 int64 int64 int64 int64 int64 int64 -
  int16 int16 int32 int64 uint8 uint16 uint32 uint64
  int32 int32 int32 int64 uint16 uint16 uint32 uint64
  int64 int64 int64 int64 uint32 uint32 uint32 uint64
  - - - - uint64 uint64 uint64 uint64`
const ofFloats = `
  float32 float64 complex64 complex128
  float64 float64 complex128 complex128
  complex64 complex128 complex64 complex128
  complex128 complex128 complex128 complex128`

function promoted(first: DType, second: DType): string {
  try {
    return xp.resultType(first, second).name
  } catch (error) {
    assert.equal((error as { code?: string }).code, 'ERR_AETHER_ARRAY_TYPE')
    return '-'
  }
}

for (const [types, table] of [
  [integers, ofIntegers],
  [floats, ofFloats],
] as const) {
  test(`types are promoted as the standard's table has it: ${types.join(', ')}`, () => {
    const rows = table
      .trim()
      .split('\n')
      .map((row) => row.trim().split(' '))
    assert.deepEqual(
      types.map((first) => types.map((second) => promoted(first, second))),
      rows,
    )
  })
}

test('kinds of numbers are apart, and the error names both types', () => {
  for (const first of integers) for (const second of [...floats, xp.bool]) assert.equal(promoted(first, second), '-')
  assert.throws(() => xp.zeros([1], { dtype: xp.int32 }).add(xp.zeros([1])), {
    code: 'ERR_AETHER_ARRAY_TYPE',
    message: 'int32 and float64 have no common data type; convert one of them with astype()',
  })
})

test('an array without axes promotes like any other', () => {
  assert.equal(xp.asarray(1, { dtype: xp.float64 }).add(xp.zeros([2], { dtype: xp.float32 })).dtype, xp.float64)
})

test('a scalar takes the type of the array beside it, if that holds it', () => {
  const type = (dtype: DType, scalar: number | bigint | boolean | { re: number; im: number }): string =>
    xp.zeros([1], { dtype }).equal(scalar).computeSync() && xp.zeros([1], { dtype }).add(scalar as number).dtype.name
  assert.equal(type(xp.int8, 1), 'int8')
  assert.equal(type(xp.uint64, 1n), 'uint64')
  assert.equal(type(xp.float32, 0.1), 'float32')
  assert.equal(type(xp.float32, 2n), 'float32')
  assert.equal(type(xp.complex64, { re: 1, im: 2 }), 'complex64')
  const refuses = (dtype: DType, scalar: number | boolean | { re: number; im: number }, code: string): void => {
    assert.throws(() => xp.equal(xp.zeros([1], { dtype }), scalar), { code: `ERR_AETHER_ARRAY_${code}` })
  }
  refuses(xp.int32, 1.5, 'TYPE')
  refuses(xp.int32, true, 'TYPE')
  refuses(xp.bool, 1, 'TYPE')
  refuses(xp.float64, { re: 1, im: 1 }, 'TYPE')
  refuses(xp.uint8, 256, 'VALUE')
  refuses(xp.uint8, -1, 'VALUE')
})

test('what JavaScript has becomes bool, int64, float64 or complex128', () => {
  assert.equal(xp.asarray([true, false]).dtype, xp.bool)
  assert.equal(xp.asarray([1n, 2n]).dtype, xp.int64)
  assert.equal(xp.asarray([1n, 2]).dtype, xp.float64)
  assert.equal(xp.asarray([[1], [2]]).dtype, xp.float64)
  assert.equal(xp.asarray({ re: 1, im: 2 }).dtype, xp.complex128)
  assert.equal(xp.full([1], 1n).dtype, xp.int64)
  assert.equal(xp.arange(3n).dtype, xp.int64)
  assert.equal(xp.arange(3).dtype, xp.float64)
  assert.equal(xp.asarray(Float32Array.of(1)).dtype, xp.float32)
  assert.deepEqual(xp.asarray([1n]).item(), 1n)
  assert.deepEqual(xp.asarray([1]).astype(xp.complex64).item(), { re: 1, im: 0 })
  assert.throws(() => xp.asarray([[1, 2], [3]]), { code: 'ERR_AETHER_ARRAY_VALUE' })
  assert.throws(() => xp.asarray(['1'] as never), { code: 'ERR_AETHER_ARRAY_TYPE' })
})

test('casts between kinds are explicit; a complex array loses no part unseen', () => {
  assert.deepEqual(xp.asarray([-1.7, 2.7]).astype(xp.int16).toArray(), [-1, 2])
  assert.deepEqual(xp.asarray([0, 0.5, Number.NaN]).astype(xp.bool).toArray(), [false, true, true])
  assert.deepEqual(
    xp
      .asarray([1n, 2n ** 53n])
      .astype(xp.float64)
      .toArray(),
    [1, 2 ** 53],
  )
  assert.throws(() => xp.asarray({ re: 1, im: 2 }).astype(xp.float64), { code: 'ERR_AETHER_ARRAY_TYPE' })
})
