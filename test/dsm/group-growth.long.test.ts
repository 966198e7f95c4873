import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { Machines } from '../support/machines.ts'
import { GrowingRank, killAndRestart } from './growing-group.ts'

useRuntimeDirectory()

test('three processes of a group that grows, each killed and restarted ten times under load', async () => {
  await killAndRestart('killed-ten-times', 10)
})

const skip = Machines.reasonAgainst()

test('three machines with a process each, which are killed and restarted ten times under load', { skip }, async () => {
  using machines = new Machines(3)
  await killAndRestart('killed-everywhere', 10, machines)
})

/** Until then a cable may be plugged again, and connections of the group go on. */
const BROKEN_MS = 15_000

test('a member that was cut off and waits keeps no one from joining the others', { skip }, async () => {
  using machines = new Machines(3)
  const options = { ...machines.joinOptions, leaseMs: 1500, onQuorumLost: 'wait' }
  const joinOn = async (machine: number): Promise<GrowingRank> => {
    const { environment, under } = await machines.place(machine)
    const member = new GrowingRank(environment, under)
    await member.call('join', 'waits', { ...options, timeoutMs: 20_000 })
    return member
  }
  const members: GrowingRank[] = []
  for (const machine of [0, 1, 2]) members.push(await joinOn(machine))
  await Promise.all(members.map((each) => each.call('barrier')))
  machines.networks.unplug(0)
  await sleep(BROKEN_MS)
  machines.networks.plug(0)
  // The first seed is that of the one that waits, and knows too little to let anyone in.
  const others = [...members.slice(1), await joinOn(1)]
  assert.deepEqual(await Promise.all(others.map((each) => each.call('barrier'))), Array(3).fill([1, 2, 3]))
})
