import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import { addLongDoubles, formatLongDouble, parseLongDouble } from '../../../src/index-service/commands/long-double.ts'
import { isWord, parseDouble, parseInteger } from '../../../src/index-service/commands/numbers.ts'
import { matches } from '../../../src/index-service/commands/patterns.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1')

test('whole numbers are read up to 64 bits, exactly, and in one way of writing only', () => {
  for (const [text, value] of [
    ['0', 0],
    ['-1', -1],
    ['999999999999999', 999_999_999_999_999],
    ['9007199254740991', 9_007_199_254_740_991],
    ['9007199254740993', 9_007_199_254_740_993n],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['-9223372036854775808', -(2n ** 63n)],
  ] as const)
    assert.equal(parseInteger(bytes(text)), value)
  for (const text of [
    '',
    '-',
    '+1',
    '01',
    '-0',
    ' 1',
    '1 ',
    '1.0',
    '9223372036854775808',
    '-9223372036854775809',
    '1e3',
  ])
    assert.equal(parseInteger(bytes(text)), undefined, text)
})

test('floats are read as C reads them', () => {
  for (const [text, value] of [
    ['1.5', 1.5],
    ['.5', 0.5],
    ['5.', 5],
    ['1e-3', 0.001],
    ['inf', Infinity],
    ['-Infinity', -Infinity],
    ['0x1F', 31],
    ['0x.8p1', 1],
  ] as const)
    assert.equal(parseDouble(bytes(text)), value)
  for (const text of ['', 'nan', '1e400', '1e-400', 'abc', '1.5x', ' 1', '0x', 'e5', '.'])
    assert.equal(parseDouble(bytes(text)), undefined, text)
})

test('sums of long doubles are what Redis on x64 answers', () => {
  const sum = (one: string, other: string): string | undefined => {
    const [first, second] = [parseLongDouble(bytes(one)), parseLongDouble(bytes(other))]
    assert.ok(typeof first === 'object' && typeof second === 'object')
    const both = addLongDoubles(first, second)
    return both === undefined ? undefined : formatLongDouble(both)
  }
  assert.equal(sum('10.5', '0.1'), '10.6')
  assert.equal(sum('0.1', '0.2'), '0.3')
  assert.equal(sum('3.0e3', '200'), '3200')
  assert.equal(sum('-1', '1'), '0')
  assert.equal(sum('1e-30', '-1e-30'), '0')
  assert.equal(sum('18446744073709551616', '1'), '18446744073709551616', '64 bits of mantissa')
  assert.equal(sum('1e4932', '1e4932'), undefined, 'too large')
})

test('words are compared in any case', () => {
  assert.ok(isWord(bytes('WithScores'), 'withscores'))
  assert.ok(!isWord(bytes('withscore'), 'withscores'))
  assert.ok(!isWord(bytes('\x1a'), ':'), 'only letters have two cases')
})

test('patterns match as those of Redis do', () => {
  for (const [pattern, text, isMatch] of [
    ['h?llo', 'hello', true],
    ['h*llo', 'hllo', true],
    ['h[ae]llo', 'hillo', false],
    ['h[^e]llo', 'hallo', true],
    ['h[a-c]llo', 'hbllo', true],
    ['h[c-a]llo', 'hbllo', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['', '', true],
    ['*', '', true],
    ['a*b*c', 'aXbYbZc', true],
    ['a*b*c', 'aXbYbZ', false],
  ] as const)
    assert.equal(matches(pattern, text), isMatch, `${pattern} ${text}`)
})

test('a pattern of many stars ends soon', () => {
  assert.equal(matches(`${'a*'.repeat(200)}b`, 'a'.repeat(5_000)), false)
})
