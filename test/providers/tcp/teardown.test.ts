/**
 * A thread or process ends while its peers write into its memory: the engine must not touch what is gone.
 * `AETHER_TEST_KILLS` says how often.
 */
import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import process from 'node:process'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { CompletionStatus, type QueuePair, type RegionToken } from '../../../src/verbs/index.ts'
import { until } from '../../cluster/support.ts'
import { RankProcess } from '../../support/rank-process.ts'
import type { Opened } from './fixtures/end.ts'
import { fixture, Survivor } from './survivor.ts'

const WORKERS = Number(process.env['AETHER_TEST_KILLS'] ?? 12)
const PROCESSES = Number(process.env['AETHER_TEST_KILLS'] ?? 4)
const LENGTH = 1 << 20
const UNDER_WAY = 8

/** Keep WRITEs and READs under way until one fails; calls `end` after a while. Rejects where none fails. */
async function workUntilEnd(survivor: Survivor, pair: QueuePair, remote: RegionToken, end: () => void): Promise<void> {
  const local = survivor.memory.subarray()
  const requests = [pair.prepareWrite({ local, remote }), pair.prepareRead({ local, remote })]
  let posted = 0
  let done = 0
  let last: number = CompletionStatus.Success
  const work = (): boolean => {
    while (last === CompletionStatus.Success && posted - done < UNDER_WAY) requests[posted % 2]!.post(posted++)
    const statuses = survivor.poll()
    done += statuses.length
    last = statuses.at(-1) ?? last
    return last !== CompletionStatus.Success && done === posted
  }
  await until(() => work() || done > 0, 'the first is done')
  setTimeout(end, Math.random() * 20)
  await until(work, 'the end is noticed')
}

test(`${WORKERS} Workers are terminated while WRITEs and READs of their memory are under way`, async () => {
  using survivor = new Survivor(LENGTH)
  for (let index = 0; index < WORKERS; index += 1) {
    const pair = survivor.newPair()
    const worker = new Worker(new URL('./fixtures/worker-end.js', import.meta.url), { workerData: pair.endpoint })
    const [{ endpoint, token }] = (await once(worker, 'message')) as [Opened]
    pair.connect(endpoint, { timeout: 14, retryCount: 7 })
    const ended = once(worker, 'exit')
    await workUntilEnd(survivor, pair, token, () => void worker.terminate())
    await ended
    pair.close()
  }
})

test(`${PROCESSES} processes exit while WRITEs and READs of their memory are under way`, async () => {
  using survivor = new Survivor(LENGTH)
  for (let index = 0; index < PROCESSES; index += 1) {
    const pair = survivor.newPair()
    const other = new RankProcess(fixture, {})
    const { endpoint, token } = await other.call<Opened>('open', 'tcp-lo', LENGTH)
    await other.call('connect', pair.endpoint, { timeout: 14, retryCount: 7 })
    pair.connect(endpoint, { timeout: 14, retryCount: 7 })
    await workUntilEnd(survivor, pair, token, () => void other.call('exit').catch(() => undefined))
    const { code, signal, err } = await other.ended()
    assert.deepEqual({ code, signal, err }, { code: 0, signal: null, err: '' })
    pair.close()
  }
})
