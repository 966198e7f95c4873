import assert from 'node:assert/strict'
import { test } from 'node:test'
import { graphNamed } from '../../../../tools/agreement/graph/graphs.ts'
import { hbo } from '../../../../tools/agreement/graph/hbo.ts'
import { hboOutcome } from './hbo-support.ts'

const SEEDS = 2000
/**
 * Seven without shared memory need most: where three have crashed, the four others have to draw equal coins, which they
 * do in one round of eight. The probability that they have not in 80 rounds is 0.00002.
 */
const ROUNDS_MAX = 80

for (const [name, processes] of [
  ['none', 3],
  ['none', 7],
  ['ring', 5],
  ['ring', 12],
  ['hypercube', 8],
  ['random-3', 10],
  ['margulis', 9],
  ['complete', 6],
] as const)
  test(`${name} of ${processes}, ${SEEDS} seeds: in 99.9 % of them all correct decide within ${ROUNDS_MAX} rounds, and agree`, () => {
    let late = 0
    let most = 0
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const played = hboOutcome({ algorithm: hbo, neighbours: graphNamed(name, processes, seed), seed })
      assert.equal(played.violation, undefined, `seed ${seed}`)
      assert.ok(played.messages <= 2 * processes ** 2 * played.rounds + processes * (processes - 1))
      most = Math.max(most, played.rounds)
      if (!played.isOver || played.rounds > ROUNDS_MAX) late += 1
    }
    console.log(`${late} of ${SEEDS} seeds were late; the most rounds were ${most}`)
    assert.ok(late <= SEEDS / 1000)
  })
