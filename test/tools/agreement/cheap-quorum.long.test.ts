import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { exploreQuorum, lyingQuorums, type QuorumOptions } from './cheap-quorum-world.ts'

const explored = (name: string, options: QuorumOptions): void => {
  test(`every order of Cheap Quorum with three processes, three memories and ${name}`, (t) => {
    const begin = Date.now()
    const { violation, complete, states, ends } = exploreQuorum({ processes: 3, memories: 3 }, options)
    t.diagnostic(`${states} states, ${ends.length} ends, ${Math.round((Date.now() - begin) / 1000)} s`)
    assert.equal(violation, undefined)
    assert.ok(complete)
  })
}

explored('a suspicion', { budget: { timers: 1 } })
explored('the crash of a process', { budget: { crashes: 1 } })
explored('the crash of a memory', { budget: { memoryCrashes: 1 } })
for (const [lie, others] of Object.entries(lyingQuorums)) explored(lie, { budget: {}, others, splitsLooks: true })
