import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { aether } from '../../cli/command-line.ts'

const hasRedis = spawnSync('redis-server', ['--version']).status === 0

test('bench jobs measures the shared queue, and BullMQ where a Redis server is', () => {
  const { status, stdout, stderr } = aether('bench', 'jobs', '--time-ms', '5', '--processes', '1', '--json')
  assert.equal(status, 0, stderr)
  const rows = JSON.parse(stdout) as readonly {
    op: string
    provider: string
    opsPerSec: number
    p50Ns: number | null
    ratio: number | null
  }[]
  const own = rows.filter(({ provider }) => provider === 'jobs')
  assert.deepEqual(
    own.map(({ op }) => op),
    ['add', 'work-1', 'start', 'start-next'],
  )
  assert.equal(rows.length, hasRedis ? 14 : 6)
  for (const { op, provider, opsPerSec, p50Ns, ratio } of rows) {
    assert.ok(opsPerSec > 0, `${op} of ${provider}`)
    assert.equal(p50Ns === null, op === 'work-1')
    assert.equal(ratio === null, provider === 'jobs')
  }
})
