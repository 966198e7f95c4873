import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exactTolerance } from '../../../../tools/agreement/graph/expansion.ts'
import { exploreHbo } from '../../../../tools/agreement/graph/explore-hbo.ts'
import { hboOf } from '../../../../tools/agreement/graph/hbo.ts'
import { drawn } from '../../../support/drawn.ts'
import { type HboMistake, hboCanary, hboMistakes, mistaken } from './hbo-mistakes.ts'
import { allInputs, hboOutcome, setsOf } from './hbo-support.ts'

/** More than twice as many as the rarest mistake takes. */
const SEEDS_MAX = 3000
const CANARY_SEEDS = 200

const names = hboMistakes.map((mistake) => mistake.name)

type Suspect = Omit<HboMistake, 'shownBy'>

/** What exploration says of a mistake: with equal inputs, without crashes, and with as many as the graph withstands. */
function shownByExploration({ process, graph }: Suspect): string | undefined {
  const algorithm = mistaken(process)
  const all = allInputs(graph.length)
  const plays = [
    { inputs: [all[0]!], crashed: [] },
    ...[[], ...setsOf(graph.length, exactTolerance(graph))].map((crashed) => ({ inputs: all, crashed })),
  ]
  for (const { inputs, crashed } of plays) {
    const { violation, hasDeadlock } = exploreHbo({ algorithm, neighbours: graph, inputs, crashed, stagesMax: 12 })
    if (violation !== undefined) return violation
    if (hasDeadlock) return `all wait for ever; crashed: ${crashed.join() || 'none'}`
  }
  return undefined
}

/** What seeds say of a mistake, and how many it took. */
function shownBySeeds(
  { process, graph, crashes }: Suspect,
  seedsMax = SEEDS_MAX,
): { found: string | undefined; seeds: number } {
  const algorithm = mistaken(process)
  for (let seed = 1; seed <= seedsMax; seed += 1) {
    const { violation, isOver } = hboOutcome({
      algorithm,
      neighbours: graph,
      seed,
      ...(crashes === undefined ? {} : { crashes: crashes(seed) }),
    })
    if (violation !== undefined) return { found: violation, seeds: seed }
    if (!isOver) return { found: 'a correct process never decides', seeds: seed }
  }
  return { found: undefined, seeds: seedsMax }
}

for (const name of drawn(names, 3))
  test(`found out: ${name}`, () => {
    const mistake = hboMistakes.find((each) => each.name === name)!
    if (mistake.shownBy === 'exploration') {
      const found = shownByExploration(mistake)
      assert.notEqual(found, undefined)
      console.log(`${mistake.name}: ${found}`)
    } else {
      const { found, seeds } = shownBySeeds(mistake)
      assert.notEqual(found, undefined)
      console.log(`${mistake.name}: ${found}, by seed ${seeds}`)
    }
  })

test(`not found out, because it is harmless: ${hboCanary.name}`, () => {
  assert.equal(shownByExploration(hboCanary), undefined)
  for (const { crashes } of hboMistakes) {
    const suspect = { ...hboCanary, ...(crashes === undefined ? {} : { crashes }) }
    assert.equal(shownBySeeds(suspect, CANARY_SEEDS).found, undefined)
  }
})

test('the algorithm itself is not found out, where each mistake is looked for', () => {
  const { create } = hboOf({ rounds: 64 })
  const process = create(0, { processes: 1, memories: 1 }).constructor as HboMistake['process']
  const graphs = new Set(hboMistakes.map(({ graph }) => graph).filter(({ length }) => length < 5))
  for (const graph of graphs) assert.equal(shownByExploration({ name: 'none', process, graph }), undefined)
})
