import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { aether } from './command-line.ts'

useRuntimeDirectory()
const bouncing = fileURLToPath(new URL('./fixtures/bouncing-rank.js', import.meta.url))
const ending = fileURLToPath(new URL('./fixtures/ending-rank.js', import.meta.url))
const left = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('aether-advise-'))

const told =
  /aether: region 'grid': a page bounces between ranks\n {2}false sharing, taken away [\d,]+ times: ranks 0 and 1 alternate in page 0, bytes 0-63 and 64-127\n {4}pad to 4 KiB, or place by rank/

for (const [how, status] of [
  ['end', 0],
  ['exit', 0],
  ['killed', 137],
] as const)
  test(`run --advise tells of pages that bounced, the worst region first; ranks that ${how}`, () => {
    const before = left()
    const policy = how === 'killed' ? ['--on-failure', 'continue'] : []
    const run = aether('run', '-n', '2', '--advise', ...policy, bouncing, how)
    assert.equal(run.status, status, run.stderr)
    assert.match(run.stderr, told)
    assert.ok(run.stderr.indexOf("'grid'") < run.stderr.indexOf("region 'quiet': no page bounces"), run.stderr)
    assert.doesNotMatch(run.stderr, /nothing is known about/)
    assert.deepEqual(
      left().filter((name) => !before.includes(name)),
      [],
    )
  })

test('run --advise says where there is nothing to advise on', () => {
  const { status, stderr } = aether('run', '-n', '2', '--advise', ending, 'none')
  assert.equal(status, 0)
  assert.match(stderr, /aether: no advice: the ranks opened no coherent region/)
})

test('run --advise is refused with hosts', () => {
  const { status, stderr } = aether('run', '--hosts', 'a:1', '--advise', ending)
  assert.equal(status, 2)
  assert.match(stderr, /--advise is for one machine/)
})
