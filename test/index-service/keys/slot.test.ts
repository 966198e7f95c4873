import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import test from 'node:test'
import { slotOf } from '../../../src/index-service/keys/slot.ts'
import { Random } from '../../../src/runtime/index.ts'

const slot = (key: string): number => slotOf(Buffer.from(key))

/** CRC-16/XMODEM bit by bit, without a table. */
function crcOf(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes)
    for (let bit = 7; bit >= 0; bit -= 1) {
      const isSet = ((crc >>> 15) ^ (byte >>> bit)) & 1
      crc = ((crc << 1) & 0xffff) ^ (isSet === 1 ? 0x1021 : 0)
    }
  return crc
}

test('the check value of CRC-16/XMODEM is 31C3', () => {
  assert.equal(crcOf(Buffer.from('123456789')), 0x31c3)
  assert.equal(slot('123456789'), 0x31c3)
})

test('slots are those that a Redis Cluster gives', () => {
  // As `CLUSTER KEYSLOT` of redis-server 7.0.15 answers.
  const known: Record<string, number> = {
    '': 0,
    foo: 12182,
    bar: 5061,
    hello: 866,
    '{user1000}.following': 3443,
    'foo{hash_tag}': 2515,
    'foo{}{bar}': 8363,
    'foo{{bar}}zap': 4015,
    'foo{bar}{zap}': 5061,
    grüße: 3194,
    '{': 4092,
    'a{b': 13340,
  }
  for (const [key, expected] of Object.entries(known)) assert.equal(slot(key), expected, key)
})

test('any bytes have the slot of their CRC modulo 16384', () => {
  const random = new Random(1)
  for (let round = 0; round < 2000; round += 1) {
    const key = Uint8Array.from({ length: random.below(40) }, () => random.below(0x7b))
    assert.equal(slotOf(key), crcOf(key) % 16384)
  }
  for (let byte = 0; byte < 256; byte += 1)
    assert.equal(slotOf(Uint8Array.of(byte, 9)), crcOf(Uint8Array.of(byte, 9)) % 16384)
})

test('only the first hash tag counts, and an empty one does not', () => {
  for (const key of ['{user:7}', '{user:7}:mail', 'a{user:7}', 'a{user:7}{b}', '{user:7}}', '}{user:7}'])
    assert.equal(slot(key), slot('user:7'), key)
  assert.equal(slot('foo{{bar}}zap'), slot('{bar'))
  for (const key of ['foo{}{bar}', 'foo{bar', 'foo}bar', '}foo{', '{}', '{'])
    assert.equal(slot(key), crcOf(Buffer.from(key)) % 16384, key)
})
