import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { structured } from '../../src/codecs/index.ts'

const roundTrip = (value: unknown): unknown => structured.decode(new Uint8Array(structured.encode(value)))

test('texts come back equal, whatever units they have', () => {
  for (const text of ['', '\ufeffmarked', '\ufeff', 'half \ud800 a pair', '\udc00', 'grüße 😀']) {
    assert.equal(roundTrip(text), text)
  }
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 0xffff })), (units) => {
      const text = String.fromCharCode(...units)
      assert.equal(roundTrip(text), text)
    }),
  )
})

test('what structuredClone takes comes back equal', () => {
  const cyclic: { self?: unknown; list: unknown[] } = { list: [1] }
  cyclic.self = cyclic
  const samples: unknown[] = [
    ...[undefined, null, false, true, -0, Number.NaN, 1.5, 2n ** 70n],
    ...[new Uint8Array(0), Uint8Array.of(1, 2), Float64Array.of(1, 2), new Date(7), /x/g],
    ...[new Map([[{ a: 1 }, new Set([1])]]), cyclic, [{ deep: ['\ufeff'] }]],
  ]
  for (const sample of samples) assert.deepEqual(roundTrip(sample), structuredClone(sample))
})

test('what structuredClone refuses is refused, with a way on', () => {
  assert.throws(() => structured.encode(() => {}), { argument: 'value', message: /could not be cloned.*another codec/ })
})
