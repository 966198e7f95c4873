import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { test } from 'node:test'
import { canaries, mistakes, playMistake } from '../../../tools/simulation/replicas/index.ts'
import { withMistake } from '../../../tools/simulation/replicas/mistake-hooks.ts'
import { ROOM } from '../../../tools/simulation/replicas/mistakes.ts'
import { drawn } from '../../support/drawn.ts'

const SEEDS_MAX = 500
/**
 * They take minutes, since many seeds do not show them, or what they break goes on for long. Only `npm run test:long`
 * plays them.
 */
const slow = [
  'promise not recorded',
  'entry not marked as taken',
  'snapshot over newer entries',
  'taken before it is',
  'stored though it failed',
  'acceptor not held',
  'history one off',
  'terms without number',
]

const names = mistakes.map((mistake) => mistake.name)
const isWhole = process.env['AETHER_TEST_VALUES'] === 'all'

test('each mistake has a name of its own, and changes something that is there exactly once', () => {
  const all = [...mistakes, ...canaries]
  assert.ok(mistakes.length >= 45)
  assert.equal(new Set(all.map(({ name }) => name)).size, all.length)
  for (const mistake of all) {
    const place = mistake.module === undefined ? `../../..${ROOM}` : `../../../tools${mistake.module}`
    const text = readFileSync(new URL(place, import.meta.url), 'utf8')
    assert.notEqual(withMistake(text, mistake), text, mistake.name)
  }
})

test('what changes nothing violates nothing', async () => {
  for (const mistake of drawn(canaries, 1))
    assert.deepEqual(await playMistake({ mistake, first: 1, seeds: 12 }), { violation: undefined, seeds: 12 })
})

test('those that take minutes are some of them', () => {
  for (const name of slow) assert.ok(names.includes(name), name)
  assert.ok(slow.length < names.length / 2)
})

for (const name of drawn(isWhole ? names : names.filter((each) => !slow.includes(each)), 1))
  test(`a replicated log in which is wrong: ${name}`, async () => {
    const mistake = mistakes.find((each) => each.name === name)!
    const { violation, seeds } = await playMistake({ mistake, first: 1, seeds: SEEDS_MAX })
    assert.notEqual(violation, undefined, mistake.breaks)
    console.log(`found out by seed ${seeds}: ${violation!.slice(0, 100)}`)
  })
