/** Replicas are killed, stopped and begun again every few hundred milliseconds under load: all calls have an order. */
import { test } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { Machines } from '../support/machines.ts'
import { ReplicaTorture } from './support/replica-torture.ts'

useRuntimeDirectory()

const CALLS = 2000
const ACTIONS = 20
/** Much, for busy machines, and longer than any is stopped for. */
const LEASE_MS = 4000

for (const replicas of [3, 5])
  for (const onDisks of [false, true]) {
    const seed = replicas * 10 + Number(onDisks)
    const where = onDisks ? 'disks' : 'memory'
    test(`${replicas} replicas of one machine in ${where} are killed and stopped (seed ${seed})`, async () => {
      console.log(await ReplicaTorture.run({ seed, replicas, onDisks, calls: CALLS, actions: ACTIONS }))
    })
  }

for (const replicas of [3, 5])
  test(`replicas on ${replicas} machines are killed and stopped, and cables lose packets (seed ${replicas})`, {
    skip: Machines.reasonAgainst(),
  }, async () => {
    using machines = new Machines(replicas)
    console.log(machines.networks.disturb())
    const plan = { seed: replicas, replicas, machines, leaseMs: LEASE_MS }
    console.log(await ReplicaTorture.run({ ...plan, calls: CALLS, actions: ACTIONS }))
  })
