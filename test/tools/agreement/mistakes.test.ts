import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import process from 'node:process'
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
/**
 * A seed shortly before the one that shows it, where that is far: plays begin there. Where all variants are tried, they
 * begin with the first seed.
 */
const late: Readonly<Record<string, number>> = {
  'permission taken from no one': 1311,
  'slots not read': 141,
  'higher ballot overlooked': 1321,
  'first slot adopted': 2301,
  'half is enough': 14_641,
  'own input preferred': 281,
  'everyone leaves the first phase out': 81,
  'disk not read after the write': 1651,
  'promise without what was accepted': 281,
  'panic without revocation': 471,
  'refused write decides': 131,
  'some proofs are enough': 991,
  'any answer of a memory is enough': 1061,
}
const isWhole = process.env['AETHER_TEST_VALUES'] === 'all'

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

test('each mistake that is begun late is one of them', () => {
  for (const name of Object.keys(late))
    assert.ok(
      agreementMistakes.some((each) => each.name === name),
      name,
    )
})

const names = agreementMistakes.map(({ name }) => name)
for (const name of drawn(names, 2))
  test(`an algorithm in which is wrong: ${name}`, async (t) => {
    const mistake = agreementMistakes.find((each) => each.name === name)!
    const first = isWhole ? 1 : (late[name] ?? 1)
    const { violation, seeds } = await playAgreementMistake({ mistake, first, seeds: SEEDS_MAX })
    assert.notEqual(violation, undefined, mistake.breaks)
    t.diagnostic(`found out by ${mistake.order ?? `seed ${first + seeds - 1}`}: ${violation!}`)
  })
