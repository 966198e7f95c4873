import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import {
  alignedPaxos,
  diskPaxos,
  divideByMemory,
  protectedMemoryPaxos,
} from '../../../tools/agreement/paxos/algorithms.ts'
import { explore } from '../../../tools/agreement/play/explore.ts'

const inputs = ['a', 'b']

for (const [algorithm, memories, timers, crashes] of [
  [protectedMemoryPaxos, 3, 0, 0],
  [protectedMemoryPaxos, 3, 1, 0],
  [protectedMemoryPaxos, 2, 1, 1],
  [diskPaxos, 3, 0, 0],
  [alignedPaxos, 1, 1, 0],
  [alignedPaxos, 2, 0, 0],
] as const)
  test(`${algorithm.name}: every order with two processes, ${memories} memories, ${timers} timers and ${crashes} crashes`, (t) => {
    const budget = { timers, leads: 1, crashes, memoryCrashes: crashes }
    const options = { budget, leaders: [1], divide: divideByMemory, statesMax: 10_000_000 }
    const { violation, complete, states } = explore({ algorithm, setting: { processes: 2, memories }, inputs }, options)
    t.diagnostic(`${states} states`)
    assert.equal(violation, undefined)
    assert.ok(complete)
  })

test('aligned-paxos: with half of the agents for a majority, some order makes two processes disagree', () => {
  const budget = { timers: 0, leads: 1, crashes: 0, memoryCrashes: 0 }
  const setting = { processes: 2, memories: 2, quorum: 2 }
  const { violation } = explore(
    { algorithm: alignedPaxos, setting, inputs },
    { budget, leaders: [1], divide: divideByMemory },
  )
  assert.match(violation?.text ?? '', /decided a, and process 1 decided b/)
})
