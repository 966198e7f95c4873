import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ElectionPlay } from '../../../../tools/agreement/graph/election-play.ts'
import { omegaFairLossy, omegaReliable } from '../../../../tools/agreement/graph/omega.ts'
import { playPaced } from '../../../../tools/agreement/graph/paced-play.ts'
import type { Algorithm } from '../../../../tools/agreement/model/algorithm.ts'
import { drawn } from '../../../support/drawn.ts'
import { type ElectionMistake, electionCanaries, electionMistakes } from './election-mistakes.ts'
import { electionFault, oneTimely, slowInTurns } from './election-support.ts'

const SEEDS_MAX = 300
const CANARY_SEEDS = 25

const names = electionMistakes.map((mistake) => mistake.name)
const TIMELY = 2

interface Shown {
  readonly found: string | undefined
  readonly seeds: number
}

function shownBySeeds(algorithm: Algorithm, seedsMax: number): Shown {
  const lossPercent = algorithm.name === omegaFairLossy.name ? 60 : 0
  for (let seed = 1; seed <= seedsMax; seed += 1) {
    const found = electionFault({ algorithm, seed, lossPercent, leniently: true })
    if (found !== undefined) return { found, seeds: seed }
  }
  return { found: undefined, seeds: seedsMax }
}

/** All others are slower and slower: the one that is in time has to lead. */
function shownByOneTimely(algorithm: Algorithm): Shown {
  const { world } = new ElectionPlay(algorithm, 3)
  playPaced(world, 20_000, oneTimely(TIMELY))
  const leads = world.leaders.every((leader) => leader === TIMELY)
  return { found: leads ? undefined : `leaders are ${world.leaders.join()}`, seeds: 1 }
}

function shownBySlowTurns(algorithm: Algorithm): Shown {
  const play = new ElectionPlay(algorithm, 3)
  playPaced(play.world, 12_000, slowInTurns(3))
  return { found: play.instability(15_000, slowInTurns(3)), seeds: 1 }
}

function shown(algorithm: Algorithm, by: ElectionMistake['shownBy'], seedsMax: number): Shown {
  if (by === 'seeds') return shownBySeeds(algorithm, seedsMax)
  return by === 'one timely' ? shownByOneTimely(algorithm) : shownBySlowTurns(algorithm)
}

for (const name of drawn(names, 6))
  test(`found out: ${name}`, () => {
    const { algorithm, shownBy } = electionMistakes.find((each) => each.name === name)!
    const { found, seeds } = shown(algorithm, shownBy, SEEDS_MAX)
    assert.notEqual(found, undefined)
    console.log(`${name}: ${found}, by seed ${seeds}`)
  })

for (const { name, algorithm } of [
  ...electionCanaries,
  { name: 'the algorithm itself', algorithm: omegaReliable },
  { name: 'the algorithm itself, over links that lose messages', algorithm: omegaFairLossy },
])
  test(`not found out, because it is harmless: ${name}`, () => {
    for (const by of ['seeds', 'one timely', 'slow in turns'] as const)
      assert.equal(shown(algorithm, by, CANARY_SEEDS).found, undefined, by)
  })
