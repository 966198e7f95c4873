import assert from 'node:assert/strict'
import { test } from 'node:test'
import { omegaFairLossy, omegaReliable } from '../../../../tools/agreement/graph/omega.ts'
import { deadLinks, electionFault, slowLinks } from './election-support.ts'

const SEEDS = 1500

for (const [algorithm, lossPercent] of [
  [omegaReliable, 0],
  [omegaFairLossy, 10],
  [omegaFairLossy, 80],
] as const) {
  test(`${algorithm.name}, ${lossPercent} % of messages lost, ${SEEDS} seeds: stable after any disorder`, () => {
    for (let seed = 1; seed <= SEEDS; seed += 1)
      assert.equal(electionFault({ algorithm, seed, lossPercent }), undefined, `seed ${seed}`)
  })

  test(`${algorithm.name}, ${lossPercent} % of messages lost: stable however slow links are`, () => {
    for (let seed = 1; seed <= SEEDS / 10; seed += 1) {
      const scene = { algorithm, seed, lossPercent, pace: slowLinks(400), stableAt: 8000 }
      assert.equal(electionFault(scene), undefined, `seed ${seed}`)
    }
  })
}

test(`over fair-lossy links, ${SEEDS} seeds: stable where no message ever arrives`, () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const scene = { algorithm: omegaFairLossy, seed, lossPercent: 100, pace: deadLinks }
    assert.equal(electionFault(scene), undefined, `seed ${seed}`)
  }
})
