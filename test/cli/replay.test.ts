import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { aether, aetherWith } from './command-line.ts'

const script = fileURLToPath(new URL('./fixtures/counting-rank.js', import.meta.url))
const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
let directory: string

/** What two ranks record of a page that they count on in turn: one file each. */
before(() => {
  directory = mkdtempSync(join(tmpdir(), 'aether-replay-'))
  const { status, stdout, stderr } = aetherWith({ AETHER_RECORD: directory }, 'run', '-n', '2', script)
  assert.equal(status, 0, stderr)
  assert.match(stdout, /counted 100/)
})

after(() => rmSync(directory, { recursive: true }))

const fileOf = (rank: number): string => {
  const name = readdirSync(directory).find((each) => each.startsWith(`numbers-rank-${rank}-`))
  assert.ok(name, `rank ${rank} recorded nothing`)
  return join(directory, name)
}

test('what real members recorded is replayed to the end, and is private to the user', () => {
  for (const rank of [0, 1]) {
    assert.equal(statSync(fileOf(rank)).mode & 0o777, 0o600)
    const { status, stdout, stderr } = aether('replay', fileOf(rank))
    assert.equal(status, 0, stdout + stderr)
    assert.match(stdout, new RegExp(`Region 'numbers', mesi, rank ${rank} of 2`))
    assert.match(stdout, /\d+ steps, each as it was recorded/)
  }
})

test('chosen steps are shown, in words and as JSON', () => {
  const { status, stdout } = aether('replay', '--page', '2', '--to', '40', fileOf(1))
  assert.equal(status, 0)
  assert.match(stdout, /a thread wants to write page 2/)
  assert.match(stdout, /-> rank 0: GetModified of page 2/)
  assert.match(stdout, /from rank 0: (DataModified|Grant) of page 2/)
  const json = aether('replay', '--json', '--from', '1', '--to', '2', fileOf(1))
  const steps = json.stdout.trimEnd().split('\n')
  assert.deepEqual(
    steps.map((line) => JSON.parse(line).index),
    [1, 2],
  )
})

test('it can be stepped through, forwards', () => {
  const options = { encoding: 'utf8', input: '\n3\n1\np\nq\n' } as const
  const { status, stdout } = spawnSync(process.execPath, [main, 'replay', '--step', fileOf(0)], options)
  assert.equal(status, 0)
  assert.match(stdout, /^step 0> 0 {2}/m)
  assert.match(stdout, /step 1> 3 {2}/)
  assert.match(stdout, /a replay goes forwards only/)
  assert.match(stdout, /page {2}copy {2}directory/)
})

test('a violated assertion is shown with the steps before it', () => {
  const path = fileOf(1)
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  const stray = JSON.stringify([1, 'receive', [[22, 2, 0, 1, 0]], [], 0, 'x'])
  const broken = join(directory, 'broken.jsonl')
  writeFileSync(broken, `${[...lines.slice(0, 8), stray].join('\n')}\n`)
  const { status, stdout } = aether('replay', broken)
  assert.equal(status, 1)
  assert.match(stdout, /violated: .*has no transition for WriteBack/)
  assert.equal(stdout.match(/^\d+ {2}/gm)?.length, Math.min(lines.length, 8))
})

test('bad arguments are refused, and a file that is none', () => {
  assert.equal(aether('replay').status, 2)
  assert.equal(aether('replay', '--to', 'x', 'file').status, 2)
  const { status, stderr } = aether('replay', '/nowhere/file')
  assert.equal(status, 1)
  assert.match(stderr, /\/nowhere\/file: cannot be read: ENOENT/)
  assert.doesNotMatch(stderr, /\n {4}at /)
})
