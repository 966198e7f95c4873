/** Saves of one instant, of structures that other processes change all the time. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { open } from '../../src/public/index.ts'
import { openStructures } from '../../src/public/structures.ts'
import { HeaderOffset } from '../../src/structures/heap/layout.ts'
import { ownerWord } from '../../src/structures/peers.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { openSteps } from './fixtures/steps.ts'

useRuntimeDirectory()
const scratch = mkdtempSync(join(tmpdir(), 'aether-consistent-'))
after(() => rmSync(scratch, { recursive: true }))
const stepping = fileURLToPath(new URL('./fixtures/stepping.js', import.meta.url))
const SAVES = 4

/** Start processes that step in the space, and end them afterwards. */
async function whileStepping(name: string, numbers: string[], act: (children: ChildProcess[]) => Promise<void>) {
  const children = numbers.map((number) =>
    spawn(process.execPath, [stepping, name, number], { stdio: ['ignore', 'pipe', 'inherit'] }),
  )
  try {
    await Promise.all(children.map((child) => once(child.stdout, 'data')))
    await act(children)
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await Promise.all(children.map((child) => (child.exitCode ?? child.signalCode) === null && once(child, 'close')))
  }
}

/** What a save says of the steps of a process. */
async function countsIn(name: string, file: string, number: string): Promise<readonly number[]> {
  await using space = await open(name, { save: { file } })
  await using steps = await openSteps(space, number)
  return steps.counts()
}

/** Counts of one instant: none before a later one, and all of the same step or the one before. */
function isOfOneInstant(counts: readonly number[]): boolean {
  return counts.every((count, at) => at === 0 || count <= counts[at - 1]!) && counts[0]! - counts.at(-1)! <= 1
}

test('all structures of all regions are of one instant', async () => {
  const files: string[] = []
  await whileStepping('stepping', ['1', '2', '3'], async () => {
    await using space = await open('stepping')
    for (let save = 0; save < SAVES; save += 1) {
      files.push(join(scratch, `instant ${save}`))
      await space.save({ file: files.at(-1)!, consistent: true })
    }
  })
  for (const file of files)
    for (const number of ['1', '2', '3']) {
      const counts = await countsIn('stepping', file, number)
      assert.ok(isOfOneInstant(counts), `${file}, process ${number}: ${counts}`)
      assert.ok(counts.at(-1)! > 0)
    }
})

test('a process that is stopped in the middle of its operations holds up no save', async () => {
  const file = join(scratch, 'stopped')
  await whileStepping('stopping', ['1', '2'], async ([first]) => {
    await using space = await open('stopping')
    for (let round = 0; round < 5; round += 1) {
      first!.kill('SIGSTOP')
      await space.save({ file, consistent: true })
      first!.kill('SIGCONT')
    }
  })
  for (const number of ['1', '2']) assert.ok(isOfOneInstant(await countsIn('stopping', file, number)))
})

test('a gate whose process is gone is opened by the first who comes', async () => {
  await using space = await open('gone')
  await using structures = await openStructures(space)
  const counter = await structures.counter('counter')
  const other = await open('gone')
  await using region = await space.openRegion('structures')
  const { slot, epoch } = other.membership.self
  await other.close()
  Atomics.store(region.int32, HeaderOffset.Gate / 4, ownerWord(slot, epoch))
  const began = performance.now()
  assert.equal(counter.addSync(), 1)
  assert.ok(performance.now() - began < 4000)
  assert.equal(Atomics.load(region.int32, HeaderOffset.Gate / 4), 0)
})

test('a gate whose process is stopped is opened after its time', async () => {
  await using space = await open('late')
  await using structures = await openStructures(space)
  const counter = await structures.counter('counter')
  await using other = await open('late')
  await using region = await space.openRegion('structures')
  const { slot, epoch } = other.membership.self
  Atomics.store(region.int32, HeaderOffset.Gate / 4, ownerWord(slot, epoch))
  assert.equal(counter.addSync(), 1)
  assert.equal(Atomics.load(region.int32, HeaderOffset.Gate / 4), 0)
})

test('if structures change at every look, it fails after its time, leaves nothing closed, and the next one works', async (context) => {
  await using space = await open('restless')
  await using structures = await openStructures(space, { size: '2MiB' })
  await using more = await openStructures(space, { region: 'more', size: '2MiB' })
  const [counter, other] = [await structures.counter('counter'), await more.counter('other')]
  counter.setSync(0x1234_5678)
  await using region = await space.openRegion('structures')
  await using second = await space.openRegion('more')
  const gates = [region, second].map(
    ({ int32 }) =>
      () =>
        Atomics.load(int32, HeaderOffset.Gate / 4),
  )
  const place = region.int32.indexOf(0x1234_5678)
  assert.ok(place > 0)
  const closed = new Set<string>()
  // As a member would that is in the middle of an operation, and never comes to the gate.
  const read = fs.readSync
  const changing = context.mock.method(fs, 'readSync', (...args: Parameters<typeof read>) => {
    Atomics.add(region.int32, place, 1)
    closed.add(gates.map((gate) => (gate() === 0 ? 'open' : 'closed')).join())
    return read(...args)
  })
  syncBuiltinESMExports()
  const file = join(scratch, 'restless')
  await assert.rejects(space.save({ file, consistent: true }), {
    code: 'ERR_AETHER_TIMEOUT',
    message: /^there was no moment .*save without consistent.*space 'restless'$/,
  })
  changing.mock.restore()
  syncBuiltinESMExports()
  assert.ok(closed.has('closed,closed'), 'the gates were closed meanwhile')
  assert.deepEqual(
    gates.map((gate) => gate()),
    [0, 0],
  )
  assert.equal(existsSync(file), false)
  assert.equal(other.addSync(), 1)
  const before = counter.getSync()
  assert.equal((await space.save({ file, consistent: true })).structures, 2)
  assert.equal(counter.getSync(), before)
})

test('repeated saves can be of one instant, too', async () => {
  const file = join(scratch, 'repeated')
  await whileStepping('repeating', ['1'], async () => {
    await using space = await open('repeating', { save: { file, every: 50, consistent: true } })
    await sleep(300)
    await space.save()
  })
  assert.ok((await countsIn('repeating', file, '1')).at(-1)! > 0)
})

test('wrong options are refused', async () => {
  await using space = await open('wrong')
  const file = join(scratch, 'wrong')
  await assert.rejects(space.save({ file, consistent: 1 as unknown as boolean }), {
    code: 'ERR_AETHER_INVALID_ARGUMENT',
  })
  const save = { file, consistent: 'yes' as unknown as boolean }
  await assert.rejects(open('wrong', { save }), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
})
