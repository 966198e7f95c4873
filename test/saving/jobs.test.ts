/** Job queues that are saved and restored: what was to be done is done, and what was held goes to another worker. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { open } from '../../src/public/index.ts'
import { openStructures } from '../../src/public/structures.ts'
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
