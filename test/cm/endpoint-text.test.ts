import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeEndpoint, ENDPOINT_TEXT_LENGTH, encodeEndpoint } from '../../src/cm/index.ts'

/** Objects as literals make them. */
const PLAIN = { noNullPrototype: true } as const

test('an endpoint has the text that rdma-core’s pingpong programs exchange', () => {
  const text = '0000:00001a:5f3e02:00000000000000000000ffff0a090001'
  const endpoint = { queuePairNumber: 26, psn: 0x5f3e02, gid: 0xffff0a090001n }
  assert.equal(encodeEndpoint(endpoint), text)
  assert.deepEqual(decodeEndpoint(text), endpoint)
  assert.equal(text.length, ENDPOINT_TEXT_LENGTH)
})

test('every endpoint survives encoding and decoding', () => {
  const endpoint = fc.record(
    {
      queuePairNumber: fc.integer({ min: 0, max: 0xffffff }),
      psn: fc.integer({ min: 0, max: 0xffffff }),
      gid: fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }),
      localIdentifier: fc.integer({ min: 1, max: 0xffff }),
    },
    PLAIN,
  )
  fc.assert(fc.property(endpoint, (each) => assert.deepEqual(decodeEndpoint(encodeEndpoint(each)), each)))
})

test('what is no endpoint is refused', () => {
  const good = '0000:00001a:5f3e02:00000000000000000000ffff0a090001'
  for (const text of ['', good.slice(1), `${good}0`, good.replace(':', ' '), good.replace('f', 'g'), `${good}\n`]) {
    assert.throws(() => decodeEndpoint(text), { code: 'ERR_AETHER_INVALID_ARGUMENT', argument: 'text' })
  }
  assert.throws(() => encodeEndpoint({ queuePairNumber: 2 ** 24, psn: 0, gid: 0n }), {
    argument: 'endpoint.queuePairNumber',
  })
  assert.throws(() => encodeEndpoint({ queuePairNumber: -1, psn: 0, gid: 0n }), {
    argument: 'endpoint.queuePairNumber',
  })
})
