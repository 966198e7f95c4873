import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const skip = process.platform === 'linux' ? false : 'shared memory needs Linux'

/** What an example of that name prints. */
function outputOf(example: string, ...before: string[]): string {
  const script = fileURLToPath(new URL(`../../examples/${example}.js`, import.meta.url))
  const { status, stdout, stderr } = spawnSync(process.execPath, [...before, script], {
    encoding: 'utf8',
    timeout: 60_000,
  })
  assert.equal(status, 0, stderr)
  assert.equal(stderr, '')
  return stdout
}

test('counter.ts counts exactly', { skip }, () => {
  assert.equal(outputOf('counter'), '3 processes added 1 100000 times each: 300000\n')
})

test('verbs.ts writes and reads', { skip }, () => {
  assert.equal(outputOf('verbs'), 'request 7: success\nwritten without the other processor\n')
})
