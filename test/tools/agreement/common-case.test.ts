import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { AgreementWorld, algorithms, playTimely } from '../../../tools/agreement/index.ts'

const setting = { processes: 3, memories: 3 }
const inputs = ['a', 'b', 'c']

for (const algorithm of algorithms)
  test(`${algorithm.name}: the common case costs what it has to`, () => {
    const world = new AgreementWorld({ algorithm, setting, inputs })
    const first = playTimely(world, 1000)
    assert.ok(first)
    assert.deepEqual({ delays: first.delays, signatures: first.signatures }, algorithm.commonCase)
    assert.deepEqual(world.decisions, [['a'], ['a'], ['a']])
  })

test('the first decision of a leader needs one write, and reads only where permissions never change', () => {
  const cost = (name: string) => {
    const algorithm = algorithms.find((each) => each.name === name)!
    const { writes, reads, permissions } = playTimely(new AgreementWorld({ algorithm, setting, inputs }), 1000)!
    return { writes, reads, permissions }
  }
  assert.deepEqual(cost('protected-memory-paxos'), { writes: 3, reads: 0, permissions: 0 })
  assert.deepEqual(cost('disk-paxos'), { writes: 3, reads: 3, permissions: 0 })
  assert.deepEqual(cost('aligned-paxos'), { writes: 3, reads: 0, permissions: 0 })
})

for (const algorithm of algorithms)
  test(`${algorithm.name}: goes on without as many as it withstands`, () => {
    const bound = algorithm.bound(setting)
    // A broadcast needs its sender.
    const firstToDie = algorithm.task === 'broadcast' ? 1 : 0
    const processes = Math.min(bound.processes, bound.together ?? Infinity)
    const memories = Math.min(bound.memories, (bound.together ?? Infinity) - processes)
    const world = new AgreementWorld({ algorithm, setting, inputs })
    playTimely(world, 1000, [
      ...Array.from({ length: processes }, (_, process) => ({ process: process + firstToDie, at: 1 })),
      ...Array.from({ length: memories }, (_, memory) => ({ memory, at: 1 })),
    ])
    const decided = world.decisions.filter((_, process) => world.up[process])
    assert.equal(new Set(decided.flat()).size, 1)
    assert.ok(decided.every((values) => values.length === 1))
  })

test('no majority of memories, no decision; and none that is wrong', () => {
  for (const name of ['protected-memory-paxos', 'disk-paxos', 'fast-and-robust', 'robust-backup']) {
    const algorithm = algorithms.find((each) => each.name === name)!
    const world = new AgreementWorld({ algorithm, setting, inputs })
    playTimely(world, 500, [
      { memory: 0, at: 0 },
      { memory: 1, at: 0 },
    ])
    assert.deepEqual(world.decisions, [[], [], []], name)
  }
})
