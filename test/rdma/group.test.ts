import assert from 'node:assert/strict'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { resources, runOnHosts } from './support/guest-hosts.ts'
import type { Program } from './support/program.ts'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
/** Starting a process with its threads takes a minute in an emulated guest. */
const PATIENCE_MS = 400_000

const run = (...words: readonly string[]): Program => runOnHosts(['a', 'b'], ...words)

test('a group, its region and its arrays work over a real device, and leave nothing behind', async () => {
  const before = resources()
  using program = run(at('../arrays/fixtures/hosts-rank.js'), 'elementwise', 'reductions', 'alongAxes')
  const { status, output } = await program.finished(PATIENCE_MS)
  assert.equal(status, 0, output)
  assert.doesNotMatch(output, /other bits/)
  for (const [rank, bulk] of ['6 7', '1 2'].entries()) {
    assert.match(output, new RegExp(`\\[${rank}\\] counted: 200`))
    assert.match(output, new RegExp(`\\[${rank}\\] alongAxes: same bits`))
    assert.match(output, new RegExp(`\\[${rank}\\] elements: 101 1 2 3 4 100 6 7 8 9`))
    assert.match(output, new RegExp(`\\[${rank}\\] bulk: ${bulk}`))
  }
  assert.deepEqual(resources(), before)
})

test('a rank that is killed is named at once; what it held of the device is given back', async () => {
  const before = resources()
  using program = run('--on-failure', 'continue', at('./two-hosts/fixtures/survivor.js'))
  const processId = (await program.until(/\[1\] process (\d+)/, PATIENCE_MS))[1]
  await program.until(/\[1\] computing/, PATIENCE_MS)
  process.kill(Number(processId), 'SIGKILL')
  const { status, output } = await program.finished(PATIENCE_MS)
  assert.equal(status, 137, output)
  assert.match(output, /\[0\] rank 1 died: its process ended/)
  assert.match(output, /\[0\] barrier: ERR_AETHER_MEMBER_ENDED/)
  assert.match(output, /\[0\] page: ERR_AETHER_PAGE_LOST/)
  assert.match(output, /aether: rank 1 \(process \d+ on b\) was ended by SIGKILL/)
  assert.deepEqual(resources(), before)
})
