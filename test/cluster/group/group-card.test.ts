import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeGroupCard, encodeGroupCard, GROUP_SIZE_MAX } from '../../../src/cluster/group/group-card.ts'

const word = fc.nat(0xffff_ffff)
const card = fc.integer({ min: 1, max: 40 }).chain((size) =>
  fc.record({
    size: fc.constant(size),
    rank: fc.nat(size - 1),
    gid: fc.bigInt(0n, 2n ** 128n - 1n),
    numbers: fc.array(fc.tuple(word, word), { minLength: size, maxLength: size }),
  }),
)

test('a card comes back as it was', () => {
  fc.assert(
    fc.property(card, ({ size, rank, gid, numbers }) => {
      const endpoints = numbers.map(([queuePairNumber, psn]) => ({ gid, queuePairNumber, psn }))
      assert.deepEqual(decodeGroupCard(encodeGroupCard({ rank, size, endpoints }), size), { rank, size, endpoints })
    }),
  )
})

test('garbage, and the card of a group of another size, is no card', () => {
  const endpoints = [{ gid: 1n, queuePairNumber: 2, psn: 3 }]
  const good = encodeGroupCard({ rank: 0, size: 1, endpoints })
  assert.equal(decodeGroupCard(good, 2), undefined)
  assert.equal(decodeGroupCard(good.subarray(1), 1), undefined)
  assert.equal(decodeGroupCard(new Uint8Array(0), 1), undefined)
  for (const [index, value] of [
    [0, 0],
    [4, 1],
    [8, 9],
  ] as const) {
    const bad = good.slice()
    bad[index] = value
    assert.equal(decodeGroupCard(bad, 1), undefined, `byte ${index}`)
  }
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 40, maxLength: 40 }),
      (bytes) => bytes[0] === 0x67 || decodeGroupCard(bytes, 1) === undefined,
    ),
  )
})

test('the largest group has a card', () => {
  const endpoints = Array.from({ length: GROUP_SIZE_MAX }, () => ({ gid: 2n ** 128n - 1n, queuePairNumber: 1, psn: 2 }))
  const bytes = encodeGroupCard({ rank: GROUP_SIZE_MAX - 1, size: GROUP_SIZE_MAX, endpoints })
  assert.equal(decodeGroupCard(bytes, GROUP_SIZE_MAX)?.rank, GROUP_SIZE_MAX - 1)
})
