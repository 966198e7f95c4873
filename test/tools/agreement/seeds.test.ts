import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { algorithms, playSeed } from '../../../tools/agreement/index.ts'

/** Byzantine algorithms take a hundred times as many steps. */
const seedsOf = { crash: 1000, byzantine: 40 } as const

for (const algorithm of algorithms)
  test(`${algorithm.name}: seeds decide once, on one value that was proposed, whoever fails`, () => {
    for (let seed = 1; seed <= seedsOf[algorithm.failures]; seed += 1) {
      const { violation, liars } = playSeed(algorithm, seed)
      assert.equal(violation, undefined, `seed ${seed}${liars.map((liar) => `, ${liar}`).join('')}`)
    }
  })
