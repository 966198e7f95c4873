/** Every mistake has to be found out, by a seed that is the same in each run. */
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { playShardMistake, shardCanary, shardMistakes } from '../../../tools/simulation/shards/index.ts'

const CANARY_SEEDS = Array.from({ length: 40 }, (_, seed) => seed + 1)

for (const mistake of shardMistakes)
  test(`found out: ${mistake.name}, with which ${mistake.breaks}`, async () => {
    const { violation } = await playShardMistake(mistake, [mistake.seed])
    assert.notEqual(violation, undefined)
  })

test(`violates nothing: ${shardCanary.name}`, async () => {
  assert.equal((await playShardMistake(shardCanary, CANARY_SEEDS)).violation, undefined)
})
