import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Block, newBlock } from '../../../src/arrays/blocks/block.ts'
import { broadcastShapes } from '../../../src/arrays/blocks/layout.ts'
import * as local from '../../../src/arrays/local/manipulation.ts'
import {
  bool,
  complex64,
  complex128,
  float32,
  float64,
  int8,
  int16,
  int64,
  uint8,
} from '../../../src/arrays/types/dtype.ts'
import { assertBlock, block, scattered } from '../support/blocks.ts'

const x = block(int64, [
  [1, 2, 3],
  [4, 5, 6],
])

test('what changes no element is a view', () => {
  const views: [string, Block][] = [
    ['broadcastArrays', local.broadcastArrays(x, block(int8, [[1]]))[0]!],
    ['broadcastToShape', local.broadcastToShape(x, [2, 2, 3])],
    ['expandDims', local.expandDims(x, [0, -1])],
    ['flip', local.flip(x)],
    ['moveaxis', local.moveaxis(x, 0, -1)],
    ['permuteDims', local.permuteDims(x, [1, 0])],
    ['reshape', local.reshape(x, [3, -1])],
    ['squeeze', local.squeeze(local.expandDims(x, 0), 0)],
    ['unstack', local.unstack(x)[1]!],
  ]
  for (const [name, view] of views) assert.equal(view.data, x.data, name)
})

test('what cannot be a view is a copy, unless that is not wanted', () => {
  const turned = local.permuteDims(x, [1, 0])
  assertBlock(local.reshape(turned, [6]), block(int64, [1, 4, 2, 5, 3, 6]))
  assert.notEqual(local.reshape(x, [6], { copy: true }).data, x.data)
  assert.throws(() => local.reshape(turned, [6], { copy: false }), /unable to avoid creating a copy/)
  assert.equal(local.reshape(x, [6n], { copy: false }).data, x.data)
})

test('a shape is worked out from -1 once', () => {
  assert.deepEqual(local.reshapedShape([4, 6], [3, -1, 2]), [3, 4, 2])
  assert.deepEqual(local.reshapedShape([], []), [])
  assert.deepEqual(local.reshapedShape([0, 3], [0]), [0])
  for (const [shape, words] of [
    [[-1, -1], /can only specify one unknown dimension/],
    [[5, -1], /cannot reshape array of size 24 into shape \(5, -1\)/],
    [[25], /cannot reshape array of size 24 into shape \(25,\)/],
    [[-2, 12], /cannot reshape/],
    [[0, -1], /cannot reshape/],
  ] as const)
    assert.throws(() => local.reshapedShape([24], shape), words)
})

test('extents may be bigints', () => {
  assert.deepEqual(local.commonShape([], [2n, 1n, 4n, 1n, 1n], [1n, 3n, 1n]), [2, 1, 4, 3, 1])
  assert.deepEqual(local.broadcastToShape(block(int8, [1]), [2n, 1n]).shape, [2, 1])
  assert.deepEqual(local.commonShape(), [])
})

test('blocks of different types are joined as the type that they have in common', () => {
  assertBlock(local.concat([block(int8, [1]), block(uint8, [200])]), block(int16, [1, 200]))
  assertBlock(local.concat([block(float64, [1]), block(complex64, [2])]), block(complex128, [1, 2]))
  assertBlock(local.stack([block(float32, 1), block(float64, 2)]), block(float64, [1, 2]))
  assert.throws(() => local.concat([block(int8, [1]), block(bool, [1])]), { code: 'ERR_AETHER_ARRAY_TYPE' })
})

suite('what does not fit is refused with the shapes', () => {
  const calls: [string, () => unknown, RegExp][] = [
    ['broadcastShapes', () => broadcastShapes([2, 3], [2, 4]), /\(2, 3\) \(2, 4\)/],
    ['broadcastToShape', () => local.broadcastToShape(x, [3]), /shape \(2, 3\) into shape \(3,\)/],
    ['concat of nothing', () => local.concat([]), /need at least one array to concatenate/],
    ['concat of no axes', () => local.concat([block(int8, 1)]), /zero-dimensional arrays cannot be concatenated/],
    [
      'concat',
      () => local.concat([x, newBlock(int64, [2, 2])]),
      /index 0 has shape \(2, 3\).*index 1 has shape \(2, 2\)/,
    ],
    ['concat of other axes', () => local.concat([x, block(int64, [1, 2, 3])]), /index 1 has shape \(3,\)/],
    ['expandDims', () => local.expandDims(x, 3), /axis 3 is out of bounds for array of dimension 3/],
    ['expandDims twice', () => local.expandDims(x, [0, -4]), /duplicate value in axis/],
    ['flip', () => local.flip(x, { axis: [0, 2] }), /axis 2 is out of bounds for array of dimension 2/],
    ['moveaxis', () => local.moveaxis(x, [0, 1], 0), /must have the same number of elements/],
    ['moveaxis twice', () => local.moveaxis(x, [0, 0], [0, 1]), /repeated axis in `source` argument/],
    ['permuteDims', () => local.permuteDims(x, [0]), /axes don't match array: \(0,\) for shape \(2, 3\)/],
    ['permuteDims twice', () => local.permuteDims(x, [0, -2]), /repeated axis/],
    ['repeat', () => local.repeat(x, block(int8, [1, 2]), { axis: 1 }), /shape \(3,\) \(2,\)/],
    ['repeat less than never', () => local.repeat(x, -1), /may not contain negative values/],
    ['repeat by fractions', () => local.repeat(x, block(float64, [1])), /repeats must be integers, not float64/],
    ['roll', () => local.roll(x, [1, 2], { axis: 0 }), /'shift' has 2 elements, but 'axis' has 1/],
    ['squeeze', () => local.squeeze(x, 0), /size not equal to one: axis 0 of \(2, 3\)/],
    ['stack', () => local.stack([x, block(int64, [1])]), /must have the same shape, not \(2, 3\) and \(1,\)/],
    ['stack of nothing', () => local.stack([]), /need at least one array to stack/],
    ['tile', () => local.tile(x, [-1]), /an extent is a whole number and not negative, not -1/],
    ['unstack', () => local.unstack(x, { axis: 2 }), /axis 2 is out of bounds/],
  ]
  for (const [name, call, words] of calls) test(name, () => assert.throws(call, words))
})

test('shifts of one axis are added, and may be longer than it', () => {
  for (const from of [x, scattered(x)]) {
    assertBlock(
      local.roll(from, [1, -3], { axis: [1, 1] }),
      block(int64, [
        [3, 1, 2],
        [6, 4, 5],
      ]),
    )
    assertBlock(
      local.roll(from, -7n, { axis: 0 }),
      block(int64, [
        [4, 5, 6],
        [1, 2, 3],
      ]),
    )
    assertBlock(
      local.roll(from, 8),
      block(int64, [
        [5, 6, 1],
        [2, 3, 4],
      ]),
    )
  }
})

test('each element is repeated as often as its count says', () => {
  assertBlock(
    local.repeat(x, block(int8, [2, 0]), { axis: 0 }),
    block(int64, [
      [1, 2, 3],
      [1, 2, 3],
    ]),
  )
  assertBlock(local.repeat(block(complex128, [1, 2]), block(int64, [0, 3])), block(complex128, [2, 2, 2]))
  assertBlock(local.repeat(block(int8, 7), 3), block(int8, [7, 7, 7]))
  assertBlock(local.repeat(x, block(uint8, 0), { axis: 1 }), newBlock(int64, [2, 0]))
})

test('a function does not change its operands', () => {
  local.roll(x, 1)
  local.tile(x, [2, 2])
  local.concat([x, x], { axis: null })
  assertBlock(
    x,
    block(int64, [
      [1, 2, 3],
      [4, 5, 6],
    ]),
  )
})
