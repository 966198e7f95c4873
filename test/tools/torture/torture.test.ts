/**
 * Real processes, killed and stopped: one short group of each protocol. `npm run torture` does it for as long as one
 * likes.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { runTorture, type TortureOptions, type TortureResult } from '../../../tools/torture/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'aether-test-torture-'))
process.env['TMPDIR'] = folder
after(() => rmSync(folder, { recursive: true, force: true }))

/**
 * A group of three of which one is killed. A rank that has to wait for its processor is not to be taken for a dead one.
 */
async function oneGroup(options: TortureOptions): Promise<TortureResult> {
  const short = { groups: 1, ranks: 3, killEveryMs: 400, stopEveryMs: 150, stopMsMax: 50, leaseMs: 120_000 }
  const [result, ...others] = await runTorture({ ...short, ...options })
  assert.equal(others.length, 0)
  return result!
}

for (const [coherence, place] of [
  ['mesi', 'machine'],
  ['moesi', 'hosts'],
  ['directory', 'hosts'],
  ['token', 'machine'],
] as const) {
  test(`${coherence}, ${place}: one is killed, others are stopped; nothing stale, torn or lost without a word`, async (t) => {
    const result = await oneGroup({ coherence: [coherence], places: [place] })
    t.diagnostic(JSON.stringify(result))
    assert.deepEqual(result.violations, [])
    assert.deepEqual([result.groups, result.deaths, result.out], [1, 1, 0])
    assert.ok(result.reads >= 2 * 32 - result.lost * 2 && result.stops > 0)
  })
}

test('a memory that is not shared is found out', async () => {
  const memory = new URL('./fixtures/private-memory.js', import.meta.url)
  const found: string[] = []
  // How far each gets is up to the machine.
  for (let seed = 1; seed <= 4 && found.length === 0; seed += 1)
    found.push(...(await oneGroup({ coherence: ['mesi'], places: ['machine'], pages: 2, memory, seed })).violations)
  assert.match(found.join('\n'), /stale: |lost update: /)
})

test('nothing is left behind', () => assert.deepEqual(readdirSync(folder), []))
