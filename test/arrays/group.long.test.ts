import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openArrays } from '../../src/arrays/open-arrays.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { Ranks } from '../support/rank-process.ts'
import { programs } from './fixtures/programs.ts'
import { someMoves } from './support/moves.ts'

useRuntimeDirectory()

test('on 7 processes programs have the bits of one process, also those that block', async () => {
  const alone = await openArrays()
  await using ranks = new Ranks(new URL('./fixtures/array-rank.js', import.meta.url), 7)
  await ranks.all('join', {})
  assert.deepEqual((await ranks.all<string[]>('moveAll', someMoves(5, 7))).flat(), [])
  const ways = [
    { partition: { blockCyclic: 2 }, isApart: false },
    { partition: 'block', isApart: true },
  ]
  const results = await ranks.all<Record<string, unknown>>('runAll', ways)
  for (const [name, program] of Object.entries(programs)) {
    const wanted = await program(alone, 'replicated')
    for (const [rank, said] of results.entries()) assert.deepEqual(said[name], wanted, `${name} at rank ${rank}`)
  }
  await ranks.all('close')
})
