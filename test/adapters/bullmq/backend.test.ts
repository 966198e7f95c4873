import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type IQueueBackend, type Job, Worker, withBackend } from 'bullmq'
import type { AetherBackend } from '../../../src/adapters/bullmq/aether-backend.ts'
import { aetherBackend } from '../../../src/adapters/bullmq/index.ts'
import { open } from '../../../src/public/index.ts'
import { until, useRuntimeDirectory } from '../../cluster/support.ts'
import { RankProcess } from '../../support/rank-process.ts'
import { restartMachine } from '../../support/restarted-machine.ts'
import { job, minimal } from './programs.ts'

const skip = process.platform === 'linux' ? false : 'shared memory needs Linux'
const fixture = new URL('./fixtures/worker.js', import.meta.url)
const TOKEN = 'a-token'

describe('a backend of BullMQ in shared memory', { skip }, () => {
  useRuntimeDirectory()
  const backends: IQueueBackend[] = []
  const backend = (space: string, settings: object = {}, name: string = 'jobs'): AetherBackend => {
    const made = aetherBackend(space, { size: '4MiB' })(name, { connection: {}, ...settings } as never) as AetherBackend
    backends.push(made)
    return made
  }
  after(async () => {
    for (const each of backends) await each.close()
  })

  it('goes on after a restart of the machine, with the times of before', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'aether-bullmq-'))
    const halfAnHour = 1_800_000
    {
      await using _space = await open('restarted', { directory })
      const queue = backend('restarted', { stalledInterval: halfAnHour })
      await queue.addJob(job('sleep'), '')
      const worker = new RankProcess(fixture, {})
      await worker.call('hold', 'restarted', 'jobs', 1)
      await worker.kill()
      assert.deepEqual(await queue.moveStalledJobsToWait(), ['1'])
      await queue.addJob(job('sleep'), '')
      await queue.close()
    }
    restartMachine(directory, false, 2 * halfAnHour)
    await using _space = await open('restarted', { directory })
    const queue = backend('restarted', { stalledInterval: halfAnHour })
    const worker = new RankProcess(fixture, {})
    await worker.call('hold', 'restarted', 'jobs', 2)
    await worker.kill()
    assert.deepEqual((await queue.moveStalledJobsToWait()).sort(), ['1', '2'])
    // The next check is half an hour away.
    assert.deepEqual(await queue.moveStalledJobsToWait(), [])
    await queue.close()
    rmSync(directory, { recursive: true })
  })

  it('gives the jobs of a killed worker back at the next check, long before its locks end', async () => {
    const queue = backend('lost', { stalledInterval: 1, maxStalledCount: 1 })
    for (let at = 0; at < 3; at += 1) await queue.addJob(job('sleep'), '')
    const worker = new RankProcess(fixture, {})
    await worker.call('hold', 'lost', 'jobs', 3)
    assert.deepEqual(await queue.moveStalledJobsToWait(), [])
    await worker.kill()
    await sleep(5)
    assert.deepEqual((await queue.moveStalledJobsToWait()).sort(), ['1', '2', '3'])
    assert.equal(await queue.getState('1'), 'waiting')
  })

  it('says when it is full, changes nothing then, and has room again after jobs are removed', async () => {
    const queue = backend('full')
    const data = JSON.stringify('x'.repeat(100_000))
    let added = 0
    const fill = async () => {
      for (;;) {
        await queue.addJob(job('large', {}, { data }), '')
        added += 1
      }
    }
    await assert.rejects(fill(), { code: 'ERR_AETHER_HEAP_FULL', message: /removeOnComplete/ })
    assert.ok(added > 20)
    assert.deepEqual(await queue.getCounts(['waiting']), [added])
    await queue.drain(false)
    assert.deepEqual(await queue.getCounts(['waiting']), [0])
    for (let at = 0; at < 20; at += 1) await queue.addJob(job('large', {}, { data }), '')
  })

  it('drains and cleans more jobs than fit one transaction', async () => {
    const queue = backend('many')
    for (let at = 0; at < 20; at += 1)
      await queue.addJobs(Array.from({ length: 100 }, () => ({ job: job('small'), jobId: '' })))
    assert.equal((await queue.cleanJobsByState('wait', Date.now() + 1000, 1500)).length, 1500)
    await queue.drain(true)
    assert.deepEqual(await queue.getCounts(['waiting']), [0])
    const many = Array.from({ length: 20_000 }, () => ({ job: job('small'), jobId: '' }))
    await assert.rejects(queue.addJobs(many), { code: 'ERR_AETHER_TRANSACTION_TOO_LARGE' })
    assert.deepEqual(await queue.getCounts(['waiting']), [0])
  })

  it('refuses what needs a Redis, and bad arguments', async () => {
    const queue = backend('refuses')
    assert.throws(() => queue.client, { code: 'ERR_AETHER_UNSUPPORTED', message: /no Redis client/ })
    assert.deepEqual(await queue.getClientList(), [])
    assert.throws(() => aetherBackend(''), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
    assert.throws(() => aetherBackend('x', { size: '1KiB' }), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
    assert.throws(() => aetherBackend('x', { sise: 1 } as never), { message: /did you mean 'size'/ })
    await assert.rejects(queue.isJobInState('nonsense', '1'), /Unknown job state: nonsense/)
    await assert.rejects(queue.moveToCompleted(minimal('1'), 1, false, TOKEN, false), /Missing key for job 1/)
  })

  it('leaves the space with the last backend that is closed', async () => {
    const first = backend('left')
    await first.addJob(job('j'), '')
    const second = backend('left')
    await second.waitUntilReady()
    await first.close()
    assert.deepEqual(await second.getCounts(['waiting']), [1])
    await second.close()
    await using space = await open('left')
    assert.equal(space.members().length, 1)
    assert.deepEqual(space.regions(), [])
  })

  it('works with withBackend, with several workers of one queue', async () => {
    const classes = withBackend(aetherBackend('with'))
    const queue = new classes.Queue('jobs', { connection: {} })
    const done: string[] = []
    const work = async (each: Job) => void done.push(each.id!)
    const workers = [1, 2].map(
      () => new Worker('jobs', work, { connection: {}, drainDelay: 1 }, aetherBackend('with') as never),
    )
    await queue.addBulk(Array.from({ length: 50 }, (_, at) => ({ name: 'any', data: { at } })))
    await until(() => done.length === 50, 'all are done')
    assert.equal(new Set(done).size, 50)
    for (const worker of workers) await worker.close()
    await queue.close()
  })
})
