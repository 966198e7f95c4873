import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import test from 'node:test'
import { root } from '../repository/checkout.ts'

const options = process.platform === 'linux' ? {} : { skip: 'shared memory needs Linux' }

test('a bank whose leading process is killed, and another started, loses neither money nor transfers', options, () => {
  const script = join(root, 'dist/examples/replicated-bank/main.js')
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8', timeout: 120_000 })
  assert.equal(stderr, '')
  assert.equal(status, 0, stdout)
  const [head, ...rows] = stdout.trimEnd().split('\n')
  assert.equal(head, 'teller  confirmed  refused  in the bank')
  assert.equal(rows.pop(), 'sum 1000: nothing was lost')
  assert.equal(rows.length, 4)
  assert.equal(rows.filter((row) => row.endsWith('led, and was killed')).length, 1)
  const counts = rows.map((row) => row.match(/\d+/g)!.map(Number) as [number, number, number, number?])
  for (const [confirmed, , inBank] of counts) assert.ok(confirmed > 0 && inBank >= confirmed, stdout)
  assert.ok(counts[3]![3]! > 0, 'the one that came late was caught up')
})
