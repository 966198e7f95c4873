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
  24,
)
const AT_A_TIME = 20
/** Of the calls of a function, one in so many is tried. */
const SHARE = process.env['AETHER_TEST_VALUES'] === 'all' ? 1 : 5
const partitions: readonly Division[] = [
  'block',
  'cyclic',
  { blockCyclic: 2 },
  ['replicated', 'block'],
  ['block', 'cyclic'],
]

for (const size of [2, 3, 4])
  test(`on ${size} ranks every function gives, or refuses, what it does in one process`, async () => {
    await using ranks = new Ranks(new URL('./fixtures/every-function-rank.js', import.meta.url), size)
    const all = <T>(scenario: string, ...args: readonly unknown[]): Promise<T[]> =>
      Promise.all(ranks.processes.map((process) => process.call<T>(scenario, ...args)))
    await Promise.all(
      ranks.processes.map((process, rank) => process.call('join', { rank, size, rendezvous: ranks.rendezvous })),
    )
    let tried = 0
    // A call to a process must answer in time.
    for (let at = 0; at < names.length; at += AT_A_TIME) {
      const some = names.slice(at, at + AT_A_TIME)
      for (const found of await all<string[]>('differences', { names: some, partitions, step: SHARE }))
        assert.deepEqual(found, [])
      const refusals = await all<{ found: string[]; count: number }>('refusals', {
        names: some,
        partitions,
        step: 2 * SHARE,
      })
      for (const { found } of refusals) assert.deepEqual(found, [])
      tried += refusals[0]!.count
    }
    assert.ok(tried > 5 * names.length, `${tried} wrong calls`)
    await all('close')
  })
