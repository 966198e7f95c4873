import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { benchRpc } from '../../../tools/bench/rpc.ts'

test('peers that nobody asks for are not measured', async () => {
  const rows = await benchRpc({ sizes: [8], timeMs: 1, depths: [1], clients: [1], peers: ['socket'] })
  assert.deepEqual([...new Set(rows.map(({ provider }) => provider))].sort(), ['Unix socket', 'memory', 'shm'])
})
