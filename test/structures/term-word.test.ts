import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lowOf, termOf, termWord } from '../../src/structures/term-word.ts'

const LOWS = [0, 1, 0xffff, 0x10000, 2 ** 31 - 1, -(2 ** 31), -1] as const

test('a word has the term and what is kept with it, read from memory with a sign or without', () => {
  for (const term of [0, 1, 2, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1])
    for (const low of LOWS) {
      const word = termWord(term, low)
      for (const read of [word, BigInt.asIntN(64, word)]) assert.deepEqual([termOf(read), lowOf(read)], [term, low])
      assert.equal(BigInt.asUintN(64, word), word)
    }
})

test('what is kept is taken modulo 2^32, like a time in milliseconds', () => {
  for (const low of LOWS) assert.equal(termWord(3, low + 2 ** 32 * 5), termWord(3, low))
})
