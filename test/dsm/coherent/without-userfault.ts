import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

/** Run test files of this folder where userfaultfd is refused: none fails, at least as many pass. What they said. */
export async function passWithoutUserfault(suites: readonly string[], passesMin: number): Promise<string> {
  const files = suites.map((name) => fileURLToPath(new URL(`./${name}.test.js`, import.meta.url)))
  // Not told to be a part of this test's own run.
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env
  const child = spawn(process.execPath, ['--test', '--test-reporter=tap', '--test-concurrency=1', ...files], {
    env: { ...environment, AETHER_USERFAULT: 'off' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (chunk) => (said += chunk))
  const [code] = await once(child, 'close')
  const count = (what: string): number => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(said)?.[1] ?? -1)
  assert.equal(code, 0, said)
  assert.equal(count('fail'), 0)
  assert.ok(count('pass') >= passesMin, said)
  return said
}
