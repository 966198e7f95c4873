import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import test from 'node:test'
import { root } from '../repository/checkout.ts'

const options = process.platform === 'linux' ? {} : { skip: 'shared memory needs Linux' }

test('the library: a client and a server of remote calls, in two processes', options, () => {
  const script = join(root, 'dist/examples/rpc/main.js')
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8', timeout: 60_000 })
  assert.equal(stderr, '')
  assert.equal(status, 0, stdout)
  assert.deepEqual(stdout.trimEnd().split('\n'), [
    "{ title: 'Emma', copies: 0 }",
    'no copy of Emma is here before Friday',
    '4',
    'Dune 2',
    'Emma 3',
    'Ulysses 1',
    'Dune: 2',
    'Faust: unknown',
    "{ title: 'Dune', copies: 1 }",
    '0',
    '1048576 7 7',
  ])
})
