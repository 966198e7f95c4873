import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { benchBandwidth } from '../../../tools/bench/bandwidth.ts'
import { benchLatency } from '../../../tools/bench/latency.ts'
import { benchMessaging } from '../../../tools/bench/messaging.ts'
import { opsRow } from '../../../tools/bench/ops/ops-row.ts'
import { parsePingpong } from '../../../tools/bench/peers/fi-pingpong.ts'
import { parseUcx } from '../../../tools/bench/peers/ucx-perftest.ts'
import { type BenchRow, rowOf, withBaselines } from '../../../tools/bench/row.ts'
import { benchRpc } from '../../../tools/bench/rpc.ts'
import { checkTimes } from './support.ts'

const OPERATIONS = ['compare-swap', 'fetch-add', 'ipc', 'memcpy', 'read', 'send', 'write']

for (const [name, bench, operations] of [
  ['latency', benchLatency, [...OPERATIONS, 'write-seen']],
  ['bandwidth', benchBandwidth, [...OPERATIONS, 'read-both', 'write-both'].sort()],
] as const) {
  test(`bench ${name} measures every operation and orders its percentiles`, async () => {
    const rows = await bench({ sizes: [8, 4096], timeMs: 2 })
    assert.deepEqual([...new Set(rows.map((row) => row.op))].sort(), operations)
    for (const row of rows) checkTimes(row)
    // What both ends do at the same time is held against one end alone.
    for (const { op, baseline, ratio } of rows.filter((row) => row.op.endsWith('-both')))
      assert.ok(baseline === `${op.replace('-both', '')}, shm` && ratio !== null && ratio > 0, op)
  })
}

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

test('a row of what processes do together has the rates added, and the times of all', () => {
  const found = [100, 300].map((ns) => ({ op: 'get', ns: Float64Array.of(ns), operations: 10, totalNs: 10 * ns }))
  const { p50Ns, maxNs, opsPerSec, gbPerSec, cpuNsPerOp } = opsRow({ op: 'reads-2', provider: 'x', bytes: 100 }, found)
  assert.deepEqual([p50Ns, maxNs, opsPerSec, gbPerSec, cpuNsPerOp], [300, 300, 13_333_333, 1.33333, null])
})

test('what ucx_perftest prints is read: the line of all messages, not those of a part', () => {
  const head = 'iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr'
  const part = '[thread 0] 578,0.137,1736.777,1736.777,2.25,2.25,576,576'
  const whole = ' 1000,0.373,0.371,0.400,20.57,20.57,2695568,2500000'
  assert.deepEqual(parseUcx('tag_lat', [head, part, whole, ''].join('\n')), { p50Ns: 373, opsPerSec: 2_500_000 })
  assert.deepEqual(parseUcx('tag_bw', [head, whole].join('\n')), { p50Ns: null, opsPerSec: 2_500_000 })
  assert.throws(() => parseUcx('tag_lat', [head, part].join('\n')), /said no figures/)
})

test('what fi_pingpong prints is read: the time of a message', () => {
  const titles = 'bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec'
  assert.equal(
    parsePingpong(`${titles}\n64k     1k      =1k      125m        0.91s    143.57     456.46       0.00\n`),
    456.46,
  )
  for (const wrong of ['', titles, `${titles}\n64 1 2 3 4 5 0.00 7`, 'bytes\n64'])
    assert.throws(() => parsePingpong(wrong), /said no figures/)
})

test('rows are held against what the device does at the same length; streams by the mean time of a message', () => {
  const row = (op: string, provider: string, bytes: number, p50Ns: number | null, opsPerSec: number): BenchRow => ({
    ...{ op, provider, bytes, p50Ns, opsPerSec, p99Ns: null, maxNs: null },
    ...{ quantilesNs: null, gbPerSec: 1, cpuNsPerOp: null },
    ...{ baseline: null, ratio: null },
  })
  const rows = [
    row('call-1', 'shm', 8, 1000, 9),
    row('call-1', 'gRPC', 8, 5000, 9),
    row('call-1', 'gRPC', 16, 5000, 9),
    row('stream', 'shm', 8, 1, 1e6),
    row('stream', 'UCX', 8, null, 2e6),
    row('memcpy', 'memory', 8, 10, 9),
  ]
  assert.deepEqual(
    withBaselines(rows, 'shm', { memcpy: 'call-1' }).map(({ baseline, ratio }) => [baseline, ratio]),
    [
      [null, null],
      ['call-1, shm', 5],
      [null, null],
      [null, null],
      ['stream, shm', 0.5],
      ['call-1, shm', 0.01],
    ],
  )
})

/** What each provider was measured doing, versions left out. */

test('a row is per operation: batch means, and the slowest batch laid on one operation', () => {
  const batchNs = Float64Array.from([...new Array<number>(99).fill(1000), 5000])
  const row = rowOf('write', 'shm', 8, { batchSize: 10, batchNs, cpuNs: 104_000 })
  assert.deepEqual([row.p50Ns, row.p99Ns, row.maxNs], [100, 500, 4100])
  assert.equal(row.cpuNsPerOp, 104)
  assert.equal(row.opsPerSec, Math.round(1e9 / 104))
})
