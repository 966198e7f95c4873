import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { checkTrace } from '../../src/profiling/index.ts'
import { aether } from './command-line.ts'

const directory = mkdtempSync(join(tmpdir(), 'aether-trace-'))
after(() => rmSync(directory, { recursive: true, force: true }))
const profiling = new URL('../../src/profiling/index.js', import.meta.url).href
const script = fileURLToPath(new URL('./fixtures/ending-rank.js', import.meta.url))
const program = fileURLToPath(new URL('../../examples/three-hops.js', import.meta.url))

test('run --trace writes one file of all ranks and says so; trace says what is in it', () => {
  const file = join(directory, 'run.json')
  // Of an earlier run.
  writeFileSync(`${file}.1.0.part`, 'stale\n')
  const { status, stdout, stderr } = aether('run', '-n', '3', '--trace', file, program)
  assert.equal(status, 0, stderr)
  assert.equal(stdout, '[0] plugh xyzzy\n')
  assert.match(stderr, /^aether: .*run\.json: \d+ events of 3 processes, 2 linked to their effects\n$/)
  assert.deepEqual(readdirSync(directory), ['run.json'])
  const told = aether('trace', file)
  assert.equal(told.status, 0)
  assert.match(told.stdout, /^\d+ events of rank \d, rank \d, rank \d\n2 flows, 0 slices without an end, 0 events/)
  const summary = JSON.parse(aether('trace', '--json', file).stdout) as object
  assert.deepEqual(summary, JSON.parse(JSON.stringify(checkTrace(readFileSync(file, 'utf8')))))
})

test('parts that nobody has put together become a file by trace', () => {
  const file = join(directory, 'parts.json')
  const environment = { ...process.env, AETHER_TRACE_FILE: file, AETHER_TRACE_LEVEL: 'INFO' }
  const program = `const { traceChannel } = await import(${JSON.stringify(profiling)})
    traceChannel('dsm').publish(3, 'a')`
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { env: environment })
  assert.equal(String(stderr), '')
  const { status, stdout } = aether('trace', file)
  assert.equal(status, 0)
  assert.match(stdout, /parts\.json: 1 events of 1 processes, 0 linked to their effects\n/)
  assert.deepEqual(
    readdirSync(directory).filter((name) => name.startsWith('parts.json')),
    ['parts.json'],
  )
})

test('a file that is none, a command line that is none, and hosts with --trace are refused', () => {
  const none = aether('trace', join(directory, 'none.json'))
  assert.equal(none.status, 1)
  assert.match(none.stderr, /^aether: .*none\.json cannot be read as a trace: ENOENT.*\n$/)
  const wrong = join(directory, 'wrong.json')
  writeFileSync(wrong, '{"traceEvents":[{"ph":"Q","pid":1,"tid":1,"ts":1,"name":"a"}]}')
  const checked = aether('trace', wrong)
  assert.equal(checked.status, 1)
  assert.match(checked.stdout, /the phase is not used here/)
  assert.equal(aether('trace').status, 2)
  assert.equal(aether('bench', 'latency', '--trace', wrong).status, 2)
  assert.equal(aether('run', '--hosts', 'a:1', '--trace', wrong, script).status, 2)
  assert.match(
    aether('run', '-n', '1', '--trace', '/nowhere/t.json', script).stderr,
    /\/nowhere is not a writable directory/,
  )
})
