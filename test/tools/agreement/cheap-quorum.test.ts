import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { exploreQuorum, lyingQuorums } from './cheap-quorum-world.ts'

for (const [processes, memories, budget] of [
  [3, 1, { timers: 2 }],
  [3, 1, { timers: 1, crashes: 1 }],
  [2, 2, { timers: 2 }],
  [2, 2, { timers: 1, crashes: 1 }],
  [2, 3, { timers: 0, memoryCrashes: 1 }],
] as const)
  test(`every order of Cheap Quorum with ${processes} processes, ${memories} memories and ${JSON.stringify(budget)}`, (t) => {
    const { violation, complete, states, ends } = exploreQuorum({ processes, memories }, { budget })
    t.diagnostic(`${states} states, ${ends.length} ends`)
    assert.equal(violation, undefined)
    assert.ok(complete)
  })

// With one memory, a leader has one face.
const lies = Object.entries(lyingQuorums).filter(([lie]) => lie !== 'a leader with two faces')
for (const [lie, others] of lies)
  test(`every order of Cheap Quorum with ${lie}, three processes, a memory and a suspicion`, (t) => {
    const options = { budget: { timers: 1 }, others, splitsLooks: true }
    const { violation, complete, states } = exploreQuorum({ processes: 3, memories: 1 }, options)
    t.diagnostic(`${states} states`)
    assert.equal(violation, undefined)
    assert.ok(complete)
  })

test('the leader decides, and who gives up has its value, with proof or without it', () => {
  const { ends } = exploreQuorum({ processes: 3, memories: 1 }, { budget: { timers: 1 } })
  assert.ok(ends.includes('gives up with a decides a, gives up with a, gives up with proof of a'))
  assert.ok(ends.includes('gives up with a, gives up with b, gives up with c'))
})

test('looks that are not split lead to the same ends', () => {
  for (const budget of [{ timers: 1 }, { timers: 1, crashes: 1 }]) {
    const { ends } = exploreQuorum({ processes: 2, memories: 2 }, { budget })
    assert.ok(ends.length > 3)
    assert.deepEqual(exploreQuorum({ processes: 2, memories: 2 }, { budget, splitsLooks: true }).ends, ends)
  }
})

test('with one of two memories for a majority, the leader decides and another gives up with something else', () => {
  const { violation } = exploreQuorum({ processes: 2, memories: 2, memoryQuorum: 1 }, { budget: { timers: 1 } })
  assert.equal(violation?.text, 'process 0 decided a, and process 1 gave up with b')
})
