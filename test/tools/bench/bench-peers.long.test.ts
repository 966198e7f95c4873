/** Benchmarks beside every peer that is here. */
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { benchLatency } from '../../../tools/bench/latency.ts'
import { benchMessaging } from '../../../tools/bench/messaging.ts'
import { benchOps } from '../../../tools/bench/ops/ops.ts'
import { benchReplicate } from '../../../tools/bench/replicate/replicate.ts'
import type { BenchRow } from '../../../tools/bench/row.ts'
import { benchRpc } from '../../../tools/bench/rpc.ts'
import { checkTimes } from './support.ts'

const waysInLoops = ['shm', 'child_process', 'Unix socket']
const calls = ['call-1', 'call-8', 'clients-2']

test('bench messaging measures messages and streams, and each peer that is here beside them', async () => {
  const absent: string[] = []
  const rows = await benchMessaging({ sizes: [64], timeMs: 2, onMissing: (peer) => absent.push(peer) })
  for (const row of rows) checkTimes(row)
  const peers = new Map<string, readonly string[]>([
    ...waysInLoops.map((name) => [name, ['message-loop', 'stream-loop']] as const),
    ...['gRPC', 'Redis'].flatMap((name) =>
      absent.includes(name) ? [] : [[name, ['message-loop', 'stream-loop']] as const],
    ),
    ...(absent.includes('libfabric') ? [] : [['libfabric', ['message']] as const]),
    ...(absent.includes('UCX') ? [] : [['UCX', ['message', 'message-stream']] as const]),
    ['memory', ['memcpy']] as const,
  ])
  peers.set('shm', ['message', 'message-loop', 'message-stream', 'send', 'stream-loop'])
  assert.deepEqual(worksBy(rows), peers)
  const beside = rows.filter(({ provider }) => provider !== 'shm')
  assert.ok(beside.every(({ ratio, baseline }) => ratio! > 0 && baseline!.endsWith(', shm')))
})

test('bench rpc measures calls of one and of several client processes, and each peer that is here beside them', async () => {
  const absent: string[] = []
  const rows = await benchRpc({
    sizes: [64],
    timeMs: 2,
    depths: [1, 8],
    clients: [2],
    onMissing: (peer) => absent.push(peer),
  })
  for (const row of rows) checkTimes(row)
  const peers = new Map<string, readonly string[]>([
    ...waysInLoops.map((name) => [name, calls] as const),
    ...['gRPC', 'Redis'].flatMap((name) => (absent.includes(name) ? [] : [[name, calls] as const])),
    ['memory', ['memcpy']],
  ])
  peers.set('shm', [...calls, 'call-sync', 'object-64', 'object-sync', 'send-return', 'write-return'].sort())
  assert.deepEqual(worksBy(rows), peers)
})

test('bench replicate measures replicas and a bare WRITE, and each peer that is here beside them', async () => {
  const absent: string[] = []
  const onMissing = (peer: string): void => void absent.push(peer)
  const rows = await benchReplicate({ sizes: [64], timeMs: 2, processes: [3], onMissing })
  for (const row of rows) checkTimes(row)
  const both = ['many-3', 'one-3']
  const expected = new Map<string, readonly string[]>([
    ...['aether', 'aether spinning', 'aether on disk'].map((name) => [name, both] as const),
    ['bare WRITE', ['one-3']],
    ...['Redis', 'etcd'].flatMap((name) => (absent.includes(name) ? [] : [[name, both] as const])),
  ])
  assert.deepEqual(worksBy(rows), expected)
})

test('bench ops measures coherent memory and calls of several processes, and each peer that is here beside them', async () => {
  const absent: string[] = []
  const onMissing = (peer: string): void => void absent.push(peer)
  const rows = await benchOps({ sizes: [64], timeMs: 1, processes: [2], onMissing })
  for (const row of rows) checkTimes(row)
  const memory = ['reads-2', 'writes-2']
  const expected = new Map<string, readonly string[]>([
    ...['hardware', 'directory'].map((name) => [name, memory] as const),
    ...(absent.includes('Redis') ? [] : [['Redis', ['calls-2', ...memory]] as const]),
    ...(absent.includes('lmdb') ? [] : [['lmdb', memory] as const]),
    ['arrays', ['array-gets-2', 'array-sets-2']],
    ['shm', ['calls-2']],
  ])
  assert.deepEqual(worksBy(rows), expected)
  for (const { op, provider, baseline } of rows) {
    const own = op.startsWith('calls') ? 'shm' : 'hardware'
    const isOwn = provider === own || provider === 'arrays'
    assert.equal(baseline, isOwn ? null : `${op}, ${own}`, provider)
  }
})

test('bench latency measures libfabric where it is here, beside a SEND, and only where it is wanted', async () => {
  const absent: string[] = []
  const small = { sizes: [8], timeMs: 1 }
  const rows = await benchLatency({ ...small, onMissing: (peer) => absent.push(peer) })
  const beside = rows.filter(({ provider }) => provider.startsWith('libfabric'))
  assert.equal(beside.length, absent.includes('libfabric') ? 0 : 1)
  for (const row of beside) {
    assert.match(row.provider, /^libfabric \d+\.\d+/)
    assert.deepEqual([row.op, row.p50Ns, row.baseline], ['send', null, 'send, shm'])
    assert.ok(row.ratio! > 0)
  }
  const without = await benchLatency({ ...small, peers: [] })
  assert.ok(without.every(({ provider }) => !provider.startsWith('libfabric')))
})

function worksBy(rows: readonly BenchRow[]): Map<string, string[]> {
  const names = rows.map(({ provider }) => provider.replace(/ [\d.]+( (with|in|on) .*)?$/, ''))
  return new Map(
    [...new Set(names)].map((name) => [
      name,
      [...new Set(rows.flatMap(({ op }, at) => (names[at] === name ? [op] : [])))].sort(),
    ]),
  )
}
