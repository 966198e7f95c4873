/** Shards of an index that move in virtual time, whatever goes wrong. `npm run simulate -- index` runs more. */
import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { foundingConfiguration } from '../../../src/consensus/index.ts'
import { openSimulatedCluster } from '../../../src/providers/index.ts'
import { withMistake } from '../../../tools/simulation/replicas/mistake-hooks.ts'
import { simulatedSettings } from '../../../tools/simulation/replicas/simulated-replica.ts'
import {
  planShards,
  playShardMistake,
  runShardSeeds,
  shardCanary,
  shardMistakes,
  simulateShards,
} from '../../../tools/simulation/shards/index.ts'
import { drawn } from '../../support/drawn.ts'
import { openQuietGroup } from './quiet-group.ts'

const BLOCKS = Array.from({ length: 80 }, (_, block) => 1 + 2 * block)
const BLOCK_SEEDS = 2

for (const first of drawn(BLOCKS, 1))
  test(`shards move, from seed ${first} on, and the first takes the same course twice`, async () => {
    const results = await runShardSeeds({ first, seeds: BLOCK_SEEDS, threads: 2 })
    for (const { plan, violation, calls } of results) {
      assert.equal(violation, undefined, `npm run simulate -- index --seed ${plan.seed}`)
      assert.ok(calls > 0)
    }
  })

/**
 * What nodes with directories have shown: one that came back alone, with nothing, began another log; what was decided
 * was to be recorded again, and had been dropped; the leader's rank was not found again.
 */
const FOUND_ON_DISKS = [102, 903, 916]

for (const first of [...FOUND_ON_DISKS, ...drawn(BLOCKS, 1)])
  test(`nodes are killed and begin again from their directories, all of them, too, from seed ${first} on`, async () => {
    const results = await runShardSeeds({ first, seeds: BLOCK_SEEDS, disks: true, threads: 2 })
    for (const { plan, violation, calls } of results) {
      assert.equal(violation, undefined, `npm run simulate -- index --seed ${plan.seed} --disks`)
      assert.ok(calls > 0)
    }
  })

test('clients READ most of what they get, by adapters that tear, and find no torn value', async () => {
  const plan = planShards(1, { oneSided: true, tears: 40, reads: 60, strikes: [], closes: [] })
  const { violation, marks } = await simulateShards(plan)
  assert.equal(violation, undefined)
  const [gets = 0, asked = 0] = [marks.get('answered get'), marks.get('asked to read')]
  assert.ok(2 * asked < gets, `${asked} of ${gets} are asked for`)
})

test('each mistake changes something that is there exactly once', () => {
  for (const mistake of [...shardMistakes, shardCanary]) {
    const text = readFileSync(new URL(`../../..${mistake.module}`, import.meta.url), 'utf8')
    assert.notEqual(withMistake(text, mistake), text, mistake.name)
  }
})

for (const mistake of drawn(shardMistakes, 1))
  test(`an index in which is wrong: ${mistake.name}`, async () => {
    const { violation } = await playShardMistake(mistake, [mistake.seed])
    assert.notEqual(violation, undefined, mistake.breaks)
    console.log(violation!.slice(0, 100))
  })

test('a replica that knows no other sleeps after it has decided, also where its own memory is reached by its device', () => {
  using cluster = openSimulatedCluster(1, { atomics: 'device' })
  const calls = [{ key: 1, input: { type: 'set', value: 1 } as const }]
  const [replica] = openQuietGroup(
    foundingConfiguration([1]),
    { cluster, settings: simulatedSettings, askAgainNs: 30e9 },
    () => [{ number: 1, calls, thinkNs: 1e6 }],
  )
  // As an agent does, it looks at its descriptor whenever it sleeps.
  assert.ok(cluster.runUntil(() => replica!.isFinished))
  cluster.advance(1e6)
  const before = cluster.kernel.events
  cluster.advance(100e6)
  const ticks = 100e6 / simulatedSettings.tickNs
  assert.ok(cluster.kernel.events - before < 20 * ticks, `${cluster.kernel.events - before} events in ${ticks} ticks`)
  replica!.close()
})
