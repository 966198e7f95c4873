import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { benchMessaging } from '../../../tools/bench/messaging.ts'
import { benchRpc } from '../../../tools/bench/rpc.ts'
import { checkTimes } from './support.ts'

test('bench messaging measures messages that are too long for the ring from 64 KiB on, beside memcpy', async () => {
  const rows = await benchMessaging({ sizes: [64, 65_536, 200_000], timeMs: 1, peers: [] })
  const found = rows.filter(({ op }) => op.startsWith('rendezvous'))
  for (const row of found) checkTimes(row)
  assert.deepEqual(
    found.map(({ op, bytes, provider, baseline }) => [op, bytes, provider, baseline]),
    [65_536, 200_000].flatMap((bytes) => [
      ['rendezvous', bytes, 'shm', null],
      ['rendezvous-placed', bytes, 'shm', 'rendezvous, shm'],
    ]),
  )
  for (const { bytes } of found) assert.ok(rows.some((row) => row.op === 'memcpy' && row.bytes === bytes))
})

test('bench rpc measures calls with buffers from 64 KiB on, each beside the same bytes in the body of a call, and memcpy', async () => {
  const rows = await benchRpc({ sizes: [8, 65_536, 100_000], timeMs: 1, depths: [], clients: [], peers: [] })
  const ofBytes = rows.filter(({ op }) => /^(rdma|body)-/.test(op))
  for (const row of ofBytes) checkTimes(row)
  const found = ofBytes.map(({ op, bytes, baseline }) => [op, bytes, baseline])
  const expected = [65_536, 100_000].flatMap((bytes) => [
    ['rdma-source', bytes, 'body-request, shm'],
    ['body-request', bytes, null],
    ['rdma-target', bytes, 'body-answer, shm'],
    ['body-answer', bytes, null],
  ])
  assert.deepEqual(found, expected)
  const copied = rows.filter(({ op }) => op === 'memcpy').map(({ bytes }) => bytes)
  assert.deepEqual(copied, [8, 65_536, 100_000])
})

test('peers that nobody asks for are not measured', async () => {
  const rows = await benchRpc({ sizes: [8], timeMs: 1, depths: [1], clients: [1], peers: ['socket'] })
  assert.deepEqual([...new Set(rows.map(({ provider }) => provider))].sort(), ['Unix socket', 'memory', 'shm'])
})
