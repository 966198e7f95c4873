import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearestWord } from '../../../src/native/index.ts'

const words = ['demo', 'run', 'bench', 'help']

test('a slip of the finger finds its command', () => {
  for (const [typed, meant] of [
    ['dmeo', 'demo'],
    ['rnu', 'run'],
    ['bensh', 'bench'],
    ['hepl', 'help'],
    ['Demo', 'demo'],
  ] as const) {
    assert.equal(nearestWord(typed, words), meant)
  }
})

test('a word that is like none of them finds none', () => {
  for (const typed of ['dashboard', 'xyz', '', 'benchmarking-things'])
    assert.equal(nearestWord(typed, words), undefined)
})
