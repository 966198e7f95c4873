/** A space that is kept over a gap: by a process of its own, or by `aether keep`. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { open, type Space } from '../../src/public/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'

useRuntimeDirectory()
const cli = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

/** The process of the member that is not of this process. */
function keeperOf(space: Space): number {
  const others = space.members().filter(({ processId }) => processId !== process.pid)
  assert.equal(others.length, 1)
  return others[0]!.processId
}

async function put(name: string, keep: string): Promise<number> {
  await using space = await open(name, { keep })
  await using region = await space.openRegion('numbers', { size: 4096 })
  region.int32[0] = 7
  return keeperOf(space)
}

async function numberIn(name: string): Promise<number> {
  await using space = await open(name)
  await using region = await space.openRegion('numbers', { size: 4096 })
  return region.int32[0]!
}

const parentOf = (processId: number): number =>
  Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${processId}/status`, 'latin1'))?.[1])

async function ended(processId: number): Promise<void> {
  for (let looks = 0; ; looks += 1) {
    try {
      process.kill(processId, 0)
    } catch {
      return
    }
    assert.ok(looks < 3000, `process ${processId} does not end`)
    await sleep(10)
  }
}

test('a space with keep stays when its last process has gone, and ends in time', async () => {
  const keeper = await put('kept', '1s')
  assert.equal(await numberIn('kept'), 7)
  await ended(keeper)
  assert.equal(await numberIn('kept'), 0)
})

test('its time begins again when a process has come and gone, and one keeper is enough', async () => {
  const keeper = await put('kept', '1500ms')
  for (let visit = 0; visit < 3; visit += 1) {
    await sleep(800)
    await using space = await open('kept', { keep: '1h' })
    assert.equal(keeperOf(space), keeper)
    await using region = await space.openRegion('numbers')
    assert.equal(region.int32[0], 7)
  }
  await ended(keeper)
})

test('a keeper that is killed is replaced by the next open with keep', async () => {
  const first = await put('kept', '1h')
  await using space = await open('kept')
  process.kill(first, 'SIGKILL')
  await ended(first)
  await using second = await open('kept', { keep: '500ms' })
  const keeper = second.members().find(({ processId }) => processId !== process.pid)!.processId
  assert.notEqual(keeper, first)
  await second.close()
  await space.close()
  await ended(keeper)
})

test('the keeper is no descendant of who started it, so that it outlives a manager that ends a whole tree', async () => {
  await using space = await open('kept', { keep: '500ms' })
  const keeper = keeperOf(space)
  const ancestors: number[] = []
  for (let processId = keeper; processId > 0; processId = parentOf(processId)) ancestors.push(processId)
  assert.ok(!ancestors.includes(process.pid), ancestors.join(', '))
  await space.close()
  await ended(keeper)
})

test('keep is a length of time, and a space in a directory needs none', async () => {
  for (const keep of ['soon', 0, -5, Number.NaN])
    await assert.rejects(open('kept', { keep }), { name: 'ArgumentError', argument: 'options.keep' })
})

async function said(child: ChildProcess, text: RegExp): Promise<void> {
  let out = ''
  for await (const chunk of child.stdout!) {
    out += chunk
    if (text.test(out)) return
  }
  assert.fail(`it ended and said: ${out}`)
}

test('aether keep keeps a space until it is ended, or for some time', async () => {
  const child = spawn(process.execPath, [cli, 'keep', 'kept'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = once(child, 'exit')
  await said(child, /^keeping space 'kept' \(process \d+\)$/m)
  await numberIn('kept')
  {
    await using space = await open('kept')
    await using region = await space.openRegion('numbers')
    region.int32[0] = 9
  }
  assert.equal(await numberIn('kept'), 9)
  child.kill('SIGTERM')
  assert.deepEqual(await exit, [0, null])
  assert.equal(await numberIn('kept'), 0)
  const brief = spawnSync(process.execPath, [cli, 'keep', 'kept', '--for', '50ms'], { encoding: 'utf8' })
  assert.equal(brief.status, 0, brief.stderr)
  for (const args of [['keep'], ['keep', 'kept', '--for', 'soon']]) {
    const { status, stderr } = spawnSync(process.execPath, [cli, ...args], { encoding: 'utf8' })
    assert.ok(status === 2 || status === 1, stderr)
    assert.match(stderr, /name of the space is missing|--for must be/)
  }
})
