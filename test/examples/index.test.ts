import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import test from 'node:test'
import { root } from '../repository/checkout.ts'

const options = process.platform === 'linux' ? {} : { skip: 'shared memory needs Linux' }

test('an index of which a node is killed, and another started, loses no count', options, () => {
  const script = join(root, 'dist/examples/index/main.js')
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8', timeout: 120_000 })
  assert.equal(stderr, '')
  assert.equal(status, 0, stdout)
  const numbers = stdout.match(
    /after (\d+) counts\n.*after (\d+) counts\n(\d+) counts were confirmed, of \d+ .* has (\d+)\n$/,
  )
  assert.ok(numbers !== null, stdout)
  const [killedAt, replacedAt, confirmed] = numbers.slice(1).map(Number) as [number, number, number]
  assert.ok(killedAt > 0 && replacedAt >= killedAt && confirmed > replacedAt, stdout)
})
