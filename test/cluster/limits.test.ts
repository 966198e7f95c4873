import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { useRuntimeDirectory } from './support.ts'

const runtime = useRuntimeDirectory()

/** Runs a fixture under a limit of its shell. */
function under(limit: string, fixture: string, ...words: string[]): { stdout: string; stderr: string } {
  const path = fileURLToPath(new URL(`./fixtures/${fixture}.js`, import.meta.url))
  const script = `ulimit ${limit}; exec "$0" "$@"`
  return spawnSync('sh', ['-c', script, process.execPath, path, ...words], { encoding: 'utf8' })
}

for (const name of ['structures', 'directory', 'join', 'device', 'listen'])
  test(`${name}: with any number of descriptors left it works, or names the limit, and leaves nothing open`, () => {
    const { stdout, stderr } = under('-n 600', 'short-of-descriptors', name, join(runtime, 'kept'))
    assert.match(stdout, /^\{/, stderr)
    const { outcomes, before, after } = JSON.parse(stdout)
    const failures = outcomes.filter((outcome: unknown) => outcome !== 'done')
    assert.ok(failures.length > 0)
    assert.equal(outcomes.at(-1), 'done')
    for (const { code, message } of failures) {
      assert.equal(code, 'ERR_AETHER_SYSTEM')
      assert.match(message, /this process has as many open files as it may have, 600: raise the limit \(ulimit -n\)/)
    }
    assert.deepEqual(after, before)
  })

test('a limit of addresses is named, with how to raise it', () => {
  const { stdout, stderr } = under('-v 4000000', 'short-of-addresses')
  assert.equal(stderr, '')
  const { code, message } = JSON.parse(stdout)
  assert.equal(code, 'ERR_AETHER_SYSTEM')
  assert.match(
    message,
    /ENOMEM.*; the address space of this process is limited to 3906 MiB: raise it \(ulimit -v unlim/,
  )
})
