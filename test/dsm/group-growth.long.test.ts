import { test } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { Machines } from '../support/machines.ts'
import { killAndRestart } from './growing-group.ts'

useRuntimeDirectory()

test('three processes of a group that grows, each killed and restarted ten times under load', async () => {
  await killAndRestart('killed-ten-times', 10)
})

const skip = Machines.reasonAgainst()

test('three machines with a process each, which are killed and restarted ten times under load', { skip }, async () => {
  using machines = new Machines(3)
  await killAndRestart('killed-everywhere', 10, machines)
})
