import assert from 'node:assert/strict'
import test from 'node:test'
import { blockOver, newBlock } from '../../../src/arrays/blocks/block.ts'
import { kernels } from '../../../src/arrays/kernels/call.ts'
import { orderNatively, sortNatively } from '../../../src/arrays/kernels/native-sorting.ts'
import {
  bool,
  DTYPES,
  type DType,
  type Elements,
  isComplex,
  isFloating,
  isWide,
} from '../../../src/arrays/types/dtype.ts'
import { randomNumbers } from '../support/random-block.ts'

const skip = kernels() === undefined && 'there is no addon with kernels'
const types = Object.values(DTYPES).filter((type) => !isComplex(type))

type Maker = (next: () => number, index: number, size: number) => number

/** Lines that are easy for some ways of sorting and hard for others. */
const lines: Readonly<Record<string, Maker>> = {
  random: (next) => (next() - 0.5) * 1e6,
  'few different': (next) => Math.floor(next() * 5) - 2,
  'all equal': () => 3,
  ascending: (_, index) => index,
  descending: (_, index, size) => size - index,
  'organ pipes': (_, index, size) => Math.min(index, size - index),
  'zeros, infinities and NaN': (next) =>
    [0, -0, 1, -1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY][Math.floor(next() * 7)]!,
  'close together': (next) => 1 + next() * 1e-9,
}

function fill(dtype: DType, count: number, size: number, make: Maker): Elements {
  const next = randomNumbers(size)
  const { data } = newBlock(dtype, [count, size])
  for (let index = 0; index < data.length; index += 1) {
    const value = make(next, index % size, size)
    const whole = Number.isFinite(value) ? Math.trunc(value) : 0
    data[index] = (
      isFloating(dtype) ? value : dtype === bool ? Number(whole > 0) : isWide(dtype) ? BigInt(whole) : whole
    ) as never
  }
  return data
}

/** NaN after all others, zeros of both signs equal. */
function compare(x: number | bigint, y: number | bigint): number {
  const [isFirst, isSecond] = [Number.isNaN(Number(x)), Number.isNaN(Number(y))]
  if (isFirst || isSecond) return Number(isFirst) - Number(isSecond)
  return x < y ? -1 : Number(x > y)
}

/** The engine's sort of a list is stable. */
function orderOf(line: Elements, descending: boolean): number[] {
  const order = Array.from(line as Float64Array, (_, index) => index)
  const sign = descending ? -1 : 1
  return order.sort((a, b) => sign * compare(line[a] as number, line[b] as number))
}

test('lines of every type are sorted as by a stable sort of lists', { skip }, () => {
  for (const dtype of types)
    for (const [name, make] of Object.entries(lines))
      for (const [count, size] of [
        [7, 1],
        [5, 9],
        [3, 64],
        [2, 129],
        [2, 700],
        [1, 5000],
      ] as const)
        for (const descending of [false, true]) {
          const data = fill(dtype, count, size, make)
          const block = blockOver(data, dtype, [count, size])
          const sorted = sortNatively(block, size, descending)!.data
          const order = orderNatively(block, size, descending)?.data as BigInt64Array
          for (let row = 0; row < count; row += 1) {
            const line = data.subarray(row * size, (row + 1) * size) as Elements
            const expected = orderOf(line, descending)
            const found = `${name} of ${dtype}, ${size} elements${descending ? ', descending' : ''}`
            assert.deepEqual([...order.subarray(row * size, (row + 1) * size)].map(Number), expected, `order, ${found}`)
            const values = [...(sorted.subarray(row * size, (row + 1) * size) as Float64Array)]
            assert.deepEqual(
              values,
              expected.map((at) => line[at]),
              `values, ${found}`,
            )
          }
        }
})

test('a long line is sorted in several threads', { skip }, () => {
  for (const name of ['random', 'few different', 'all equal', 'ascending']) {
    const size = 140_000
    const data = fill(DTYPES.float64, 1, size, lines[name]!)
    const sorted = sortNatively(blockOver(data, DTYPES.float64, [size]), size, false)?.data
    assert.deepEqual(sorted, (data as Float64Array).slice().sort(), name)
    const order = orderNatively(blockOver(data, DTYPES.float64, [size]), size, false)?.data as BigInt64Array
    assert.deepEqual([...order].map(Number), orderOf(data, false), name)
  }
})
