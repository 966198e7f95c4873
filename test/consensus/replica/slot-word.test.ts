import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { isOfLap, isOfLaterLap, lapOf, packWord, unpackWord } from '../../../src/consensus/replica/slot-word.ts'
import { Random } from '../../../src/runtime/index.ts'

const LAPS = 2 ** 20

test('a word holds term, lap, frame and bank, each to its highest value', () => {
  for (const [promised, lap, frame, bank] of [
    [0, 0, -1, 0],
    [1, 1, 0, 1],
    [2 ** 32 - 1, LAPS - 1, 254, 15],
    [1024, 0, 254, 0],
    [2 ** 31, 2 ** 19, -1, 15],
  ] as const)
    assert.deepEqual(unpackWord(packWord(promised, lap, frame, bank)), { promised, lap, frame, bank })
})

test('drawn words are read as they were written, and differ where anything does', () => {
  const random = new Random(7)
  const words = new Set<bigint>()
  for (let count = 0; count < 1000; count += 1) {
    const state = { promised: random.uint32(), lap: random.below(LAPS), frame: random.below(256) - 1, bank: count % 16 }
    const word = packWord(state.promised, state.lap, state.frame, state.bank)
    assert.deepEqual(unpackWord(word), state)
    assert.ok(word >= 0n && word < 2n ** 64n)
    words.add(word)
  }
  assert.equal(words.size, 1000)
})

test('a fresh word has promised nothing, holds nothing, and is of the first lap', () => {
  assert.deepEqual(unpackWord(0n), { promised: 0, lap: 0, frame: -1, bank: 0 })
})

test('a lap is as many entries as the ring has places', () => {
  assert.deepEqual(
    [1, 15, 16, 31, 32].map((index) => lapOf(index, 16)),
    [0, 0, 1, 1, 2],
  )
})

test('a slot that no one has used is not of a later lap, however far the log has come', () => {
  for (const lap of [1, LAPS / 2, LAPS / 2 + 1, LAPS - 1]) assert.equal(isOfLaterLap(unpackWord(0n), lap), false)
})

test('laps are compared on a circle, so they go on past the highest', () => {
  const at = (lap: number): ReturnType<typeof unpackWord> => unpackWord(packWord(1, lap))
  assert.ok(isOfLap(at(LAPS + 3), 3))
  assert.ok(isOfLap(at(3), LAPS + 3))
  assert.equal(isOfLap(at(4), 3), false)
  assert.ok(isOfLaterLap(at(4), 3))
  assert.equal(isOfLaterLap(at(3), 3), false)
  assert.equal(isOfLaterLap(at(2), 3), false)
  assert.ok(isOfLaterLap(at(0), LAPS - 1))
  assert.equal(isOfLaterLap(at(LAPS - 1), LAPS), false)
})
