import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import test from 'node:test'
import { IndexError, type TuplePart } from '../../../src/index-service/index.ts'
import { decodeTuple, encodeTuple, prefixRange } from '../../../src/index-service/keys/tuple-key.ts'
import { Random } from '../../../src/runtime/index.ts'
import { compareParts, compareTuples, interestingParts, randomTuple, returned } from './tuples.ts'

const compareKeys = (one: Uint8Array, other: Uint8Array): number => Buffer.compare(one, other)
const hex = (key: Uint8Array): string => Buffer.from(key).toString('hex')
const keyOf = (text: string): Uint8Array => Buffer.from(text.replaceAll(' ', ''), 'hex')

test('keys compare as parts do: each of hundreds of parts with each', () => {
  const keys = interestingParts.map((part) => encodeTuple([part]))
  for (const [index, part] of interestingParts.entries())
    for (const [otherIndex, other] of interestingParts.entries()) {
      const order = Math.sign(compareParts(part, other))
      if (compareKeys(keys[index]!, keys[otherIndex]!) !== order)
        assert.fail(`${hex(keys[index]!)} and ${hex(keys[otherIndex]!)} should compare as ${order}`)
    }
  assert.ok(interestingParts.length > 250)
})

test('what follows a part, or surrounds it, does not change its place', () => {
  const followers: TuplePart[][] = [[], [null], [Number.POSITIVE_INFINITY], [[]], [Uint8Array.of(255)]]
  for (const part of interestingParts)
    for (const other of interestingParts.filter((_, index) => index % 5 === 0)) {
      const order = Math.sign(compareParts(part, other))
      if (order === 0) continue
      for (const follower of followers) {
        assert.equal(compareKeys(encodeTuple([part, ...follower]), encodeTuple([other])), order)
        assert.equal(compareKeys(encodeTuple([[part, ...follower]]), encodeTuple([[other], 1])), order)
      }
    }
})

test('keys compare as tuples do: random ones, half of them with a common start', () => {
  const random = new Random(1)
  for (let round = 0; round < 5_000; round += 1) {
    const start = round % 2 === 0 ? [] : randomTuple(random)
    const [one, other] = [
      [...start, ...randomTuple(random)],
      [...start, ...randomTuple(random)],
    ]
    const [key, otherKey] = [encodeTuple(one), encodeTuple(other)]
    if (compareKeys(key, otherKey) !== Math.sign(compareTuples(one, other)))
      assert.fail(`${hex(key)} and ${hex(otherKey)} compare as ${compareKeys(key, otherKey)}`)
  }
})

test('what was encoded comes back: bigints up to 2^53 as numbers, -0 as 0, bytes as a Uint8Array of their own', () => {
  for (const part of interestingParts) assert.deepEqual(decodeTuple(encodeTuple([part])), [returned(part)])
  const random = new Random(2)
  for (let round = 0; round < 5000; round += 1) {
    const tuple = randomTuple(random)
    assert.deepEqual(decodeTuple(encodeTuple(tuple)), tuple.map(returned))
  }
  const key = encodeTuple([Uint8Array.of(7)])
  const [bytes] = decodeTuple(key) as [Uint8Array]
  key.fill(0)
  assert.deepEqual(bytes, Uint8Array.of(7))
})

test('the same value has one key, whatever its type', () => {
  for (const [one, other] of [
    [0, -0],
    [7, 7n],
    [-(2 ** 53) + 1, -(2n ** 53n) + 1n],
    [Uint8Array.of(1), Buffer.of(1)],
  ] as const)
    assert.equal(hex(encodeTuple([one])), hex(encodeTuple([other])))
})

test('the format does not change, since keys lie on disks', () => {
  const table: [readonly TuplePart[], string][] = [
    [[], ''],
    [[null, false, true], '10 20 21'],
    [[0, 1, 255, 256, -1, -255, -256], '3a 3b01 3bff 3c0100 39fe 3900 38feff'],
    [[2n ** 63n, -(2n ** 63n)], '42 8000000000000000 32 7fffffffffffffff'],
    [[2n ** 64n, -(2n ** 64n)], '43 09 010000000000000000 31 f6 feffffffffffffffff'],
    [[0.5, -0.5], '3a ff bfe0000000000000 39fe ff 401fffffffffffff'],
    [[Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY], '30 44'],
    [['é\0', Uint8Array.of(0, 255)], '50 c3a9 00ff 00 60 00ff ff 00'],
    [[[], ['a', [1]]], '70 00 70 50 61 00 70 3b01 00 00'],
  ]
  for (const [tuple, key] of table) assert.equal(hex(encodeTuple(tuple)), key.replaceAll(' ', ''))
})

test('the range of a prefix holds the tuples that begin with it, and no other', () => {
  const random = new Random(3)
  const startsWith = (tuple: readonly TuplePart[], start: readonly TuplePart[]): boolean =>
    compareTuples(tuple.slice(0, start.length), start) === 0
  let inside = 0
  const check = (start: readonly TuplePart[], tuple: readonly TuplePart[]): void => {
    const key = encodeTuple(tuple)
    const { from, to } = prefixRange(start)
    const isInside = compareKeys(from, key) <= 0 && compareKeys(key, to) < 0
    if (isInside !== startsWith(tuple, start)) assert.fail(`${hex(key)} in ${hex(from)} to ${hex(to)}: ${isInside}`)
    inside += Number(isInside)
  }
  for (let round = 0; round < 4_000; round += 1) {
    const start = randomTuple(random)
    check(start, randomTuple(random))
    check(start, [...start, ...randomTuple(random)])
  }
  for (const part of interestingParts) for (const other of interestingParts) check([part], [other, null])
  assert.ok(inside > 4_000 && inside < 20_000, `${inside}`)
})

test('what has no place in the order is refused, with what to pass instead', () => {
  const cyclic: TuplePart[] = []
  cyclic.push(cyclic)
  const refused: [unknown, RegExp][] = [
    [Number.NaN, /must be a number that has an order, or null, not NaN/],
    [2 ** 53, /must be a bigint.* not 9007199254740992/],
    [-1e300, /must be a bigint/],
    [256n ** 255n, /a bigint of at most 255 bytes, not of 256; pass a hash/],
    [-(256n ** 300n), /not of 301/],
    ['half \ud800', /toWellFormed/],
    ['\udc00', /toWellFormed/],
    [undefined, /not undefined; pass null, or leave it out/],
    [new Date(7), /not a Date; pass its getTime/],
    [Symbol('s'), /not a symbol; pass its description/],
    [() => {}, /not a function; pass its name/],
    [new ArrayBuffer(2), /pass new Uint8Array\(\) of it/],
    [Float64Array.of(1), /pass new Uint8Array\(\) of its buffer/],
    [{}, /not an object$/],
    [cyclic, /nested more than 32 deep/],
  ]
  for (const [part, message] of refused) {
    assert.throws(() => encodeTuple(['first', part as TuplePart]), { name: 'ArgumentError', message })
    assert.throws(() => prefixRange([part as TuplePart]), { name: 'ArgumentError', message })
  }
  assert.throws(() => encodeTuple([0, [1, [Number.NaN]]]), { argument: 'parts[1][1][0]' })
  assert.throws(() => encodeTuple([undefined, 1] as never), { argument: 'parts[0]' })
  for (const parts of ['text', undefined, { length: 1 }])
    assert.throws(() => encodeTuple(parts as never), { argument: 'parts' })
  for (const key of ['text', undefined, [16]]) assert.throws(() => decodeTuple(key as never), { argument: 'key' })
})

test('bigints of 255 bytes, and tuples nested 32 deep, are taken', () => {
  const large = 256n ** 255n - 1n
  assert.deepEqual(decodeTuple(encodeTuple([large, -large])), [large, -large])
  let deep: TuplePart[] = []
  for (let depth = 1; depth < 32; depth += 1) deep = [deep]
  assert.deepEqual(decodeTuple(encodeTuple([deep])), [deep])
  assert.throws(() => encodeTuple([[deep]]), { name: 'ArgumentError' })
})

test('text and bytes that are much longer than others come back', () => {
  const tuple = ['ü\0'.repeat(50_000), 1, new Uint8Array(10_000), '\u{10ffff}'.repeat(10_000)]
  assert.deepEqual(decodeTuple(encodeTuple(tuple)), tuple)
})

/** Decodes damaged bytes: with an error that says where, or as the tuple that has just this key. True if it does. */
function isKey(bytes: Uint8Array): boolean {
  // What lies around it would end each part, if it were read.
  const surrounded = new Uint8Array(bytes.length + 20)
  surrounded.set(bytes, 10)
  try {
    const tuple = decodeTuple(surrounded.subarray(10, 10 + bytes.length))
    assert.equal(hex(encodeTuple(tuple)), hex(bytes))
    return true
  } catch (error) {
    if (!(error instanceof IndexError)) throw error
    assert.equal(error.code, 'ERR_AETHER_INDEX_KEY')
    assert.ok(error.offset! >= 0 && error.offset! <= bytes.length, error.message)
    return false
  }
}

test('a key that was cut anywhere, or in which any bit was changed, is refused or is another key', () => {
  const counts = { cut: [0, 0], changed: [0, 0] }
  for (const part of interestingParts) {
    const key = encodeTuple([[part, 1.5], 'a\0b', part])
    if (key.length > 70) continue
    for (let length = 0; length < key.length; length += 1) counts.cut[Number(isKey(key.subarray(0, length)))]! += 1
    for (let bit = 0; bit < key.length * 8; bit += 1) {
      key[bit >>> 3]! ^= 1 << (bit & 7)
      counts.changed[Number(isKey(key))]! += 1
      key[bit >>> 3]! ^= 1 << (bit & 7)
    }
  }
  for (const count of [...counts.cut, ...counts.changed]) assert.ok(count > 1000, JSON.stringify(counts))
})

test('any bytes are refused or are the key of a tuple', () => {
  const random = new Random(4)
  const tags = keyOf('10 20 21 30 31 32 39 3a 3b 3c 42 43 44 50 60 70 00 00 00 ff 01')
  const counts = [0, 0]
  for (let round = 0; round < 20_000; round += 1) {
    const key = Uint8Array.from({ length: random.below(14) }, () =>
      random.below(4) === 0 ? random.below(256) : tags[random.below(tags.length)]!,
    )
    counts[Number(isKey(key))]! += 1
  }
  assert.ok(counts[0]! > 1000 && counts[1]! > 1000, `${counts}`)
})

test('a second form of the same value is refused, and the place is named', () => {
  const table: [string, number, RegExp][] = [
    ['00', 0, /no part begins so/],
    ['10 45', 1, /no part begins so/],
    ['ff', 0, /no part begins so/],
    ['3b 00', 1, /shorter form/],
    ['3c 00 01', 1, /shorter form/],
    ['39 ff', 1, /shorter form/],
    ['43 08 0100000000000000', 1, /length has a shorter form/],
    ['43 09 000100000000000000', 2, /number has a shorter form/],
    ['31 f7 feffffffffffffff', 1, /length has a shorter form/],
    ['43 ff 01', 3, /cut off/],
    ['3a ff bfe00000000000', 9, /cut off/],
    ['3b 01 ff bfe0000000000000', 3, /contradicts/],
    ['3b 01 ff bff0000000000000', 3, /contradicts/],
    ['3a ff fff8000000000000', 2, /contradicts/],
    ['50 61', 2, /text or bytes are cut off/],
    ['50 61 00 ff', 4, /text or bytes are cut off/],
    ['50 ff 00', 1, /not UTF-8/],
    ['50 eda080 00', 1, /not UTF-8/],
    ['50 c080 00', 1, /not UTF-8/],
    ['70 10', 2, /a tuple is cut off/],
    ['70'.repeat(33), 32, /at most 32 deep/],
  ]
  for (const [key, offset, message] of table)
    assert.throws(() => decodeTuple(keyOf(key)), { name: 'IndexError', offset, message }, key)
})
