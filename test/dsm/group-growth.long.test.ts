import { test } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { killAndRestart } from './growing-group.ts'

useRuntimeDirectory()

test('three processes of a group that grows, each killed and restarted ten times under load', async () => {
  await killAndRestart('killed-ten-times', 10)
})
