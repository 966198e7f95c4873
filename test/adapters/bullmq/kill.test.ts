import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type IQueueBackend, Queue } from 'bullmq'
import { aetherBackend } from '../../../src/adapters/bullmq/index.ts'
import { until, useRuntimeDirectory } from '../../cluster/support.ts'
import { RankProcess } from '../../support/rank-process.ts'

const options = { skip: process.platform === 'linux' ? false : 'shared memory needs Linux' }
/** How many processes are killed; AETHER_TEST_KILLS=500 makes a soak of it. */
const KILLS = Number(process.env['AETHER_TEST_KILLS'] ?? 4)
const fixture = new URL('./fixtures/worker.js', import.meta.url)

useRuntimeDirectory()

test('workers and producers are killed at any time: each job that was added is completed', options, async () => {
  const space = `bullmq-kill-${process.pid}`
  const queue = new Queue<unknown, unknown, string, unknown, unknown, string, IQueueBackend>(
    'jobs',
    { connection: {} },
    aetherBackend(space) as never,
  )
  await queue.waitUntilReady()
  const acknowledged = new Set<string>()
  const start = async (round: number): Promise<RankProcess[]> => {
    const [producer, worker] = [new RankProcess(fixture, {}), new RankProcess(fixture, {})]
    producer.child.on('message', ({ added }: { added?: string }) => added !== undefined && acknowledged.add(added))
    await Promise.all([producer.call('produce', space, 'jobs', `r${round}-`), worker.call('work', space, 'jobs')])
    return [producer, worker]
  }
  for (let round = 0; round < Math.ceil(KILLS / 2); round += 1) {
    const victims = await start(round)
    await sleep(50 + Math.random() * 100)
    for (const victim of victims) await victim.kill()
  }
  assert.ok(acknowledged.size > 0)
  const last = new RankProcess(fixture, {})
  await last.call('work', space, 'jobs')
  let counts: Record<string, number> = {}
  const look = setInterval(() => void queue.getJobCounts().then((now) => (counts = now)), 20)
  const open = () =>
    ['waiting', 'active', 'delayed', 'prioritized'].reduce((sum, state) => sum + (counts[state] ?? 1), 0)
  await until(() => open() === 0, 'all jobs are completed')
  clearInterval(look)
  await last.kill()
  const completed = new Map((await queue.getCompleted(0, -1)).map((job) => [job.id, job.returnvalue]))
  for (const id of acknowledged) assert.equal(completed.get(id), id, `${id} was lost`)
  assert.equal(counts['failed'], 0)
  assert.equal(completed.size, counts['completed'])
  await queue.pause()
  await queue.obliterate()
  await queue.close()
})

test(
  'a process that is stopped while it has the queues: others say which one, and go on when it does',
  options,
  async () => {
    const space = `bullmq-stop-${process.pid}`
    const queue = new Queue<unknown, unknown, string, unknown, unknown, string, IQueueBackend>(
      'jobs',
      { connection: {} },
      aetherBackend(space) as never,
    )
    await queue.waitUntilReady()
    const producer = new RankProcess(fixture, {})
    await producer.call('produce', space, 'jobs', 'p')
    const pid = producer.child.pid!
    // Most stops meet it outside of a transaction, and delay no one.
    for (let time = 0; time < 8; time += 1) {
      await sleep(Math.random() * 5)
      process.kill(pid, 'SIGSTOP')
      const counted = queue.getJobCounts().catch((error: unknown) => error)
      const isStuck = (await Promise.race([counted, sleep(500, 'stuck')])) === 'stuck'
      process.kill(pid, 'SIGCONT')
      if (isStuck) assert.ok(!((await counted) instanceof Error))
    }
    await producer.kill()
    await queue.add('after it', {})
    await queue.close()
  },
)
