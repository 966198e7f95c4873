import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import test from 'node:test'
import { root } from '../repository/checkout.ts'

const options = process.platform === 'linux' ? {} : { skip: 'shared memory needs Linux' }

interface Report {
  readonly answered: number
  readonly cut: number
  readonly killed: number
  readonly started: number
  readonly sessions: number
  readonly lost: readonly string[]
  readonly tickets: number
  readonly refusals: number
  readonly asked: number
  readonly catalogues: number
}

test(
  'a cluster whose workers are killed under load loses no session, and gives out the tickets that there are',
  options,
  () => {
    const words = [
      '--requests',
      '400',
      '--connections',
      '5',
      '--workers',
      '3',
      '--kills',
      '2',
      '--tickets',
      '50',
      '--json',
    ]
    const script = join(root, 'dist/examples/cluster-sessions/main.js')
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...words], {
      encoding: 'utf8',
      timeout: 240_000,
    })
    assert.equal(stderr, '')
    const report = JSON.parse(stdout) as Report
    assert.equal(status, 0, stdout)
    assert.deepEqual(report.lost, [])
    assert.equal(report.killed, 2)
    assert.equal(report.sessions, 5)
    assert.ok(report.answered > 350 && report.answered + report.cut >= 400, stdout)
    assert.ok(report.tickets <= 50 && report.tickets + report.cut >= 50, stdout)
    assert.ok(report.catalogues <= 3, 'those that came later found what the first ones had made')
  },
)
