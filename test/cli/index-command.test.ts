/** `aether index`: what it shows, writes and restores, and what its errors say. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { connectIndex, type IndexNodeFigures } from '../../src/public/index-service.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { aether } from './command-line.ts'

useRuntimeDirectory()
const folder = mkdtempSync(join(tmpdir(), 'aether-test-index-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

async function serve(name: string, ...args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [main, 'serve', name, ...args])
  after(() => child.kill('SIGKILL'))
  let said = ''
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (text: Buffer) => {
      said += String(text)
      if (/serving index/.test(said)) resolve()
    })
    child.on('exit', () => reject(new Error(said)))
  })
}

test('an index is shown, written to a file, and restored into another one', async () => {
  const [name, other] = [`cli-${process.pid}`, `cli-other-${process.pid}`]
  await serve(name, '--shards', '3', '--memory', '64MiB')
  await serve(other)
  await using index = await connectIndex(name)
  await Promise.all(Array.from({ length: 50 }, (_, key) => index.set(`key ${key}`, 'value')))
  const shown = aether('index', 'show', name)
  assert.equal(shown.status, 0, shown.stderr)
  assert.match(shown.stdout, /node +process +leads +holds +keys +memory +of +waiting +evicted +slow\n/)
  assert.match(shown.stdout, /\n +0 +\d+ +3 +3 +50 +\S+ \S+ +64(\.0)? MiB +0 +0 +\d+\n/)
  const nodes = JSON.parse(aether('index', 'show', name, '--json').stdout) as IndexNodeFigures[]
  assert.deepEqual(
    nodes.map(({ shards }) => shards.reduce((keys, shard) => keys + shard.keys, 0)),
    [50],
  )
  const sizes = aether('index', 'sizes', name, '--separator', ' ')
  assert.equal(sizes.status, 0, sizes.stderr)
  assert.match(sizes.stdout, /memory +keys +database +prefix\n +\S+ \S+ +50 +0 +key\n/)
  const inJson = JSON.parse(aether('index', 'sizes', name, '--separator', ' ', '--json').stdout) as {
    prefixes: { prefix: string; keys: number }[]
  }
  assert.deepEqual(
    inJson.prefixes.map(({ prefix, keys }) => [prefix, keys]),
    [['key ', 50]],
  )
  assert.match(aether('index', 'hot', name, '--for', '1').stdout, /uses +database +key\n/)
  // Longer than the 10 ms of the default.
  const script = Array.from({ length: 100_000 }, () => 'x')
  await index.setAt('many').add(...script.map((text, at) => text + at))
  await index.call('SORT', 'many', 'ALPHA')
  const slow = aether('index', 'slow', name, '--count', '2')
  assert.match(
    slow.stdout,
    /time \(UTC\) +took +node +client +command\n +\d{4}-\d\d-\d\d \S+ +\S+ m?s +0 +client \d+ +SORT many ALPHA\n/,
  )
  await index.delete('many')
  const file = join(folder, 'shop.index')
  const backup = aether('index', 'backup', file, name)
  assert.equal(backup.status, 0, backup.stderr)
  assert.match(backup.stdout, /shop\.index: \S+ \S*B\n/)
  assert.ok(statSync(file).size > 500)
  const restored = aether('index', 'restore', file, other)
  assert.deepEqual([restored.stdout, restored.status], ['restored 50 keys\n', 0], restored.stderr)
  await using copy = await connectIndex(other)
  assert.equal(await copy.getText('key 49'), 'value')
  const again = aether('index', 'restore', file, other)
  assert.equal(again.status, 1)
  assert.match(again.stderr, /has 50 keys; restore into one that is empty, or pass merge: true/)
  assert.equal(aether('index', 'restore', file, other, '--merge').status, 0)
})

test('a node that serves notes what took as long as it was told, until that is reset', async () => {
  const name = `cli-slow-${process.pid}`
  await serve(name, '--slow-ms', '0')
  await using index = await connectIndex(name)
  await index.set('quick', 1)
  assert.match(aether('index', 'slow', name).stdout, /SET quick 1\n/)
  assert.match(aether('index', 'slow', name, '--reset').stdout, /SET quick 1\n/)
  assert.doesNotMatch(aether('index', 'slow', name).stdout, /SET quick/)
  assert.match(aether('serve', name, '--slow-ms', '-1').stderr, /--slow-ms/)
})

test('errors name the fix', () => {
  const file = join(folder, 'none.index')
  writeFileSync(file, 'nonsense')
  for (const [args, words, code] of [
    [[], /say what to do: show, slow, hot, sizes, backup, restore/, 2],
    [['backups'], /there is no 'npx aether-dsm index backups'/, 2],
    [['hot', 'a', 'b'], /'b' is one word too many/, 2],
    [['sizes', '--separator', ''], /--separator must not be empty/, 2],
    [['hot', '--for', '0'], /--for/, 2],
    [['backup'], /say to which file: aether index backup FILE/, 2],
    [['show', 'a', 'b'], /'b' is one word too many/, 2],
    [['show', '--address', 'nowhere'], /options.addresses\[0\]/, 1],
  ] as const) {
    const { status, stderr } = aether('index', ...args)
    assert.match(stderr, words)
    assert.equal(status, code, stderr)
  }
})
