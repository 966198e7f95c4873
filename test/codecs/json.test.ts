import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { json } from '../../src/codecs/index.ts'

test('what JSON can represent comes back equal', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.deepEqual(json.decode(json.encode(value)), JSON.parse(JSON.stringify(value)))
    }),
  )
})

test('what JSON cannot represent is refused, with the reason', () => {
  const cyclic: { self?: unknown } = {}
  cyclic.self = cyclic
  assert.throws(() => json.encode(cyclic), { argument: 'value', message: /circular/ })
  assert.throws(() => json.encode(1n), { argument: 'value', message: /BigInt/ })
  for (const value of [undefined, () => {}, Symbol('s')])
    assert.throws(() => json.encode(value), { argument: 'value', message: /must be what JSON can represent: not / })
})

test('the bytes of a value stay as they are while others are encoded', () => {
  const first = json.encode({ a: 1 })
  const before = first.slice()
  for (let index = 0; index < 1000; index += 1) json.encode({ b: index })
  assert.deepEqual(first, before)
})
