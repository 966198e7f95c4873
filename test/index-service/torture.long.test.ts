/**
 * Nodes are killed, stopped and begun again from seeds while clients work, and shards move.
 *
 * What it has found: voters that a leader never met kept their place (seed 7, 3 shards), and one that followed left a
 * shard while it was made a voter (seed 9, 5 nodes, 3 shards).
 */
import { test } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { drawnSeeds } from '../support/drawn.ts'
import { Machines } from '../support/machines.ts'
import { SmallDisks } from '../support/small-disks.ts'
import { IndexTorture } from './support/torture.ts'

useRuntimeDirectory()

const TIME_MS = 60_000

for (const [at, seed] of drawnSeeds(20, 10).entries()) {
  const shards = at % 2 === 0 ? 3 : 1
  const nodes = at % 4 === 0 ? 5 : 3
  const what = `${nodes} nodes with ${shards} shards are killed and stopped`
  test(`${what}: calls have an order, and nothing is lost (seed ${seed})`, async () => {
    console.log(await IndexTorture.run({ seed, shards, nodes, timeMs: TIME_MS }))
  })
}

for (const seed of drawnSeeds(4, 4))
  test(`nodes whose disks are full now and then are killed and stopped (seed ${seed})`, {
    skip: SmallDisks.reasonAgainst() ?? false,
  }, async () => {
    using disks = new SmallDisks()
    await disks.begun()
    console.log(await IndexTorture.run({ seed, shards: 2, timeMs: TIME_MS, disks }))
  })

for (const seed of drawnSeeds(4, 4))
  test(`nodes of three machines are killed, stopped and cut off, and answers are lost on the way (seed ${seed})`, {
    skip: Machines.reasonAgainst(),
  }, async () => {
    using machines = new Machines(4, 3)
    console.log(machines.networks.disturb())
    console.log(await IndexTorture.run({ seed, shards: 2, timeMs: TIME_MS, machines }))
  })
