import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { algorithms, beyondOf, playBeyond } from '../../../tools/agreement/index.ts'
import { aether } from '../../cli/command-line.ts'

const withOrders = algorithms.filter((algorithm) => beyondOf(algorithm).length > 0)

test('each algorithm with messages or memories waits for ever where one more fails, or decides twice', () => {
  assert.deepEqual(
    withOrders.map(({ name }) => name),
    [
      'paxos',
      'disk-paxos',
      'protected-memory-paxos',
      'aligned-paxos',
      'non-equivocating-broadcast',
      'robust-backup',
      'fast-and-robust',
    ],
  )
  for (const algorithm of withOrders) {
    const shown = beyondOf(algorithm).map(({ shows }) => shows)
    assert.ok(shown.includes('no decision') && shown.includes('two decisions'), algorithm.name)
  }
})

for (const algorithm of withOrders) {
  for (const beyond of beyondOf(algorithm))
    test(`${algorithm.name}: ${beyond.name}: ${beyond.shows}`, () => {
      const { world, violation, isStuck } = playBeyond(algorithm, beyond)
      if (beyond.shows === 'no decision') assert.deepEqual([world.decisions.flat(), isStuck], [[], true])
      else assert.match(violation ?? '', /^process \d decided a, and process \d decided b$/)
    })

  for (const beyond of beyondOf(algorithm).filter(({ shows }) => shows === 'two decisions'))
    test(`${algorithm.name}: the same order, where a majority is waited for: ${beyond.name}: no two decisions`, () => {
      const { processes, memories } = beyond.setting
      const { violation } = playBeyond(algorithm, { ...beyond, setting: { processes, memories } })
      assert.equal(violation, undefined)
    })
}

test('the command draws them', () => {
  const { status, stdout } = aether('agreement', 'protected-memory-paxos', '--beyond')
  assert.equal(status, 0, stdout)
  assert.match(stdout, /^delays +P0 +P1 +M0 +M1$/m)
  assert.match(stdout, /^no decision: nothing more can happen/m)
  assert.match(stdout, /^two decisions: process 0 decided a, and process 1 decided b$/m)
})
