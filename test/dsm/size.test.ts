import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatSize, parseSize } from '../../src/dsm/index.ts'

test('numbers are bytes, text has binary units', () => {
  const cases = [
    [4096, 4096],
    ['4096', 4096],
    ['1B', 1],
    ['64KiB', 65_536],
    [' 64 MiB ', 67_108_864],
    ['1.5GiB', 1_610_612_736],
    ['2TiB', 2_199_023_255_552],
  ] as const
  for (const [size, bytes] of cases) assert.equal(parseSize(size, 'size'), bytes)
})

test('what is no whole number of bytes above 0 is refused', () => {
  for (const size of [
    0,
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 53,
    '0',
    '0.3B',
    '-4KiB',
    '',
    'much',
    '1e3',
  ]) {
    assert.throws(
      () => parseSize(size, 'size'),
      { code: 'ERR_AETHER_INVALID_ARGUMENT', argument: 'size' },
      String(size),
    )
  }
  for (const size of [null, undefined, 4096n, {}]) {
    assert.throws(() => parseSize(size as unknown as number, 'size'), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  }
})

test('a decimal or misspelt unit is refused with the one that was probably meant', () => {
  assert.throws(() => parseSize('64MB', 'size'), /'MB' is not a known unit .* did you mean MiB\?/)
  assert.throws(() => parseSize('64k', 'size'), /did you mean KiB\?/)
  assert.throws(() => parseSize('64 parsecs', 'size'), /'parsecs' is not a known unit \(B, KiB, MiB, GiB, TiB\)$/)
})

test('sizes are shown in the largest unit that divides them', () => {
  assert.deepEqual([4096, 4097, 2 ** 26, 3 * 2 ** 30, 1].map(formatSize), ['4 KiB', '4097 B', '64 MiB', '3 GiB', '1 B'])
})
