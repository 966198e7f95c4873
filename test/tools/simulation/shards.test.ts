/** Shards of an index that move in virtual time, whatever goes wrong. `npm run simulate -- index` runs more. */
import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { foundingConfiguration } from '../../../src/consensus/index.ts'
import { openSimulatedCluster } from '../../../src/providers/index.ts'
import { withMistake } from '../../../tools/simulation/replicas/mistake-hooks.ts'
import { simulatedSettings } from '../../../tools/simulation/replicas/simulated-replica.ts'
import { playShardMistake, runShardSeeds, shardCanary, shardMistakes } from '../../../tools/simulation/shards/index.ts'
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
