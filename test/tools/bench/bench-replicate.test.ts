import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aether } from '../../cli/command-line.ts'

test('bench replicate measures replicas, parked, spinning, in the program and on disks, and a bare WRITE', () => {
  const options = ['--time-ms', '5', '--processes', '3', '--sizes', '64', '--peers', 'none', '--json']
  const { status, stdout, stderr } = aether('bench', 'replicate', ...options)
  assert.equal(status, 0, stderr)
  const rows = JSON.parse(stdout) as readonly {
    op: string
    provider: string
    opsPerSec: number
    p50Ns: number
    ratio: number | null
  }[]
  const both = ['one-3', 'many-3']
  const expected = [
    ...['aether', 'aether spinning', 'aether in the program', 'aether on disk'].flatMap((provider) =>
      both.map((op) => `${op}, ${provider}`),
    ),
    'one-3, bare WRITE',
  ]
  assert.deepEqual(
    rows.map(({ op, provider }) => `${op}, ${provider}`),
    expected,
  )
  for (const { op, provider, opsPerSec, p50Ns, ratio } of rows) {
    assert.ok(opsPerSec > 0 && p50Ns > 0, `${op} of ${provider}`)
    assert.equal(ratio === null, provider === 'aether', `${op} of ${provider}`)
  }
})

test('bench replicate --kills measures how long it takes until another leads, stage by stage', () => {
  const options = ['--kills', '1', '--processes', '3', '--sizes', '64', '--json']
  const { status, stdout, stderr } = aether('bench', 'replicate', ...options)
  assert.equal(status, 0, stderr)
  const rows = JSON.parse(stdout) as readonly { op: string; provider: string; p50Ns: number; maxNs: number }[]
  assert.deepEqual(new Set(rows.map(({ op }) => op)), new Set(['fail-over-3']))
  const longest = new Map(rows.map(({ provider, maxNs }) => [provider, maxNs]))
  const stages = ['candidate', 'promised', 'caught up', 'decided'].map((stage) => longest.get(`until ${stage}`)!)
  assert.deepEqual(
    stages,
    stages.toSorted((one, other) => one - other),
  )
  assert.ok(longest.get('last answer to first')! > 0 && longest.get('SIGKILL to first answer')! > 0)
})

test('a number of replicas that is even is refused', () => {
  const { status, stderr } = aether('bench', 'replicate', '--processes', '4')
  assert.equal(status, 2)
  assert.match(stderr, /replicas are an odd number/)
})
