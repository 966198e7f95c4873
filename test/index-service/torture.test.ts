/** Nodes are killed, stopped and begun again from a seed while clients work; `torture.long.test.ts` takes longer. */
import { test } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { drawnSeeds } from '../support/drawn.ts'
import { IndexTorture } from './support/torture.ts'

useRuntimeDirectory()

const [seed] = drawnSeeds(10_000, 10_000)

test(`nodes with files are killed and stopped for a while: calls have an order, and nothing is lost (seed ${seed})`, async () => {
  console.log(await IndexTorture.run({ seed: seed!, shards: 1, timeMs: 4000 }))
})
