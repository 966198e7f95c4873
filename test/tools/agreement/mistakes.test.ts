import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { algorithms } from '../../../tools/agreement/index.ts'
import { agreementCanaries, agreementMistakes } from '../../../tools/agreement/mistakes.ts'
import { directedOf } from '../../../tools/agreement/play/directed.ts'
import { violationOf } from '../../../tools/agreement/play/judge.ts'
import { playSchedule } from '../../../tools/agreement/play/schedule.ts'
import { playAgreementMistake } from '../../../tools/agreement/play-mistake.ts'
import { withMistake } from '../../../tools/simulation/replicas/mistake-hooks.ts'
import { drawn } from '../../support/drawn.ts'

const SEEDS_MAX = 20_000

test('each mistake has a name of its own, and changes something that is there exactly once', () => {
  const all = [...agreementCanaries, ...agreementMistakes]
  assert.equal(new Set(all.map(({ name }) => name)).size, all.length)
  for (const mistake of all) {
    const text = readFileSync(new URL(`../../../tools${mistake.module}`, import.meta.url), 'utf8')
    assert.notEqual(withMistake(text, mistake), text, mistake.name)
  }
})

for (const mistake of agreementCanaries)
  test(`what changes nothing violates nothing: ${mistake.name}`, async () => {
    const seeds = mistake.algorithm === 'protected-memory-paxos' ? 1000 : 100
    const report = await playAgreementMistake({ mistake, first: 1, seeds })
    assert.deepEqual(report, { violation: undefined, seeds })
  })

test('orders that show a mistake violate nothing without it', () => {
  const orders = algorithms.flatMap((algorithm) => directedOf(algorithm).map((order) => ({ algorithm, order })))
  for (const { algorithm, order } of orders) {
    const world = playSchedule(algorithm, order)
    assert.equal(violationOf(world), undefined, order.name)
    assert.ok(world.decisions.flat().length > 0, order.name)
  }
  for (const mistake of agreementMistakes)
    if (mistake.order !== undefined)
      assert.ok(
        orders.some(({ algorithm, order }) => algorithm.name === mistake.algorithm && order.name === mistake.order),
      )
})

const names = agreementMistakes.map(({ name }) => name)
for (const name of drawn(names, 2))
  test(`an algorithm in which is wrong: ${name}`, async (t) => {
    const mistake = agreementMistakes.find((each) => each.name === name)!
    const { violation, seeds } = await playAgreementMistake({ mistake, first: 1, seeds: SEEDS_MAX })
    assert.notEqual(violation, undefined, mistake.breaks)
    t.diagnostic(`found out by ${mistake.order ?? `seed ${seeds}`}: ${violation!}`)
  })
