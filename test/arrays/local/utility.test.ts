import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blockOver, newBlock } from '../../../src/arrays/blocks/block.ts'
import { all, any, diff } from '../../../src/arrays/local/utility.ts'
import { bool, complex64, float32, float64, int8, int64, uint8 } from '../../../src/arrays/types/dtype.ts'
import { assertBlock, block } from '../support/blocks.ts'

test('all and any take NaN and infinities for true, and zeros of either sign for false', () => {
  const x = block(float32, [
    [Number.NaN, 1, Number.NEGATIVE_INFINITY],
    [0, -0, 0],
    [0, 2, -0],
  ])
  assertBlock(all(x, { axis: 1 }), block(bool, [1, 0, 0]))
  assertBlock(any(x, { axis: 1 }), block(bool, [1, 0, 1]))
  assertBlock(all(x, { axis: 0, keepdims: true }), block(bool, [[0, 0, 0]]))
  assertBlock(
    all(
      block(complex64, [
        { re: 0, im: 1 },
        { re: 2, im: 0 },
      ]),
    ),
    block(bool, 1),
  )
  assertBlock(any(block(complex64, [{ re: 0, im: -0 }])), block(bool, 0))
})

test('of no elements, all are true and none is', () => {
  const none = newBlock(int64, [2, 0])
  assertBlock(all(none, { axis: 1 }), block(bool, [1, 1]))
  assertBlock(any(none, { axis: 1 }), block(bool, [0, 0]))
  assertBlock(all(none, { axis: 0 }), newBlock(bool, [0]))
  assertBlock(all(none), block(bool, 1))
})

test('one element far behind decides', () => {
  const zeros = newBlock(uint8, [20_000])
  assertBlock(any(zeros), block(bool, 0))
  zeros.data[19_999] = 1
  assertBlock(any(zeros), block(bool, 1))
  const ones = blockOver(new Uint8Array(20_000).fill(1), bool, [20_000])
  assertBlock(all(ones), block(bool, 1))
  ones.data[5000] = 0
  assertBlock(all(ones), block(bool, 0))
})

test('differences are taken as often as asked for, with what stands before and after', () => {
  const x = block(int8, [
    [1, 4, 9],
    [0, -128, 127],
  ])
  assertBlock(
    diff(x),
    block(int8, [
      [3, 5],
      [-128, -1],
    ]),
  )
  assertBlock(diff(x, { axis: 0 }), block(int8, [[-1, 124, 118]]))
  assertBlock(diff(x, { n: 0 }), x)
  assertBlock(diff(x, { n: 2n as unknown as number }), block(int8, [[2], [127]]))
  assertBlock(diff(x, { n: 5 }), newBlock(int8, [2, 0]))
  const [before, after] = [
    block(int8, [[0], [0]]),
    block(int8, [
      [10, 10],
      [1, 2],
    ]),
  ]
  assertBlock(
    diff(x, { prepend: before, append: after }),
    block(int8, [
      [1, 3, 5, 1, 0],
      [0, -128, -1, -126, 1],
    ]),
  )
  assertBlock(diff(block(bool, [1, 1, 0])), block(bool, [0, 1]))
})

test('what diff does not take', () => {
  const x = block(float64, [[1, 2]])
  assert.throws(() => diff(block(float64, 1)), /at least one dimensional/)
  assert.throws(() => diff(x, { n: -1 }), /order must be non-negative but got -1/)
  assert.throws(() => diff(x, { axis: 0, append: block(float64, [[1, 2, 3]]) }), { code: 'ERR_AETHER_ARRAY_SHAPE' })
  assert.throws(() => diff(x, { axis: 2 }), { code: 'ERR_AETHER_ARRAY_AXIS' })
})
