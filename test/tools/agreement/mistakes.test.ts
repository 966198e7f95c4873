import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { agreementCanary, agreementMistakes } from '../../../tools/agreement/mistakes.ts'
import { playAgreementMistake } from '../../../tools/agreement/play-mistake.ts'
import { withMistake } from '../../../tools/simulation/replicas/mistake-hooks.ts'
import { drawn } from '../../support/drawn.ts'

const SEEDS_MAX = 20_000

test('each mistake has a name of its own, and changes something that is there exactly once', () => {
  const all = [agreementCanary, ...agreementMistakes]
  assert.equal(new Set(all.map(({ name }) => name)).size, all.length)
  for (const mistake of all) {
    const text = readFileSync(new URL(`../../../tools${mistake.module}`, import.meta.url), 'utf8')
    assert.notEqual(withMistake(text, mistake), text, mistake.name)
  }
})

test('what changes nothing violates nothing', async () => {
  const report = await playAgreementMistake({ mistake: agreementCanary, first: 1, seeds: 1000 })
  assert.deepEqual(report, { violation: undefined, seeds: 1000 })
})

const names = agreementMistakes.map(({ name }) => name)
for (const name of drawn(names, 2))
  test(`an algorithm in which is wrong: ${name}`, async (t) => {
    const mistake = agreementMistakes.find((each) => each.name === name)!
    const { violation, seeds } = await playAgreementMistake({ mistake, first: 1, seeds: SEEDS_MAX })
    assert.notEqual(violation, undefined, mistake.breaks)
    t.diagnostic(`found out by seed ${seeds}: ${violation!}`)
  })
