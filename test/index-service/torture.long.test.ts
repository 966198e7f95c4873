/** Nodes are killed, stopped and begun again from seeds while clients work, and shards move. */
import { test } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { drawnSeeds } from '../support/drawn.ts'
import { IndexTorture } from './support/torture.ts'

useRuntimeDirectory()

const TIME_MS = 60_000

for (const [at, seed] of drawnSeeds(20, 10).entries()) {
  const shards = at % 2 === 0 ? 3 : 1
  test(`nodes with ${shards} shards are killed and stopped: calls have an order, and nothing is lost (seed ${seed})`, async () => {
    console.log(await IndexTorture.run(seed, shards, TIME_MS))
  })
}
