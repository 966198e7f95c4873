import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import type { Algorithm, Setting } from '../../../tools/agreement/model/algorithm.ts'
import {
  alignedPaxos,
  diskPaxos,
  divideByMemory,
  messagePaxos,
  protectedMemoryPaxos,
} from '../../../tools/agreement/paxos/algorithms.ts'
import { type Budget, explore } from '../../../tools/agreement/play/explore.ts'

const inputs = ['a', 'b']
const quiet: Budget = { timers: 0, leads: 0, crashes: 0, memoryCrashes: 0 }
const played = (algorithm: Algorithm, setting: Setting, budget: Partial<Budget>) =>
  explore({ algorithm, setting, inputs }, { budget: { ...quiet, ...budget }, leaders: [1], divide: divideByMemory })

for (const [algorithm, memories, budget] of [
  [messagePaxos, 0, { leads: 2, timers: 2, crashes: 1 }],
  [protectedMemoryPaxos, 1, { leads: 1, timers: 2, crashes: 1 }],
  [protectedMemoryPaxos, 2, { leads: 1, timers: 1 }],
  [diskPaxos, 2, { leads: 1 }],
  [alignedPaxos, 1, { leads: 1 }],
] as const)
  test(`${algorithm.name}: every order with two processes, ${memories} memories and ${JSON.stringify(budget)}`, (t) => {
    const { violation, complete, states, decided } = played(algorithm, { processes: 2, memories }, budget)
    t.diagnostic(`${states} states, in ${decided} of them all have decided`)
    assert.equal(violation, undefined)
    assert.ok(complete)
    assert.ok(decided > 0)
  })

for (const [algorithm, setting] of [
  [protectedMemoryPaxos, { processes: 2, memories: 2, quorum: 1 }],
  [diskPaxos, { processes: 2, memories: 2, quorum: 1 }],
  [alignedPaxos, { processes: 2, memories: 1, quorum: 1 }],
  [messagePaxos, { processes: 2, memories: 0, quorum: 1 }],
] as const)
  test(`${algorithm.name}: with ${setting.quorum} instead of a majority, some order makes two processes disagree`, () => {
    const { violation } = played(algorithm, setting, { leads: 1 })
    assert.match(
      violation?.text ?? '',
      /process 0 decided a, and process 1 decided b|process 1 decided b, and process 0/,
    )
  })
