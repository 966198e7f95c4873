/** Job queues that are saved and restored: what was to be done is done, and what was held goes to another worker. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { open } from '../../src/public/index.ts'
import { openStructures } from '../../src/public/structures.ts'
import { importSave } from '../../src/saving/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'

useRuntimeDirectory()
const scratch = mkdtempSync(join(tmpdir(), 'aether-saved-jobs-'))
after(() => rmSync(scratch, { recursive: true }))

test('jobs of every state, schedules and ids come back', async () => {
  const file = join(scratch, 'jobs')
  {
    await using space = await open('saved-jobs')
    await using shared = await openStructures(space, { size: '2MiB' })
    const jobs = await shared.jobs<number, string>('jobs', { keepCompletedMs: 600_000 })
    for (const number of [1, 2, 3, 4, 5]) await jobs.add(number)
    await (await jobs.take()).complete('done')
    await (await jobs.take()).fail(new Error('failed'))
    const held = await jobs.take()
    await held.progress(7)
    await jobs.add(6, { delayMs: 600_000 })
    await jobs.add(7, { delayMs: 1 })
    await jobs.repeat('hourly', { everyMs: 3_600_000 }, 8)
    await jobs.pause()
    const { omitted } = await space.save({ file })
    assert.deepEqual(omitted, [])
  }
  await using space = await open('saved-jobs', { save: { file } })
  await using shared = await openStructures(space)
  const jobs = await shared.jobs<number, string>('jobs')
  assert.equal(jobs.isPaused, true)
  await jobs.resume()
  assert.equal(await jobs.result('1'), 'done')
  assert.equal((await jobs.get('2'))?.failure?.message, 'failed')
  const { state, progress, losses } = (await jobs.get('3'))!
  assert.deepEqual([state, progress, losses], ['waiting', 7, 0])
  const { dueInMs } = (await jobs.get('6'))!
  assert.ok(dueInMs! > 500_000 && dueInMs! <= 600_000, `${dueInMs}`)
  assert.deepEqual((await jobs.list({ state: 'delayed' })).length, 2)
  assert.deepEqual(
    (await jobs.schedules()).map(({ name }) => name),
    ['hourly'],
  )
  const taken: number[] = []
  for (let count = 0; count < 4; count += 1) {
    const job = await jobs.take({ signal: AbortSignal.timeout(20_000) })
    taken.push(job.data)
    await job.complete()
  }
  assert.deepEqual(taken.toSorted(), [3, 4, 5, 7])
  assert.equal(await jobs.add(9), '8')
})

test('jobs that are added while a save is written take no number from those that come after a restore', async () => {
  const file = join(scratch, 'busy')
  let meanwhile = 0
  {
    await using space = await open('saved-while-busy')
    await using shared = await openStructures(space, { size: '8MiB' })
    const jobs = await shared.jobs<number>('jobs')
    for (let number = 0; number < 3000; number += 1) jobs.addSync(number)
    const saved = space.save({ file })
    let isOver = false
    const over = saved.finally(() => {
      isOver = true
    })
    for (; !isOver; meanwhile += 1) {
      await jobs.add(-1)
      await new Promise(setImmediate)
    }
    await over
  }
  assert.ok(meanwhile > 0)
  await using space = await open('saved-while-busy', { save: { file } })
  await using shared = await openStructures(space)
  const jobs = await shared.jobs<number>('jobs')
  const there = new Set((await jobs.list({ limit: Number.POSITIVE_INFINITY })).map(({ id }) => id))
  assert.ok(there.size >= 3000)
  for (let number = 1; number <= meanwhile + 100; number += 1) {
    const id = await jobs.add(-number)
    assert.ok(!there.has(id), `${id} was given to two jobs`)
    assert.equal((await jobs.get(id))?.data, -number)
  }
})

test('an import takes no number from jobs that are there', async () => {
  const file = join(scratch, 'imported')
  {
    await using space = await open('exported-jobs')
    await using shared = await openStructures(space, { size: '2MiB' })
    const jobs = await shared.jobs<string>('jobs')
    for (const data of ['a', 'b', 'c']) await jobs.add(data)
    await space.save({ file })
  }
  await using space = await open('exported-jobs')
  await using shared = await openStructures(space, { size: '2MiB' })
  const jobs = await shared.jobs<string>('jobs')
  for (const data of ['d', 'e']) await jobs.add(data)
  await importSave(file, { adds: true })
  await jobs.add('f')
  const all = await jobs.list()
  assert.deepEqual(all.map(({ data }) => data).toSorted(), ['a', 'b', 'c', 'd', 'e', 'f'])
})
