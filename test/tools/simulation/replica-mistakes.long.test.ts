/** Every mistake has to be found out, by seeds that are the same in each run. */
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { canaries, mistakes, playMistake } from '../../../tools/simulation/replicas/index.ts'

const SEEDS_MAX = 500

for (const mistake of mistakes)
  test(`found out: ${mistake.name}, with which ${mistake.breaks}`, async () => {
    const { violation, seeds } = await playMistake({ mistake, first: 1, seeds: SEEDS_MAX })
    assert.notEqual(violation, undefined)
    console.log(`found out by seed ${seeds}: ${violation!.slice(0, 100)}`)
  })

for (const mistake of canaries)
  test(`violates nothing in ${SEEDS_MAX} seeds: ${mistake.name}`, async () => {
    const { violation } = await playMistake({ mistake, first: 1, seeds: SEEDS_MAX })
    assert.equal(violation, undefined)
  })
