import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesOfKey, bytesToLookFor, type IndexKey } from '../../../src/index-service/keys/index-key.ts'
import { ArgumentError } from '../../../src/native/index.ts'

test('a key that is looked for has the same bytes as one that is stored, whatever was looked for before', () => {
  const keys: readonly IndexKey[] = [
    '',
    'a',
    'user:7',
    'é',
    'a\u{1f600}',
    '\x7f\x01',
    'x'.repeat(64),
    'x'.repeat(65),
    Buffer.from('bytes'),
    ['user', 7],
    'b\0c',
  ]
  for (const key of [...keys, ...keys.toReversed()])
    assert.deepEqual(Buffer.from(bytesToLookFor(key)), Buffer.from(bytesOfKey(key)))
  for (const wrong of ['\0a', Uint8Array.of(0, 1), 'x'.repeat(65_537), 7 as unknown as string])
    assert.throws(() => bytesToLookFor(wrong), ArgumentError)
})
