import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openArrays } from '../../src/arrays/index.ts'

const xp = await openArrays()

test('a chain is computed when someone looks at elements, and what lies between is not kept', () => {
  const x = xp.asarray([1, 2, 3])
  const doubled = x.multiply(2)
  const y = doubled.add(1)
  assert.deepEqual([y.shape, y.dtype, y.isComputed], [[3], xp.float64, false])
  assert.deepEqual(y.toArray(), [3, 5, 7])
  assert.deepEqual([y.isComputed, doubled.isComputed], [true, false])
  assert.deepEqual(doubled.toArray(), [2, 4, 6])
})

test('a demand computes its ancestors and nothing else', () => {
  const x = xp.asarray([1, 2, 3])
  const other = x.negative()
  assert.equal(x.add(1).sum().item(), 9)
  assert.equal(other.isComputed, false)
})

test('what two chains share is computed once', () => {
  const shared = xp.asarray([1, 4, 9]).sqrt()
  const first = shared.add(1)
  const second = shared.multiply(first)
  assert.deepEqual(second.toArray(), [2, 6, 12])
  assert.ok(shared.isComputed, 'two chains were made of it')
  assert.deepEqual(first.toArray(), [2, 3, 4])
})

test('a chain may be of any number of arrays', () => {
  for (const count of [3, 6, 7, 8, 9, 60]) {
    const arrays = Array.from({ length: count }, (_, index) => xp.asarray([index, -1]))
    const sum = arrays.reduce((before, next) => before.add(next)).computeSync()
    assert.deepEqual(sum.toArray(), [(count * (count - 1)) / 2, -count])
  }
})

test('an operand of another shape is broadcast within a chain', () => {
  const column = xp.asarray([[1], [2]]).multiply(10)
  const row = xp.asarray([1, 2, 3]).add(0.5)
  assert.deepEqual(column.add(row).multiply(2).toArray(), [
    [23, 25, 27],
    [43, 45, 47],
  ])
})

test('a pending array keeps what its operands were when they are written to', async (t) => {
  await t.test('one element', () => {
    const x = xp.asarray([1, 2, 3])
    const y = x.add(10)
    x.set(0, 100)
    assert.deepEqual(
      [x.toArray(), y.toArray()],
      [
        [100, 2, 3],
        [11, 12, 13],
      ],
    )
  })

  await t.test('through a view, and while another chain has looked already', () => {
    const x = xp.arange(6)
    const [early, late] = [x.add(1), x.add(2)]
    assert.equal(early.get(0), 1)
    x.reshape([2, 3]).setAt('1, :', 0)
    assert.deepEqual(x.toArray(), [0, 1, 2, 0, 0, 0])
    assert.deepEqual(late.toArray(), [2, 3, 4, 5, 6, 7])
  })

  await t.test('again and again', () => {
    const x = xp.zeros([2])
    const sums = [1, 2, 3].map((value) => {
      x.set(0, value)
      return x.sum()
    })
    assert.deepEqual(
      sums.map((sum) => sum.item()),
      [1, 2, 3],
    )
  })

  await t.test('an operand that was pending itself', () => {
    const x = xp.asarray([1, 2, 3])
    const y = x.multiply(2)
    const z = y.add(1)
    y.set(0, -1)
    assert.deepEqual(
      [y.toArray(), z.toArray(), x.toArray()],
      [
        [-1, 4, 6],
        [3, 5, 7],
        [1, 2, 3],
      ],
    )
  })

  await t.test('a step that was only computed within another', () => {
    const x = xp.asarray([1, 2, 3])
    const y = x.multiply(2)
    assert.deepEqual(y.add(1).toArray(), [3, 5, 7])
    x.set(0, 50)
    assert.deepEqual(y.toArray(), [2, 4, 6])
  })

  await t.test('a view of a pending array', () => {
    const y = xp.asarray([1, 2, 3]).multiply(2)
    const view = y.slice('1:')
    const z = view.add(1)
    y.set(2, 0)
    assert.deepEqual(
      [view.toArray(), z.toArray()],
      [
        [4, 0],
        [5, 7],
      ],
    )
  })
})

test('assigning through a view of a pending array writes to that array', () => {
  const y = xp.asarray([1, 2, 3]).multiply(2)
  const view = y.slice('::-1')
  assert.equal(view.isComputed, false)
  view.setAt([[0, 2]], xp.asarray([60, 40]))
  assert.deepEqual(y.toArray(), [2, 40, 60])
})

test('an array may be assigned to overlapping elements of itself', () => {
  const x = xp.arange(5)
  x.setAt('1:', x.slice(':-1'))
  assert.deepEqual(x.toArray(), [0, 0, 1, 2, 3])
  x.setAt('...', x.slice('::-1').multiply(2))
  assert.deepEqual(x.toArray(), [6, 4, 2, 0, 0])
})

test('memory in other hands makes what reads it be computed at once', async (t) => {
  await t.test('handed out', () => {
    const x = xp.asarray([1, 2, 3])
    const before = x.add(1)
    const [part] = x.localParts()
    part!.data[0] = 10
    const after = x.add(1)
    assert.ok(after.isComputed)
    part!.data[0] = 20
    assert.deepEqual(
      [before.toArray(), after.toArray(), x.toArray()],
      [
        [2, 3, 4],
        [11, 3, 4],
        [20, 2, 3],
      ],
    )
  })

  await t.test('taken from a typed array, without a copy', () => {
    const own = Int32Array.of(1, 2, 3)
    const x = xp.asarray(own)
    assert.equal(x.dtype, xp.int32)
    const y = x.multiply(2)
    own[0] = 9
    assert.deepEqual(
      [x.toArray(), y.toArray()],
      [
        [9, 2, 3],
        [2, 4, 6],
      ],
    )
    const copy = xp.asarray(own, { copy: true })
    own[0] = 0
    assert.deepEqual(copy.toArray(), [9, 2, 3])
  })
})

test('chains that nobody looks at stay bounded', () => {
  let x = xp.asarray([0])
  for (let index = 0; index < 100_000; index += 1) x = x.add(1)
  assert.equal(x.item(), 100_000)
})

test('awaiting an array gives the array, and compute() computes it', async () => {
  const y = xp.asarray([1, 2]).add(1)
  assert.equal(await y, y)
  assert.equal(y.isComputed, false)
  assert.equal(await y.compute(), y)
  assert.ok(y.isComputed)
  assert.equal(xp.asarray([1]).add(1).computeSync().isComputed, true)
})

test('an error is thrown where the call is, not where elements are wanted', () => {
  const x = xp.zeros([2, 3])
  assert.throws(() => x.add(xp.zeros([4])), {
    code: 'ERR_AETHER_ARRAY_SHAPE',
    message: 'operands could not be broadcast together with shapes (2, 3) (4,)',
  })
  assert.throws(() => x.sum({ axis: 2 }), {
    code: 'ERR_AETHER_ARRAY_AXIS',
    message: 'axis 2 is out of bounds for array of dimension 2',
  })
  assert.throws(() => x.bitwiseAnd(x), { code: 'ERR_AETHER_ARRAY_TYPE' })
})
