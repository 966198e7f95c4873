import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { MalformedFrameError, values } from '../../src/rpc/index.ts'

const roundTrip = (value: unknown): unknown => values.decode(Uint8Array.prototype.slice.call(values.encode(value)))

const text = fc.string({ unit: 'binary' })

const anything = fc.anything({
  // assert takes two invalid dates for different: they have a case of their own.
  values: [
    ...[fc.boolean(), fc.maxSafeInteger(), fc.double(), text, fc.constantFrom(null, undefined)],
    fc.date({ noInvalidDate: true }),
  ],
  withBigInt: true,
  withMap: true,
  withSet: true,
  withTypedArray: true,
  withSparseArray: true,
  withObjectString: true,
  withUnicodeString: true,
} as fc.ObjectConstraints)

test('every value comes back equal', () => {
  fc.assert(
    fc.property(fc.oneof(anything, text, fc.double(), fc.bigInt(), fc.integer()), (value) => {
      assert.deepEqual(roundTrip(value), value)
    }),
    { numRuns: 2000 },
  )
})

test('long arrays, too', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string(), fc.integer(), fc.double()), { size: 'max', maxLength: 5000 }),
      fc.uint8Array({ size: 'max', maxLength: 20_000 }),
      (list, bytes) => {
        assert.deepEqual(roundTrip({ list, bytes }), { list, bytes })
      },
    ),
    { numRuns: 50 },
  )
})

test('what is not written out comes back as structuredClone has it', () => {
  const cyclic: { self?: unknown; list: unknown[] } = { list: [1] }
  cyclic.self = cyclic
  const samples: unknown[] = [
    cyclic,
    new Map([[{ a: 1 }, new Set([1])]]),
    [new Date(7), /x/g],
    new Error('e'),
    Object.assign(new Array(3), { 0: 1, 2: 3 }),
    'half \ud800 a pair',
    { '\udc00': 1 },
    -0,
    2n ** 3000n,
    JSON.parse('{"__proto__": {"a": 1}}'),
    new DataView(new ArrayBuffer(4)),
  ]
  for (const sample of samples) assert.deepEqual(roundTrip(sample), structuredClone(sample))
  let deep: unknown = 1
  for (let depth = 0; depth < 200; depth += 1) deep = [deep]
  assert.deepEqual(roundTrip(deep), deep)
  assert.deepEqual(roundTrip(Buffer.from([1, 2])), new Uint8Array([1, 2]))
  assert.equal(Object.getPrototypeOf(roundTrip({ a: 1 })), Object.prototype)
  const invalid = roundTrip(new Date(Number.NaN))
  assert.ok(invalid instanceof Date && Number.isNaN(invalid.getTime()), String(invalid))
})

test('a getter that itself encodes does not mix up the bytes', () => {
  const nested = {
    before: 'a',
    get inner() {
      return roundTrip({ deep: ['x'] })
    },
    after: 'z',
  }
  assert.deepEqual(roundTrip(nested), { before: 'a', inner: { deep: ['x'] }, after: 'z' })
})

test('short texts come back as they are, however many there were before', () => {
  const texts = Array.from({ length: 5000 }, (_, index) => `${index.toString(7)}\u00e9`.slice(0, 24))
  for (let turn = 0; turn < 2; turn += 1)
    for (const text of texts) assert.deepEqual(roundTrip({ [text]: text }), { [text]: text })
  // As a peer may say it, though nobody here does: longer than short texts are.
  const long = Uint8Array.of(7, 255, ...new Array<number>(255).fill(0x61))
  assert.equal(values.decode(long), 'a'.repeat(255))
})

test('bytes that are no value are refused, and nothing else happens', () => {
  const decode = (bytes: Uint8Array): void => {
    try {
      values.decode(bytes)
    } catch (error) {
      assert.ok(error instanceof MalformedFrameError, String(error))
    }
  }
  fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), decode), { numRuns: 5000 })
  // Values that were damaged in one place, or cut short.
  fc.assert(
    fc.property(anything, fc.nat(), fc.nat(255), fc.boolean(), (value, place, byte, cut) => {
      const bytes = Uint8Array.prototype.slice.call(values.encode(value))
      const at = place % bytes.length
      if (cut) return decode(bytes.subarray(0, at))
      bytes[at] = byte
      decode(bytes)
    }),
    { numRuns: 3000 },
  )
})
