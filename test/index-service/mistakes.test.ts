/** The tests of the index find mistakes that were made on purpose. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { drawn } from '../support/drawn.ts'
import { ROOM, withMistake } from './mistakes/mistake-hooks.ts'
import { canary, type IndexMistake, mistakes } from './mistakes/mistakes.ts'

const hooks = new URL('./mistakes/mistake-hooks.js', import.meta.url).href
/** A test that hangs has found something, too. Without a mistake it has more time. */
const TIMEOUT_MS = 45_000
const CANARY_MS = 120_000
/** Of the mistakes, these are found by tests that take a while: only `npm run test:long` plays them. */
const SLOW = ['index-service/backup.test', 'index-service/commands/differential.test']

/** Run a test with a mistake: true if it fails. */
async function fails(mistake: IndexMistake, file: string): Promise<boolean> {
  const preload = `import { register } from 'node:module'; register('${hooks}', { data: ${JSON.stringify(mistake)} })`
  const url = `data:text/javascript,${encodeURIComponent(preload)}`
  const path = fileURLToPath(new URL(`../${file}.js`, import.meta.url))
  const child = spawn(process.execPath, ['--import', url, path], {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  let said = ''
  child.stderr.on('data', (text: Buffer) => {
    said += String(text)
  })
  const late = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), mistake === canary ? CANARY_MS : TIMEOUT_MS)
  const [status] = (await once(child, 'exit')) as [number | null]
  clearTimeout(late)
  assert.doesNotMatch(said, /mistake '.*' occurs|ERR_MODULE_NOT_FOUND/)
  return status !== 0
}

async function isFound(mistake: IndexMistake): Promise<boolean> {
  for (const file of mistake.tests) if (await fails(mistake, file)) return true
  return false
}

test('each mistake has a name of its own, and changes something that is there exactly once', () => {
  const all = [...mistakes, canary]
  assert.ok(mistakes.length >= 20)
  assert.equal(new Set(all.map(({ name }) => name)).size, all.length)
  const text = readFileSync(new URL(`../..${ROOM}`, import.meta.url), 'utf8')
  for (const mistake of all) assert.notEqual(withMistake(text, mistake), text, mistake.name)
})

test('what changes nothing is not found', async () => {
  assert.equal(await isFound(canary), false)
})

const isWhole = process.env['AETHER_TEST_VALUES'] === 'all'
const quick = mistakes.filter(({ tests }) => !tests.some((file) => SLOW.includes(file)))
for (const mistake of isWhole ? mistakes : drawn(quick, 2))
  test(`an index in which is wrong: ${mistake.name}`, async () => {
    assert.equal(await isFound(mistake), true, mistake.breaks)
  })
