import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aether, aetherWith } from '../../cli/command-line.ts'

const skip = process.platform === 'linux' ? false : 'the shm device needs Linux'
const keys = [
  'suite',
  'op',
  'provider',
  'bytes',
  'p50Ns',
  'p99Ns',
  'maxNs',
  'quantilesNs',
  'opsPerSec',
  'gbPerSec',
  'cpuNsPerOp',
  'baseline',
  'ratio',
]

test('aether bench prints rows as JSON and nothing else, or as a table', { skip }, () => {
  const json = aether('bench', 'bandwidth', '--json', '--sizes', '8', '--time-ms', '2')
  assert.equal(json.status, 0, json.stderr)
  const rows = JSON.parse(json.stdout) as Record<string, unknown>[]
  assert(rows.length > 0)
  for (const row of rows) assert.deepEqual(Object.keys(row), keys)

  const table = aether('bench', 'latency', '--sizes', '8', '--time-ms', '2')
  assert.equal(table.status, 0, table.stderr)
  assert.match(table.stdout, /^latency on \d+ processors, /)
  assert.match(table.stdout, /\n {2}write +shm +8 B +[\d.]+ (ns|µs|ms) /)
})

test('a device that does not exist is one clear line', { skip }, () => {
  const { status, stdout, stderr } = aether('bench', 'latency', '--json', '--device', 'rxe9')
  assert.equal(status, 1)
  assert.equal(stdout, '')
  assert.match(stderr, /^aether: .*rxe9/)
  assert.equal(stderr.trimEnd().split('\n').length, 1)
})

test('a peer that is not installed is said to be absent, with what to install; the rest is measured', { skip }, () => {
  const nowhere = { PATH: '/nonexistent' }
  const peers = ['--peers', 'socket,Redis,UCX,libfabric', '--sizes', '8', '--time-ms', '1']
  const { status, stdout, stderr } = aetherWith(nowhere, 'bench', 'messaging', '--json', ...peers)
  assert.equal(status, 0, stderr)
  assert.match(stderr, /^without UCX: .*ucx_perftest is not installed .*apt-get install ucx-utils/m)
  assert.match(stderr, /^without libfabric: .*fi_pingpong is not installed .*apt-get install libfabric-bin/m)
  assert.match(stderr, /^without Redis: .*redis-server is not installed .*apt-get install redis-server/m)
  const providers = (JSON.parse(stdout) as { provider: string }[]).map(({ provider }) => provider)
  assert.deepEqual([...new Set(providers)], ['shm', 'Unix socket', 'memory'])
})

test('a peer that nobody knows is refused', { skip }, () => {
  const { status, stderr } = aether('bench', 'rpc', '--peers', 'pigeon')
  assert.equal(status, 2)
  assert.match(stderr, /--peers takes .*, not 'pigeon'/)
})
