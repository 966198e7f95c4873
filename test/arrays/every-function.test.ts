import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { FUNCTIONS } from '../../src/arrays/functions/table.ts'
import type { Division } from '../../src/arrays/partitions/partition.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { drawn } from '../support/drawn.ts'
import { Ranks } from '../support/rank-process.ts'

useRuntimeDirectory()
const names = drawn(
  FUNCTIONS.map(({ name }) => name),
  12,
)
const AT_A_TIME = 20
/** Of the calls of a function, one in five is tried. */
const SHARE = process.env['AETHER_TEST_VALUES'] === 'all' ? 1 : 5
const partitions: readonly Division[] = [
  'block',
  'cyclic',
  { blockCyclic: 2 },
  ['replicated', 'block'],
  ['block', 'cyclic'],
]

/** Ranks of a group that have opened arrays. */
async function rankedArrays(size: number): Promise<Ranks> {
  const ranks = new Ranks(new URL('./fixtures/every-function-rank.js', import.meta.url), size)
  const { rendezvous } = ranks
  await Promise.all(ranks.processes.map((each, rank) => each.call('join', { rank, size, rendezvous })))
  return ranks
}

for (const size of drawn([2, 3, 4], 1)) {
  test(`on ${size} ranks every function gives, or refuses, what it does in one process`, async () => {
    await using ranks = await rankedArrays(size)
    let tried = 0
    // A call to a process must answer in time.
    for (let at = 0; at < names.length; at += AT_A_TIME) {
      const some = names.slice(at, at + AT_A_TIME)
      for (const found of await ranks.all<string[]>('differences', { names: some, partitions, step: SHARE }))
        assert.deepEqual(found, [])
      const order = { names: some, partitions, step: 2 * SHARE }
      const refusals = await ranks.all<{ found: string[]; count: number }>('refusals', order)
      for (const { found } of refusals) assert.deepEqual(found, [])
      tried += refusals[0]!.count
    }
    assert.ok(tried > 5 * names.length, `${tried} wrong calls`)
    await ranks.all('close')
  })

  test(`on ${size} ranks no more bytes come to one than a reduction or the smaller operand has`, async () => {
    await using ranks = await rankedArrays(size)
    for (const found of await ranks.all<string[]>('bytes')) assert.deepEqual(found, [])
    await ranks.all('close')
  })

  test(`on ${size} ranks an element that only one has, and that cannot be, is an error at all of them`, async () => {
    await using ranks = await rankedArrays(size)
    for (const said of await ranks.all<unknown[]>('oneIsWrong'))
      assert.deepEqual(said, ['ERR_AETHER_ARRAY_VALUE', 'ERR_AETHER_ARRAY_INDEX', 780])
    await ranks.all('close')
  })
}
