/** Job queues as programs use them: workers in several processes, which are killed, stopped and started. */
import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { open, type Space } from '../../../src/public/index.ts'
import { JobError, openStructures, type Structures } from '../../../src/public/structures.ts'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { RankProcess } from '../../support/rank-process.ts'

useRuntimeDirectory()

let last = 0

/** A space with structures, in this process and in workers. */
class Place implements AsyncDisposable {
  readonly space: Space
  readonly structures: Structures
  readonly #workers: RankProcess[] = []

  private constructor(space: Space, structures: Structures) {
    this.space = space
    this.structures = structures
  }

  static async open(): Promise<Place> {
    last += 1
    const space = await open(`jobs-${process.pid}-${last}`)
    return new Place(space, await openStructures(space, { size: '4MiB' }))
  }

  async worker(leaseMs?: number): Promise<RankProcess> {
    const worker = new RankProcess(new URL('./fixtures/worker.js', import.meta.url), {})
    this.#workers.push(worker)
    await worker.call('open', { space: this.space.name, leaseMs })
    return worker
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.kill()))
    await this.structures.close()
    await this.space.close()
  }
}

async function eventually(holds: () => Promise<boolean>): Promise<void> {
  for (let looks = 0; !(await holds()); looks += 1) {
    assert.ok(looks < 3000, 'it never came')
    await sleep(10)
  }
}

const soon = () => ({ signal: AbortSignal.timeout(30_000) })

test('a job goes from a producer to a worker, and its result back', async () => {
  await using place = await Place.open()
  const jobs = await place.structures.jobs<{ to: string }, string>('mails')
  const worker = await place.worker()
  await worker.call('work', 2)
  const results = await Promise.all(['ada', 'eve'].map((to) => jobs.run({ to }, soon())))
  assert.deepEqual(results, ['sent to ada', 'sent to eve'])
  assert.deepEqual(await jobs.counts(), { waiting: 0, delayed: 0, active: 0, completed: 2, failed: 0 })
})

test('the job of a worker that is killed is taken by another at once, of one that is stopped after its lease', async () => {
  await using place = await Place.open()
  const jobs = await place.structures.jobs<number>('mails')
  const killed = await place.worker()
  await jobs.add(1)
  assert.equal(await killed.call('take'), '1')
  // No lease is over in this time: its death is known.
  await killed.kill()
  const first = await jobs.take(soon())
  assert.deepEqual([first.id, first.attempt, first.losses], ['1', 2, 1])
  await first.complete()

  const stopped = await place.worker(1000)
  await jobs.add(2)
  assert.equal(await stopped.call('take'), '2')
  stopped.child.kill('SIGSTOP')
  const second = await jobs.take(soon())
  assert.deepEqual([second.id, second.attempt, second.losses], ['2', 2, 1])
  stopped.child.kill('SIGCONT')
  await assert.rejects(stopped.call('complete'), { name: 'JobError', code: 'ERR_AETHER_JOB_LOST' })
  await eventually(async () => (await stopped.call('isAborted')) === true)
  await second.complete()
  assert.equal(await jobs.get('2'), undefined)
})

test('a worker that closes gives its jobs back', async () => {
  await using place = await Place.open()
  const jobs = await place.structures.jobs<number>('mails')
  const worker = await place.worker()
  await jobs.add(1)
  await worker.call('take')
  await worker.call('close')
  const job = await jobs.take(soon())
  assert.deepEqual([job.id, job.losses], ['1', 0])
  await job.complete()
})

test('a failed attempt is tried again after the back-off, then the job is kept as failed, and can be retried', async () => {
  await using place = await Place.open()
  const jobs = await place.structures.jobs<string>('mails', {
    attempts: 3,
    backoff: { delayMs: 10, exponential: true, maxMs: 15 },
  })
  const id = await jobs.add('it')
  for (const wait of [10, 15]) {
    const job = await jobs.take(soon())
    await job.fail(new RangeError(`failure ${job.attempt}`))
    const seen = (await jobs.get(id))!
    assert.equal(seen.state === 'delayed' ? seen.dueInMs! <= wait && seen.dueInMs! > 0 : seen.state === 'waiting', true)
    assert.equal(seen.failure?.message, `failure ${job.attempt}`)
  }
  const third = await jobs.take(soon())
  assert.deepEqual([third.attempt, third.failures], [3, 2])
  await third.fail('no error, text')
  const failed = (await jobs.get(id))!
  assert.deepEqual(
    [failed.state, failed.failures, failed.failure],
    ['failed', 3, { name: 'Error', message: 'no error, text' }],
  )
  await assert.rejects(jobs.result(id), (error) => {
    assert.ok(error instanceof JobError)
    assert.deepEqual([error.code, error.job, error.structure], ['ERR_AETHER_JOB_FAILED', id, 'mails'])
    return /no error, text/.test(error.message)
  })
  assert.deepEqual(
    (await jobs.list({ state: 'failed' })).map((job) => job.id),
    [id],
  )
  assert.equal(await jobs.retry(id), true)
  assert.equal(await jobs.retry(id), false, 'it waits already')
  const again = await jobs.take(soon())
  assert.deepEqual([again.failures, again.attempt], [0, 4])
  await again.fail(new Error('for good'), { retry: false })
  assert.equal((await jobs.get(id))?.state, 'failed')
  assert.equal(await jobs.clear('failed'), 1)
  assert.equal(await jobs.get(id), undefined)
})

test('delays, promotion, priorities, pause and drain', async () => {
  await using place = await Place.open()
  const jobs = await place.structures.jobs<string>('mails')
  const delayed = await jobs.add('later', { delayMs: 400 })
  const far = await jobs.add('much later', { delayMs: 1e9 })
  await jobs.add('low', { priority: -3 })
  await jobs.add('high', { priority: 3 })
  const take = async () => {
    const job = await jobs.take(soon())
    await job.complete()
    return job.data
  }
  assert.deepEqual([await take(), await take(), await take()], ['high', 'low', 'later'])
  assert.equal(await jobs.retry(far), true)
  assert.equal(await take(), 'much later')
  assert.equal(delayed < far, true)

  await jobs.pause()
  await jobs.add('paused')
  assert.equal(await jobs.tryTake(), undefined)
  assert.equal(jobs.isPaused, true)
  const waiting = jobs.take(soon())
  await sleep(60)
  await jobs.resume()
  assert.equal((await waiting).data, 'paused')
  await (await waiting).complete()

  for (let count = 0; count < 5; count += 1) await jobs.add('x', { delayMs: count % 2 === 0 ? 0 : 1e6 })
  assert.deepEqual(await jobs.counts(), { waiting: 3, delayed: 2, active: 0, completed: 0, failed: 0 })
  assert.equal(await jobs.drain(), 5)
  assert.equal(await jobs.tryTake(), undefined)
})

test('a job with an id of its own is there once', async () => {
  await using place = await Place.open()
  const jobs = await place.structures.jobs<number>('mails', { keepCompletedMs: 60_000 })
  assert.equal(await jobs.addIfAbsent('order 7', 1), true)
  assert.equal(await jobs.addIfAbsent('order 7', 2), false)
  const job = await jobs.take(soon())
  assert.deepEqual([job.id, job.data], ['order 7', 1])
  await job.complete('done')
  assert.equal(await jobs.addIfAbsent('order 7', 3), false, 'it is kept')
  assert.equal(await jobs.result('order 7'), 'done')
  assert.equal(await jobs.remove('order 7'), true)
  assert.equal(await jobs.remove('order 7'), false)
  assert.equal(await jobs.addIfAbsent('order 7', 4), true)
})

test('a job is settled once, reports its progress, and ends with its block', async () => {
  await using place = await Place.open()
  const jobs = await place.structures.jobs<number, number>('mails', { attempts: 2 })
  const id = await jobs.add(1)
  {
    await using job = await jobs.take(soon())
    await job.progress({ done: 3, of: 7 })
    assert.deepEqual((await jobs.get(id))?.progress, { done: 3, of: 7 })
    assert.equal((await jobs.get(id))?.state, 'active')
  }
  assert.match((await jobs.get(id))?.failure?.message ?? '', /without completing it/)
  const job = await jobs.take(soon())
  await job.release({ delayMs: 5 })
  assert.equal(job.isSettled, true)
  await assert.rejects(job.complete(1), {
    code: 'ERR_AETHER_JOB_LOST',
    message: /completed, failed or released already/,
  })
  await assert.rejects(job.progress(1), { code: 'ERR_AETHER_JOB_LOST' })
  for await (const again of jobs) {
    await again.complete(5)
    break
  }
  await assert.rejects(jobs.result(id), { code: 'ERR_AETHER_JOB_NOT_FOUND', message: /keepCompletedMs/ })
})

test('work() takes as many jobs at a time as it may, and ends when its handlers have', async () => {
  await using place = await Place.open()
  const jobs = await place.structures.jobs<number, number>('mails', { keepCompletedMs: 60_000 })
  const stop = new AbortController()
  let release = (): void => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  let running = 0
  let most = 0
  const work = jobs.work(
    async ({ data }) => {
      running += 1
      most = Math.max(most, running)
      await (data === 100 ? gate : sleep(5))
      running -= 1
      if (data === 7) throw new Error('seven')
      return data * 2
    },
    { concurrency: 4, signal: stop.signal },
  )
  const ids = await Promise.all(Array.from({ length: 20 }, (_, number) => jobs.add(number)))
  const results = await Promise.allSettled(ids.map((id) => jobs.result(id, soon())))
  assert.deepEqual(
    results.map((result) => (result.status === 'fulfilled' ? result.value : 'failed')),
    ids.map((_, number) => (number === 7 ? 'failed' : number * 2)),
  )
  assert.equal(most, 4)
  const last = await jobs.add(100)
  await eventually(async () => (await jobs.get(last))?.state === 'active')
  stop.abort()
  release()
  await work
  assert.equal(running, 0)
  assert.equal((await jobs.get(last))?.state, 'completed')
})

test('a worker that spins takes jobs while it does and after it has fallen asleep, and ends when it is aborted', async () => {
  await using place = await Place.open()
  const jobs = await place.structures.jobs<number, number>('sums', { keepCompletedMs: 60_000 })
  for (const spinMs of [1, 10_000]) {
    const stop = new AbortController()
    const work = jobs.work(({ data }) => data + 1, { spinMs, signal: stop.signal })
    await sleep(20)
    for (const data of [1, 2]) assert.equal(await jobs.result(await jobs.add(data), soon()), data + 1)
    stop.abort()
    await work
  }
})

test('a schedule adds a job again and again, once for all processes, until it is ended', async () => {
  await using place = await Place.open()
  const jobs = await place.structures.jobs<string>('mails')
  const other = await place.worker()
  await jobs.repeat('often', { everyMs: 100 }, 'tick')
  await other.call('repeat', 'often')
  assert.deepEqual((await jobs.list()).length, 1, 'both mean the same')
  const times: number[] = []
  for (let count = 0; count < 3; count += 1) {
    const job = await jobs.take(soon())
    assert.deepEqual([job.data, job.schedule], ['tick', 'often'])
    times.push(Date.parse(job.id.slice('often@'.length)))
    await job.complete()
  }
  for (const [at, time] of times.entries())
    assert.ok(time % 100 === 0 && (at === 0 || time > times[at - 1]!), `${times}`)
  // What a worker took before it planned the next one, and was killed: another plans it.
  await other.call('take')
  await other.kill()
  for (let count = 0; count < 2; count += 1) await (await jobs.take(soon())).complete()
  assert.equal(await jobs.unrepeat('often'), true)
  assert.equal(await jobs.unrepeat('often'), false)
  assert.deepEqual(await jobs.counts(), { waiting: 0, delayed: 0, active: 0, completed: 0, failed: 0 })

  await jobs.repeat('nightly', { cron: '0 3 * * *', timeZone: 'Europe/Vienna' }, 'night')
  const [nightly] = await jobs.schedules()
  const hour = new Intl.DateTimeFormat('en', { hour: 'numeric', hourCycle: 'h23', timeZone: 'Europe/Vienna' })
  assert.deepEqual([nightly?.name, hour.format(nightly?.nextAt)], ['nightly', '03'])
  // Changed: the job that was planned goes.
  await jobs.repeat('nightly', { everyMs: 3_600_000 }, 'night')
  assert.equal((await jobs.list()).length, 1)
})

test('bad arguments are refused by a text that says what to pass', async () => {
  await using place = await Place.open()
  const jobs = await place.structures.jobs<unknown>('mails')
  const refused = { name: 'ArgumentError', code: 'ERR_AETHER_INVALID_ARGUMENT' }
  const calls: readonly (() => Promise<unknown>)[] = [
    () => jobs.add(1, { delayMs: -1 }),
    () => jobs.add(1, { priority: 11 }),
    () => jobs.add(1, { priority: 0.5 }),
    () => jobs.add(1, { attempts: 0 }),
    () => jobs.add(1, { backoff: { delayMs: Number.NaN } }),
    () => jobs.add(1, { backoff: null as never }),
    () => jobs.add(1, { keepCompletedMs: '1' as never }),
    () => jobs.add(1, { delay: 5 } as never),
    () => jobs.add(() => {}),
    () => jobs.addIfAbsent('', 1),
    () => jobs.addIfAbsent('17', 1),
    () => jobs.addIfAbsent('x'.repeat(101), 1),
    () => jobs.list({ state: 'lost' as never }),
    () => jobs.clear('lost' as never),
    () => jobs.work('no' as never),
    () => jobs.work(() => {}, { concurrency: 0 }),
    () => jobs.work(() => {}, { spinMs: -1 }),
    () => jobs.repeat('x', {} as never, 1),
    () => jobs.repeat('x', { everyMs: 0 }, 1),
    () => jobs.repeat('x', { cron: 'soon' }, 1),
    () => jobs.repeat('x', { cron: '* * * * *', timeZone: 'Nowhere' }, 1),
    () => jobs.repeat('x'.repeat(65), { everyMs: 5 }, 1),
    () => place.structures.jobs('other', { leaseMs: 0 }),
    () => place.structures.jobs('other', { attempts: 1.5 }),
  ]
  for (const call of calls) await assert.rejects(call, refused, String(call))
  assert.equal((await jobs.list()).length, 0)
  await assert.rejects(place.structures.queue('mails'), { code: 'ERR_AETHER_STRUCTURE_MISMATCH' })
  await assert.rejects(jobs.take({ signal: AbortSignal.abort(new Error('enough')) }), { message: 'enough' })
  await assert.rejects(jobs.result('5'), { code: 'ERR_AETHER_JOB_NOT_FOUND' })
  await place.structures.close()
  await assert.rejects(jobs.add(1), { code: 'ERR_AETHER_CLOSED' })
  await assert.rejects(jobs.take(), { code: 'ERR_AETHER_CLOSED' })
})
