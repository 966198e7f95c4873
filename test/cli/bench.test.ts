import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { benchBandwidth } from '../../src/cli/bench/bandwidth.ts'
import { type BenchOptions, benchLatency } from '../../src/cli/bench/latency.ts'
import { benchMessaging } from '../../src/cli/bench/messaging.ts'
import { rowOf } from '../../src/cli/bench/row.ts'
import { benchRpc } from '../../src/cli/bench/rpc.ts'

const OPERATIONS = ['compare-swap', 'fetch-add', 'ipc', 'memcpy', 'read', 'send', 'write']

for (const [name, bench, operations] of [
  ['latency', benchLatency, [...OPERATIONS, 'write-seen']],
  ['bandwidth', benchBandwidth, OPERATIONS],
  ['messaging', benchMessaging, ['ipc', 'message', 'message-loop', 'message-stream', 'send', 'socket']],
  [
    'rpc',
    (options: BenchOptions) => benchRpc({ ...options, depths: [1, 8], clients: [2] }),
    [
      'call-1',
      'call-8',
      'call-sync',
      'clients-2',
      'ipc-1',
      'ipc-8',
      'object-64',
      'object-sync',
      'socket-1',
      'socket-8',
    ],
  ],
] as const) {
  test(`bench ${name} measures every operation and orders its percentiles`, async () => {
    const rows = await bench({ sizes: [8, 4096], timeMs: 2 })
    assert.deepEqual([...new Set(rows.map((row) => row.op))].sort(), operations)
    for (const row of rows) {
      assert.ok(row.p50Ns > 0 && row.p50Ns <= row.p99Ns && row.p99Ns <= row.maxNs, JSON.stringify(row))
      assert.ok(row.opsPerSec > 0 && row.cpuNsPerOp >= 0, JSON.stringify(row))
    }
  })
}

test('a row is per operation: batch means, and the slowest batch laid on one operation', () => {
  const batchNs = Float64Array.from([...new Array<number>(99).fill(1000), 5000])
  const row = rowOf('write', 'shm', 8, { batchSize: 10, batchNs, cpuNs: 104_000 })
  assert.deepEqual([row.p50Ns, row.p99Ns, row.maxNs], [100, 500, 4100])
  assert.equal(row.cpuNsPerOp, 104)
  assert.equal(row.opsPerSec, Math.round(1e9 / 104))
})
