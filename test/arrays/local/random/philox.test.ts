import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kernels } from '../../../../src/arrays/kernels/call.ts'
import { RandomGenerator } from '../../../../src/arrays/local/random/generator.ts'
import { addTo, philoxBlocks, philoxTwin } from '../../../../src/arrays/local/random/philox.ts'

const skip = kernels() === undefined && 'there is no addon with kernels'

/** Vectors of the authors of Philox, for their library Random123: counter, key, block. */
const known: readonly (readonly [counter: bigint, key: bigint, block: readonly bigint[]])[] = [
  [0n, 0n, [0x16554d9eca36314cn, 0xdb20fe9d672d0fdcn, 0xd7e772cee186176bn, 0x7e68b68aec7ba23bn]],
  [
    2n ** 256n - 1n,
    2n ** 128n - 1n,
    [0x87b092c3013fe90bn, 0x438c3c67be8d0224n, 0x9cc7d7c69cd777b6n, 0xa09caebf594f0ba0n],
  ],
]

function words(value: bigint, count: number): Uint32Array {
  return Uint32Array.from({ length: count }, (_, index) => Number((value >> BigInt(32 * index)) & 0xffffffffn))
}

test('blocks are those that the authors of Philox give', () => {
  for (const [counter, key, block] of known) {
    const result = new Uint32Array(8)
    philoxTwin(words(key, 4), words(counter, 8), result)
    assert.deepEqual([...new BigUint64Array(result.buffer)], block)
  }
})

test('the native kernel gives the bits of its twin, also where the counter overflows', { skip }, () => {
  for (let trial = 0; trial < 40; trial += 1) {
    const key = crypto.getRandomValues(new Uint32Array(4))
    const counter = crypto.getRandomValues(new Uint32Array(8))
    counter.fill(0xffffffff, 0, trial % 9)
    const [twin, fast] = [new Uint32Array(8 * 20), new Uint32Array(8 * 20)]
    philoxTwin(key, counter, twin)
    philoxBlocks(key, counter, fast)
    assert.deepEqual(fast, twin)
  }
})

test('a sum carries through all words, and what overflows is lost', () => {
  const sum = Uint32Array.of(0xffffffff, 0xffffffff, 5)
  addTo(sum, 2 ** 32 + 1)
  assert.deepEqual([...sum], [0, 1, 6])
  const full = new Uint32Array(8).fill(0xffffffff)
  addTo(full, 1)
  assert.deepEqual([...full], [0, 0, 0, 0, 0, 0, 0, 0])
})

test('a generator makes as many words at a time as it needs, and none is lost between', () => {
  const [one, other] = [new RandomGenerator(9), new RandomGenerator(9)]
  const whole = one.random(10_000).data
  const parts = [1, 7, 40, 3952, 6000].flatMap((count) => [...other.random(count).data])
  assert.deepEqual(parts, [...whole])
})
