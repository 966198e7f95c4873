import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { exploreQuorum, lyingQuorums, type QuorumOptions } from './cheap-quorum-world.ts'

/** Of three processes: 811,248 states with a suspicion and three memories took ten minutes. */
const explored = (name: string, memories: number, options: QuorumOptions): void => {
  test(`every order of Cheap Quorum with three processes, ${memories} memories and ${name}`, (t) => {
    const { violation, complete, states, ends } = exploreQuorum({ processes: 3, memories }, options)
    t.diagnostic(`${states} states, ${ends.length} ends`)
    assert.equal(violation, undefined)
    assert.ok(complete)
  })
}

explored('a suspicion', 3, { budget: { timers: 1 } })
explored('the crash of a process', 3, { budget: { crashes: 1 } })
explored('the crash of a memory', 3, { budget: { memoryCrashes: 1 } })
// What a liar writes over may be found in one look and not in the next: so looks are split, which takes more states.
for (const [lie, others] of Object.entries(lyingQuorums)) explored(lie, 2, { budget: {}, others, splitsLooks: true })
