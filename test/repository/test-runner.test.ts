import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { root, SeededTree } from './checkout.ts'

interface Outcome {
  readonly status: number | null
  readonly output: string
  /** What `--report=report.json` wrote, as `file: name`. */
  readonly reported: readonly string[]
}

/**
 * Run the test runner on compiled tests given as text: name without `.test.js` -> program. A name that ends in `.js` is
 * a module that they import.
 */
function runTests(programs: Readonly<Record<string, string>>, ...arguments_: string[]): Outcome {
  const files: Record<string, string> = {}
  for (const [name, program] of Object.entries(programs)) {
    const isModule = name.endsWith('.js')
    if (!isModule) files[`test/${name}.test.ts`] = ''
    files[`dist/test/${isModule ? name : `${name}.test.js`}`] = `import test from 'node:test'\n${program}\n`
  }
  using tree = new SeededTree(files)
  cpSync(join(root, 'scripts/test.mjs'), join(tree.path, 'scripts/test.mjs'))
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env
  const result = spawnSync(process.execPath, ['scripts/test.mjs', ...arguments_], {
    cwd: tree.path,
    encoding: 'utf8',
    env: environment,
  })
  const report = join(tree.path, 'report.json')
  const { tests } = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : { tests: [] }
  const reported = tests.map(({ file, name }: Readonly<Record<string, string>>) => `${file}: ${name}`)
  return { status: result.status, output: result.stdout + result.stderr, reported }
}

const passing = "test('fine', () => {})"

test('what passes and what is skipped is counted, and reasons are printed', () => {
  const skipping = "test('not here', { skip: 'no device' }, () => {})"
  const { status, output } = runTests({ 'cli/good': `${passing}\n${skipping}` })
  assert.match(output, /skipped: not here: no device\n/)
  assert.match(output, /\n1 passed, 0 failed, 1 skipped\n$/)
  assert.equal(status, 0)
})

test('a failing test, a crashing file and a file without tests each fail the run', () => {
  const { status, output } = runTests({
    good: passing,
    wrong: "test('wrong', () => { throw new Error('no') })",
    crash: "test('dies', () => { process.kill(process.pid, 'SIGSEGV') })",
    empty: '',
  })
  assert.match(output, /ended by SIGSEGV/)
  assert.match(output, /without running a test/)
  assert.match(output, /\n1 passed, 3 failed, 0 skipped\n$/)
  assert.equal(status, 1)
})

test('a file that does not end is stopped with everything that it started', () => {
  const blocked = [
    "import { spawn } from 'node:child_process'",
    "spawn('sleep', ['1000'], { stdio: 'inherit' })",
    "test('blocks', () => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0) })",
  ].join('\n')
  const { status, output } = runTests({ blocked }, '--timeout-ms=6000')
  assert.match(output, /did not end within 6000 ms/)
  assert.match(output, /Left behind by a test, now killed: process \d+: sleep 1000/)
  assert.equal(status, 1)
})

test('no test at all is a failure, and a filter chooses by path', () => {
  const none = runTests({ good: passing }, 'nowhere')
  assert.match(none.output, /No test file whose path contains nowhere/)
  assert.equal(none.status, 1)
  const one = runTests({ 'cli/good': passing, 'dsm/bad': "test('wrong', () => { throw new Error('no') })" }, 'test/cli')
  assert.match(one.output, /\n1 passed, 0 failed, 0 skipped\n$/)
})

test('stress tests run alone, after the others', () => {
  const mark = (name: string) =>
    `import { appendFileSync } from 'node:fs'\ntest('${name}', () => { appendFileSync('order', '${name} ') })`
  const shown = `import { readFileSync } from 'node:fs'\ntest('order', () => { if (!readFileSync('order', 'utf8').startsWith('z ')) throw new Error('too early') })`
  const { output } = runTests({ 'a.stress': shown, z: mark('z') })
  assert.match(output, /\n2 passed, 0 failed, 0 skipped\n$/)
})

test('long tests run where they are asked for, and nothing else then', () => {
  const programs = { quick: passing, 'slow.long': "test('takes long', () => {})" }
  assert.match(runTests(programs).output, /✔ fine[\s\S]*\n1 passed, 0 failed, 0 skipped\n$/)
  assert.match(runTests(programs, '--long').output, /✔ takes long[\s\S]*\n1 passed, 0 failed, 0 skipped\n$/)
})

test('tests that a module defines, and tests within them, are counted for the file that was run', () => {
  const shared = "export const define = (name) => test(name, (t) => t.test('within', () => {}))"
  const user = (name: string, more = '') => `import { define } from './shared.js'\ndefine('${name}')\n${more}`
  const slow = "test('slow', () => new Promise((resolve) => setTimeout(resolve, 500)))"
  const failing = "test('wrong', () => { throw new Error('no') })"
  const programs = { 'shared.js': shared, a: user('one', slow), b: user('two'), c: user('three', failing) }
  const { output, reported } = runTests(programs, '--report=report.json')
  assert.deepEqual(reported, [
    'test/a.test.ts: within',
    'test/a.test.ts: one',
    'test/a.test.ts: slow',
    'test/b.test.ts: within',
    'test/b.test.ts: two',
    'test/c.test.ts: within',
    'test/c.test.ts: three',
    'test/c.test.ts: wrong',
  ])
  assert.match(output, /\nfailed: test\/c\.test\.ts: wrong\n/)
  assert.match(output, /\n7 passed, 1 failed, 0 skipped\n$/)
})
