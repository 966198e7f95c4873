import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { root } from '../repository/checkout.ts'
import { publicCallables } from './callables.ts'
import type { Fault } from './caller.ts'
import { excluded } from './excluded.ts'

/** An end for a program that hangs, on a busy machine. */
const PROGRAM_MS_MAX = 300_000
const SEED = 1
const FAULTS_SHOWN = 20

const program = fileURLToPath(new URL('fixtures/bad-arguments.js', import.meta.url))
const directory = mkdtempSync(join(tmpdir(), 'bad-arguments-'))
const callablesFile = join(directory, 'callables.json')
const lastCallFile = join(directory, 'last-call')
const callables = publicCallables(root)
writeFileSync(callablesFile, JSON.stringify(callables))
after(() => rmSync(directory, { recursive: true }))

for (const door of new Set(callables.map((callable) => callable.door))) {
  test(`${door}: wrong arguments are refused with typed errors that say what to pass`, () => {
    const args = [program, callablesFile, door, `${SEED}`, '', lastCallFile]
    // A path that is made of a wrong value is in here, and goes with it.
    const options = { encoding: 'utf8', timeout: PROGRAM_MS_MAX, maxBuffer: 2 ** 28, cwd: directory } as const
    const { status, signal, stdout, stderr } = spawnSync(process.execPath, args, options)
    const last = () => `${signal ?? status} at ${readFileSync(lastCallFile, 'utf8').trim()}\n${stderr}`
    assert.equal(status, 0, last())
    const { calls, faults } = JSON.parse(stdout) as { calls: number; faults: readonly Fault[] }
    const shown = faults.slice(0, FAULTS_SHOWN).map(({ call, why }) => `${call}\n    ${why}`)
    assert.equal(
      faults.length,
      0,
      `${faults.length} of ${calls} calls; by hand: node ${args.join(' ')}\n${shown.join('\n')}`,
    )
    assert.ok(calls > 0)
  })
}

test('what is left out is there to be left out', () => {
  for (const { names } of excluded)
    assert.ok(
      callables.some(({ name }) => names.test(name)),
      `${names}`,
    )
})
