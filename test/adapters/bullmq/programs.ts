import { setTimeout as sleep } from 'node:timers/promises'
import type { IQueueBackend, JobJson, JobsOptions, MinimalJob } from 'bullmq'
import type { Program } from './sides.ts'

const TOKEN = 'a-token'

/** A job as `Queue.add` hands it to a backend. */
export function job(name: string, opts: JobsOptions = {}, more: Partial<JobJson> = {}): JobJson {
  const deduplicationId = opts.deduplication?.id
  return {
    name,
    data: JSON.stringify({ name }),
    opts: { attempts: 0, ...opts },
    timestamp: Date.now(),
    delay: opts.delay ?? 0,
    priority: opts.priority ?? 0,
    ...(deduplicationId === undefined ? {} : { deduplicationId }),
    ...more,
  } as JobJson
}

export function minimal(id: string, opts: JobsOptions = {}): MinimalJob {
  return { id, name: 'any', data: {}, opts: { attempts: 0, ...opts } } as unknown as MinimalJob
}

/** The children of a flow in one queue. */
export function child(name: string, parent: { id: string; queueKey: string }, opts: JobsOptions = {}): JobJson {
  const parentKey = `${parent.queueKey}:${parent.id}`
  const flags = {
    fpof: opts.failParentOnFailure,
    cpof: opts.continueParentOnFailure,
    idof: opts.ignoreDependencyOnFailure,
    rdof: opts.removeDependencyOnFailure,
  }
  return job(name, opts, { parentKey, parent: { ...parent, ...flags } } as Partial<JobJson>)
}

const parentOpts = (queueKey: string, id: string) => ({
  parentKey: `${queueKey}:${id}`,
  parentDependenciesKey: `${queueKey}:${id}:dependencies`,
})

/** Take a job and complete it. */
async function processOne(queue: IQueueBackend): Promise<string> {
  const [, id] = await queue.moveToActive(TOKEN)
  await queue.moveToCompleted(minimal(id), 'done', false, TOKEN, false)
  // Jobs that are completed in one millisecond are in the order of their ids.
  await sleep(2)
  return id
}

/** What each program shows is compared on both sides, after each step that `look`s. */
export const programs: Readonly<Record<string, Program>> = {
  async 'first in, first out; at the front; by priority; when due'(side, name) {
    const queue = side.backend(name, { name: 'a worker' })
    await side.note('ready', async () => void (await queue.waitUntilReady()))
    await side.note('name', async () => void (await queue.setName('name')))
    for (const [at, opts] of [
      {},
      { lifo: true },
      { priority: 5 },
      { priority: 2 },
      {},
      { delay: 1 },
      { delay: 5000 },
    ].entries())
      await side.note('add', () => queue.addJob(job(`j${at}`, opts), ''))
    await side.look(queue)
    await sleep(10)
    for (let at = 0; at < 7; at += 1) await side.note('take', () => queue.moveToActive(TOKEN, 'a worker'))
    await side.look(queue)
    await side.note('bulk', () =>
      queue.addJobs([job('x'), job('y', { priority: 1 })].map((each) => ({ job: each, jobId: '' }))),
    )
    await side.note('again', () => queue.addJob(job('same'), '3'))
    await side.look(queue)
    await side.note('keys', () => [
      queue.toKey('x'),
      queue.keys,
      queue.clientName('s'),
      queue.parseNodeKey('a:b:c'),
      queue.qualifiedName,
    ])
    await side.note('waits', () => [queue.minimumBlockTimeout <= 0.002, queue.maximumBlockTimeout, queue.closing])
  },

  async 'completed, failed, kept and removed'(side, name) {
    const queue = side.backend(name)
    for (let at = 0; at < 9; at += 1) await queue.addJob(job(`j${at}`), '')
    const keeps = [false, true, 2, { count: 1 }, { age: 100, count: 3 }, { age: 1000 }] as const
    for (const keep of keeps) {
      const [, id] = await queue.moveToActive(TOKEN)
      await side.note('complete', () => queue.moveToCompleted(minimal(id), { id }, keep as never, TOKEN, false))
      await side.look(queue)
    }
    await queue.moveToActive(TOKEN)
    await side.note('fail', () =>
      queue.moveToFailed(minimal('7', { attempts: 1 }), 'no', false, TOKEN, true, {
        failedReason: 'no',
        stacktrace: '["at"]',
      }),
    )
    await side.note('wrong token', () => queue.moveToCompleted(minimal('8'), 1, false, 'other', false))
    await side.note('missing', () => queue.moveToCompleted(minimal('99'), 1, false, TOKEN, false))
    await side.note('not active', () => queue.moveToCompleted(minimal('9'), 1, false, '0', false))
    await side.note('undefined', () => queue.moveToCompleted(minimal('8'), undefined, false, TOKEN, true))
    await side.look(queue)
    await side.note('last', () => queue.moveToFailed(minimal('9'), 'bad', true, TOKEN, true))
    await side.look(queue)
    for (const id of ['1', '7', '8', '99']) {
      await side.note('finished', () => queue.isFinished(id))
      await side.note('finished with value', () => queue.isFinished(id, true))
    }
  },

  async 'retries, delays and second attempts'(side, name) {
    const queue = side.backend(name)
    for (const opts of [{}, { priority: 3 }, {}, {}]) await queue.addJob(job('j', opts), '')
    for (let at = 0; at < 4; at += 1) await queue.moveToActive(TOKEN)
    await side.note('retry', () =>
      queue.retryJob('1', false, TOKEN, { fieldsToUpdate: { failedReason: 'once', tm: undefined } }),
    )
    await side.note('retry at the front', () => queue.retryJob('4', true, TOKEN))
    await side.note('retry again', () => queue.retryJob('1', false, TOKEN))
    await side.note('later', () =>
      queue.moveToDelayed('3', Date.now(), 5000, TOKEN, { fieldsToUpdate: { failedReason: 'twice' } }),
    )
    await side.note('later, and next', () =>
      queue.moveToDelayed('2', Date.now(), 9000, TOKEN, { skipAttempt: true, fetchNext: true }),
    )
    await side.note('not there', () => queue.moveToDelayed('88', Date.now(), 5000, TOKEN))
    await side.look(queue)
    await side.note('change', () => queue.changeDelay('3', 20_000))
    await side.note('change missing', () => queue.changeDelay('88', 1))
    await side.note('change active', () => queue.changeDelay('1', 1))
    await side.note('promote', () => queue.promote('3'))
    await side.note('promote again', () => queue.promote('3'))
    await side.look(queue)
    await side.note('promote all', () => queue.promoteJobs(10))
    await side.look(queue)
    await side.note('give back', () => queue.moveJobFromActiveToWait('4', TOKEN))
    await side.note('priority', () => queue.changePriority('3', 7))
    await side.note('priority, first', () => queue.changePriority('1', 7, true))
    await side.note('no priority', () => queue.changePriority('3', 0, true))
    await side.note('priority of none', () => queue.changePriority('88', 1))
    await side.look(queue)
    for (let at = 0; at < 4; at += 1) await processOne(queue)
    await side.note('reprocess', () =>
      queue.retryFinishedJob(minimal('1'), 'completed', { resetAttemptsMade: true, resetAttemptsStarted: true }),
    )
    await side.note('reprocess failed', () => queue.retryFinishedJob(minimal('2'), 'failed'))
    await side.note('reprocess missing', () => queue.retryFinishedJob(minimal('88'), 'failed'))
    await side.look(queue)
    await side.note('retry all', () => queue.retryFinishedJobs('completed', 2))
    await side.note('retry the rest', () => queue.retryFinishedJobs('completed', 10))
    await side.look(queue)
  },

  async 'paused, drained, cleaned and obliterated'(side, name) {
    const queue = side.backend(name)
    for (const opts of [{}, {}, { delay: 5000 }, { priority: 2 }, {}]) await queue.addJob(job('j', opts), '')
    await side.note('pause', () => queue.pause(true))
    await side.note('take', () => queue.moveToActive(TOKEN))
    await side.note('paused', () => queue.hasQueueMetaField('paused'))
    await side.look(queue)
    await side.note('resume', () => queue.pause(false))
    await processOne(queue)
    await queue.moveToActive(TOKEN)
    await side.note('early', () => queue.cleanJobsByState('wait', Date.now() - 100_000))
    await sleep(2)
    for (const state of ['wait', 'active', 'delayed', 'prioritized', 'completed', 'failed', 'paused'])
      await side.note(`clean ${state}`, () => queue.cleanJobsByState(state, Date.now(), state === 'wait' ? 1 : 0))
    await side.look(queue)
    for (const opts of [{}, { delay: 5000 }, { priority: 2 }]) await queue.addJob(job('k', opts), '')
    await side.note('drain', async () => void (await queue.drain(false)))
    await side.look(queue)
    await side.note('drain delayed', async () => void (await queue.drain(true)))
    await side.look(queue)
    await side.note('obliterate', () => queue.obliterate({ force: false, count: 10 }))
    await queue.pause(true)
    await side.note('obliterate active', () => queue.obliterate({ force: false, count: 10 }))
    for (let at = 0; at < 5; at += 1) await queue.addJob(job('z'), '')
    await side.note('obliterate some', () => queue.obliterate({ force: true, count: 3 }))
    await side.note('obliterate all', () => queue.obliterate({ force: true, count: 10 }))
    await side.note('add', () => queue.addJob(job('new'), ''))
    await side.note('jobs', () => queue.getCounts(['waiting', 'active'] as never))
    await side.note('orphans', () => queue.removeOrphanedJobs())
  },

  async 'locks, and jobs whose workers are silent'(side, name) {
    const queue = side.backend(name, { lockDuration: 40 })
    for (let at = 0; at < 3; at += 1) await queue.addJob(job('j'), '')
    for (let at = 0; at < 3; at += 1) await queue.moveToActive(TOKEN)
    await side.note('extend', () => queue.extendLock('1', TOKEN, 30_000))
    await side.note('extend with another token', () => queue.extendLock('2', 'other', 30_000))
    await side.note('extend many', () => queue.extendLocks(['1', '2', '7'], [TOKEN, 'other', TOKEN], 30_000))
    await side.note('first look', () => queue.moveStalledJobsToWait())
    await sleep(60)
    await side.note('extend late', () => queue.extendLock('3', TOKEN, 10))
    await side.note('second look', async () => (await queue.moveStalledJobsToWait()).sort())
    await sleep(5)
    await side.note('complete late', () => queue.moveToCompleted(minimal('2'), 1, false, TOKEN, false))
    for (let turn = 0; turn < 2; turn += 1) {
      while ((await queue.moveToActive(TOKEN))[0] !== null);
      await sleep(60)
      await queue.moveStalledJobsToWait()
      await sleep(5)
      await queue.moveStalledJobsToWait()
      await sleep(5)
    }
    await side.note('reasons', async () => (await queue.getJobData('2'))?.deferredFailure)
    await side.note('counts', async () => (await queue.getJobData('2'))?.stalledCounter)
    await side.note('remove', () => queue.remove('1', false))
    await side.note('remove the others', async () => [await queue.remove('2', true), await queue.remove('77', true)])
  },

  async 'data, progress and logs'(side, name) {
    const queue = side.backend(name)
    await queue.addJob(job('ÄÖ €😀', {}, { data: JSON.stringify({ text: 'ä€😀'.repeat(50) }) }), 'id-€')
    await side.note('data', () => queue.updateData(minimal('id-€'), { other: [1, 'ß'] }))
    await side.note('data of none', () => queue.updateData(minimal('none'), 1))
    for (const progress of [10, { at: 1 }, 'half'])
      await side.note('progress', () => queue.updateProgress('id-€', progress as never))
    await side.note('progress of none', () => queue.updateProgress('none', 1))
    for (let at = 0; at < 6; at += 1)
      await side.note('log', () => queue.addLog('id-€', `row ${at}`, at > 3 ? 4 : undefined))
    await side.note('log of none', () => queue.addLog('none', 'row'))
    for (const [start, end] of [
      [0, -1],
      [1, 2],
      [0, 0],
      [2, 9],
    ] as const)
      for (const asc of [true, false]) await side.note('logs', () => queue.getJobLogs('id-€', start, end, asc))
    await side.note('clear', () => queue.clearLogs('id-€', 2))
    await side.note('logs', () => queue.getJobLogs('id-€', 0, -1, true))
    await side.note('clear all', async () => void (await queue.clearLogs('id-€')))
    await side.note('logs', () => queue.getJobLogs('id-€', 0, -1, true))
    await side.look(queue)
  },

  async 'counts, ranges and pages'(side, name) {
    const queue = side.backend(name)
    for (let at = 0; at < 5; at += 1) await queue.addJob(job('j'), '')
    for (const priority of [3, 1, 3]) await queue.addJob(job('p', { priority }), '')
    for (const delay of [9000, 3000, 6000]) await queue.addJob(job('d', { delay }), '')
    for (let at = 0; at < 3; at += 1) await processOne(queue)
    const types = [
      'waiting',
      'wait',
      'active',
      'delayed',
      'prioritized',
      'completed',
      'failed',
      'paused',
      'repeat',
    ] as never
    for (const [start, end] of [
      [0, 0],
      [0, 1],
      [1, 3],
      [0, -1],
      [-2, -1],
      [5, 9],
    ] as const)
      for (const asc of [true, false])
        await side.note(`range ${start} ${end} ${asc}`, () => queue.getRanges(types, start, end, asc))
    await side.note('defaults', () => queue.getRanges(types))
    await side.note('counts', () => queue.getCounts(types))
    await side.note('due', () => queue.getCounts(['delayed'] as never, Date.now() + 5000))
    await side.note('priorities', () => queue.getCountsPerPriority([0, 1, 2, 3]))
    for (const state of [
      'waiting',
      'wait',
      'active',
      'delayed',
      'prioritized',
      'completed',
      'failed',
      'waiting-children',
      'paused',
      'nonsense',
    ])
      await side.note(`in ${state}`, async () => [
        await queue.isJobInState(state, '4'),
        await queue.isJobInState(state, '9'),
      ])
    await side.note('state', async () => [
      await queue.getState('1'),
      await queue.getState('5'),
      await queue.getState('6'),
      await queue.getState('x'),
    ])
    await side.note('no client', async () => Array.isArray(await queue.getClientList()))
  },

  async 'metadata, limits and metrics'(side, name) {
    const queue = side.backend(name, { metrics: { maxDataPoints: 5 }, limiter: { max: 2, duration: 60_000 } })
    await side.note('set', () => queue.setQueueMeta({ version: 'v', concurrency: 1 }))
    await side.note('set again', () => queue.setQueueMeta({ version: 'w', other: 3 }))
    await side.note('get', () => queue.getQueueMetaField('version'))
    await side.note('get many', () => queue.getQueueMetaFields(['other', 'none']))
    for (let at = 0; at < 5; at += 1) await queue.addJob(job('j'), '')
    await side.note('maxed', () => queue.isMaxed())
    await queue.moveToActive(TOKEN)
    await side.note('maxed', () => queue.isMaxed())
    await side.note('second', () => queue.moveToActive(TOKEN))
    await side.note('remove', () => queue.removeQueueMetaFields(['concurrency', 'none']))
    await side.note('second', () => queue.moveToActive(TOKEN))
    await side.note('limited', async () => ((await queue.moveToActive(TOKEN))[2] ?? 0) > 50_000)
    await side.note('how long', async () => (await queue.getRateLimitTtl(2)) > 50_000)
    await side.note('not of three', () => queue.getRateLimitTtl(3))
    await side.note(
      'completed',
      async () => ((await queue.moveToCompleted(minimal('1'), 1, false, TOKEN, true)).result as number[])[2]! > 50_000,
    )
    await side.note('end it', () => queue.removeRateLimitKey())
    await side.note('end it again', () => queue.removeRateLimitKey())
    await side.note('none', () => queue.getRateLimitTtl())
    await side.note('block', () => queue.setRateLimit(50_000))
    await side.note('blocked', async () => (await queue.getRateLimitTtl()) > 40_000)
    await queue.setQueueMeta({ max: 1, duration: 1000 })
    await side.note('blocked', async () => (await queue.getRateLimitTtl()) > 40_000)
    await side.note('fail', async () => (await queue.moveToFailed(minimal('2'), 'x', false, TOKEN, false)).result)
    await side.note('metrics', async () => [
      await queue.getMetrics('completed'),
      (await queue.getMetrics('failed', 0, 3))[1],
    ])
    await side.note('old key', () => queue.removeDeprecatedPriorityKey())
    await side.look(queue)
  },

  async deduplication(side, name) {
    const queue = side.backend(name)
    const add = (what: string, options: object, more: JobsOptions = {}) =>
      side.note(what, () => queue.addJob(job(what, { deduplication: { id: 'd', ...options }, ...more }), ''))
    await add('first', {})
    await add('again', {})
    await side.note('who', () => queue.getDeduplicationJobId('d'))
    await processOne(queue)
    await add('after it', { ttl: 50_000 })
    await add('extended', { ttl: 50_000, extend: true })
    await side.note('not of 9', () => queue.removeDeduplicationKey('d', '9'))
    await side.note('delete', () => queue.deleteDeduplicationKey('d'))
    await side.note('delete again', () => queue.deleteDeduplicationKey('d'))
    await side.look(queue)
    await queue.drain(true)
    await add('delayed', { replace: true }, { delay: 5000 })
    await add('replaced', { replace: true, ttl: 5000 }, { delay: 6000 })
    await add('replaced again', { replace: true, ttl: 5000, extend: true })
    await side.look(queue)
    await side.note('who', () => queue.getDeduplicationJobId('d'))
    await queue.drain(true)
    await queue.deleteDeduplicationKey('d')
    await add('kept', { keepLastIfActive: true })
    await queue.moveToActive(TOKEN)
    const active = String((await queue.getRanges(['active'] as never, 0, -1))[0]?.[0])
    await add('while active', { keepLastIfActive: true })
    await add('latest', { keepLastIfActive: true }, { priority: 2 })
    await side.note('complete', () => queue.moveToCompleted(minimal(active), 1, false, TOKEN, false))
    await side.look(queue)
    await side.note('removed', async () => {
      const id = await queue.getDeduplicationJobId('d')
      return [await queue.remove(String(id), false), await queue.getDeduplicationJobId('d')]
    })
    await add('short', { ttl: 20 })
    await sleep(40)
    await add('after its time', { ttl: 20 })
    await side.look(queue)
  },

  async 'children, and what their failure means'(side, name) {
    const queue = side.backend(name)
    const queueKey = queue.qualifiedName
    const options: JobsOptions[] = [
      {},
      { failParentOnFailure: true },
      { continueParentOnFailure: true },
      { ignoreDependencyOnFailure: true },
      { removeDependencyOnFailure: true },
    ]
    for (const [at, opts] of options.entries()) {
      const id = `parent${at}`
      await side.note('parent', () =>
        queue.addJob(job('parent', { priority: at === 4 ? 3 : 0 }), id, { addToWaitingChildren: true }),
      )
      for (const each of ['a', 'b'])
        await side.note('child', () =>
          queue.addJob(child(each, { id, queueKey }, opts), `${id}${each}`, parentOpts(queueKey, id)),
        )
    }
    await side.note('orphan', () =>
      queue.addJob(child('c', { id: 'none', queueKey }), '', parentOpts(queueKey, 'none')),
    )
    await side.look(queue)
    for (let at = 0; at < 5; at += 1) {
      await queue.moveToActive(TOKEN)
      await queue.moveToActive(TOKEN)
      await side.note('fails', () => queue.moveToFailed(minimal(`parent${at}a`), 'bad', false, TOKEN, false))
      await side.note('counts', () =>
        queue.getDependencyCounts(`parent${at}`, ['processed', 'unprocessed', 'ignored', 'failed']),
      )
      await side.note('completes', () => queue.moveToCompleted(minimal(`parent${at}b`), { at }, false, TOKEN, false))
      await side.note('values', () => queue.getProcessedChildrenValues(`parent${at}`))
      await side.note('ignored', () => queue.getIgnoredChildrenFailures(`parent${at}`))
      await side.note('page', () =>
        queue.getDependencies(`parent${at}`, { processed: {}, unprocessed: {}, ignored: {}, failed: {} }),
      )
      await side.look(queue)
      await queue.drain(true)
    }
    for (const table of ['processed', 'dependencies', 'failed', 'nothing'])
      await side.note(table, async () => {
        const page = await queue.paginate(queue.toKey(`parent2:${table}`), { start: 0, end: -1, fetchJobs: true })
        return { ...page, cursor: Number(page.cursor) }
      })
    await side.note('retried child', () => queue.retryFinishedJob(minimal('parent0a'), 'failed'))
    await side.look(queue)
  },

  async 'parents that wait, and children that go'(side, name) {
    const queue = side.backend(name)
    const other = side.backend(`${name}-other`)
    const queueKey = queue.qualifiedName
    const parent = async (id: string) => {
      await queue.addJob(job('parent'), id, { addToWaitingChildren: true })
      for (const each of ['a', 'b', 'c'])
        await other.addJob(child(each, { id, queueKey }), `${id}${each}`, parentOpts(queueKey, id))
    }
    await parent('p')
    await side.note('detach', () => other.removeChildDependency('pa', queue.toKey('p')))
    await side.note('detach again', () => other.removeChildDependency('pa', queue.toKey('p')))
    await side.note('detach none', () => other.removeChildDependency('none', queue.toKey('p')))
    await side.note('detach from none', () => other.removeChildDependency('pb', queue.toKey('none')))
    await side.note('remove', () => other.remove('pb', true))
    await other.moveToActive(TOKEN)
    await side.note('locked', () => other.remove('pa', true))
    await side.note('parent of locked', async () => (await other.moveToActive(TOKEN))[1])
    await side.note('locked family', () => queue.remove('p', true))
    await side.look(queue)
    await side.look(other)
    await side.note('last child', () => other.moveToCompleted(minimal('pc'), 5, true, TOKEN, false))
    await side.look(queue)
    await parent('q')
    await side.note('unprocessed', () => queue.removeUnprocessedChildren('q'))
    await side.look(queue, ['q'])
    await side.look(other)
    await parent('r')
    await side.note('family', () => queue.remove('r', true))
    await side.look(queue)
    await side.look(other)
    await side.note('running parent', () => queue.addJob(job('s'), 's'))
    while ((await queue.moveToActive(TOKEN))[1] !== 's');
    await other.addJob(child('sa', { id: 's', queueKey }), 'sa', parentOpts(queueKey, 's'))
    await side.note('not done', () => queue.moveToCompleted(minimal('s'), 1, false, TOKEN, false))
    await side.note('waits for another', () =>
      queue.moveToWaitingChildren('s', TOKEN, { child: { id: 'x', queue: 'y' } }),
    )
    await side.note('waits', () => queue.moveToWaitingChildren('s', TOKEN, {}))
    await side.note('waits again', () => queue.moveToWaitingChildren('s', TOKEN, {}))
    await side.note('none waits', () => queue.moveToWaitingChildren('none', TOKEN, {}))
    await side.look(queue)
  },

  async 'flows over queues'(side, name) {
    const parent = side.backend(name)
    const flows = side.flows()
    const flow = {
      name: 'p',
      queueName: name,
      opts: { jobId: 'flow' },
      children: ['a', 'b'].map((each) => ({
        name: each,
        queueName: `${name}-c`,
        data: { each },
        opts: { jobId: each },
      })),
    }
    await side.note('flow', async () => (await flows.add(flow))?.job.id)
    const children = side.backend(`${name}-c`)
    await side.look(parent)
    await side.look(children)
    await processOne(children)
    await processOne(children)
    await side.look(parent)
    await side.note('attach', async () => (await flows.add({ ...flow, opts: { jobId: 'second' } }))?.job.id)
    await side.look(parent)
    await side.look(children)
    await side.note('tree', async () => (await flows.getFlow({ id: 'flow', queueName: name }))?.children?.length)
    await side.note(
      'taken',
      async () =>
        (
          await flows.add({
            name: 'q',
            queueName: name,
            opts: { jobId: 'third' },
            children: [{ name: 'a', queueName: `${name}-c`, opts: { jobId: 'a' } }],
          })
        )?.job.id,
    )
    await side.look(parent)
  },

  async 'job schedulers'(side, name) {
    const queue = side.queue(name)
    const backend = side.backend(name)
    const brief = (each: unknown) => {
      const { id, name: title, opts } = (each ?? {}) as { id?: string; name?: string; opts?: JobsOptions }
      return { id, title, attempts: opts?.attempts }
    }
    await side.note('every', async () =>
      brief(
        await queue.upsertJobScheduler(
          'e',
          { every: 100_000, startDate: Date.now() + 50_000_000 },
          { name: 'tick', data: { a: 1 }, opts: { attempts: 3 } },
        ),
      ),
    )
    await side.note('cron', async () =>
      brief(await queue.upsertJobScheduler('c', { pattern: '0 0 1 1 *', limit: 4, tz: 'UTC' }, { name: 'yearly' })),
    )
    await side.note('count', () => queue.getJobSchedulersCount())
    await side.note('all', async () =>
      (await queue.getJobSchedulers()).map((each) => ({ ...each, next: 0, offset: 0 })),
    )
    await side.note('all, ascending', async () => (await queue.getJobSchedulers(0, 5, true)).map((each) => each?.key))
    await side.note('one', async () => ({ ...(await queue.getJobScheduler('c')), next: 0 }))
    await side.note('none', () => queue.getJobScheduler('none'))
    await side.note('known', async () => [await backend.isJobScheduler('e'), await backend.isJobScheduler('x')])
    await side.note('data', async () => Object.keys(await backend.getJobSchedulerData('c')).sort())
    await side.look(backend)
    const next = async () => String((await backend.getRanges(['delayed'] as never, 0, 0, true))[0]?.[0])
    await side.note('not removed', async () => backend.remove(await next(), false))
    await side.note('drain', async () => void (await backend.drain(true)))
    await side.note('still there', () => backend.getCounts(['delayed'] as never))
    await side.note('promote', async () => backend.promote(await next()))
    await side.note('take', () => backend.moveToActive(TOKEN))
    const active = String((await backend.getRanges(['active'] as never, 0, 0, true))[0]?.[0])
    await side.note('next one', () =>
      backend.updateJobSchedulerNextMillis('e', 0, '{}', { repeat: { every: 100_000 } } as never, active),
    )
    await side.note(
      'not twice',
      async () =>
        (await backend.updateJobSchedulerNextMillis('e', 0, '{}', { repeat: { every: 100_000 } } as never, active)) ??
        null,
    )
    await side.note(
      'of none',
      async () => (await backend.updateJobSchedulerNextMillis('x', 0, '{}', {}, active)) ?? null,
    )
    await side.note('replace', async () =>
      brief(await queue.upsertJobScheduler('e', { every: 200_000 }, { name: 'tock' })),
    )
    await side.note('replaced', async () => ({ ...(await queue.getJobScheduler('e')), next: 0, offset: 0 }))
    await side.note('remove', () => queue.removeJobScheduler('e'))
    await side.note('remove again', () => queue.removeJobScheduler('e'))
    await side.look(backend)
  },

  async 'events, and waiting for them'(side, name) {
    const queue = side.backend(name)
    const reader = side.backend(name)
    await side.note('none', () => queue.readEvents('$', 20))
    const waiting = reader.readEvents('$', 5000)
    await sleep(20)
    await side.note('publish', async () => /^\d+-\d+$/.test(await queue.publishEvent({ event: 'own', number: 5 }, 100)))
    await side.note('read', async () => (await waiting)?.[0]?.[1].map(([, fields]) => fields))
    for (let at = 0; at < 5; at += 1) await queue.publishEvent({ event: 'own', at }, 100)
    await side.note('from the start', async () => (await queue.readEvents('0', 10))?.[0]?.[1].length)
    await side.note('trim nothing', () => queue.trimEvents(100))
    const events = side.events(name)
    await events.waitUntilReady()
    const heard = new Promise((resolve) => events.on('completed', resolve))
    await sleep(100)
    await queue.addJob(job('j'), '')
    await processOne(queue)
    await side.note('heard', () => heard)
  },

  async 'waiting for jobs'(side, name) {
    const queue = side.backend(name)
    await side.note('none', () => queue.waitForJob(0.05))
    const waiting = queue.waitForJob(5)
    await sleep(20)
    await side.backend(name).addJob(job('j'), '')
    await side.note('woken', () => waiting)
    await side.note('once', () => queue.waitForJob(0.01))
    await queue.addJob(job('later', { delay: 5000 }), '')
    await side.note('until', () => queue.waitForJob(0.5))
    const interrupted = queue.waitForJob(5).catch(() => null)
    await sleep(20)
    await side.note('interrupt', () => queue.disconnectBlocking(true))
    await side.note('interrupted', () => interrupted)
    await side.note('again', () => queue.reconnectBlocking())
    await side.note('works', () => queue.waitForJob(0.01))
    const sibling = queue.forQueue(`${name}-sibling`)
    await side.note('sibling', () => [sibling.qualifiedName, sibling.closing])
    await side.note('listeners', async () => {
      queue.once('ready', () => {})
      queue.removeListener('ready', () => {})
    })
    const ending = side.backend(name)
    await ending.waitUntilReady()
    await side.note('close', () => ending.close())
    await side.note('closing', async () => typeof ending.closing)
    await side.note('disconnect', () => side.backend(name).disconnect())
  },

  async 'a worker with retries, limits and a flow'(side, name) {
    const queue = side.queue(name)
    const attempts = new Map<string, number>()
    const done: string[] = []
    const worker = side.worker(
      name,
      async ({ name: title, id = '' }) => {
        attempts.set(id, (attempts.get(id) ?? 0) + 1)
        if (title === 'flaky' && attempts.get(id)! < 3) throw new Error('not yet')
        if (title === 'bad') throw new Error('never')
        return title
      },
      { concurrency: 1 },
    )
    const finished = new Promise<void>((resolve) => {
      const count = (job: { name?: string; attemptsMade?: number } | undefined, how: string, isLast: boolean) => {
        if (isLast) done.push(`${job?.name} ${how}`)
        if (done.length === 4) resolve()
      }
      worker.on('completed', (each) => count(each, 'completed', true))
      worker.on('failed', (each) => count(each, 'failed', each?.name === 'bad' && each.attemptsMade === 2))
    })
    await queue.add('plain', { a: 1 })
    await queue.add('flaky', {}, { attempts: 3, backoff: { type: 'fixed', delay: 30 } })
    await queue.add('bad', {}, { attempts: 2 })
    await queue.add('soon', {}, { delay: 100 })
    await finished
    await side.note('done', () => done.sort())
    await side.note('counts', () => queue.getJobCounts())
    await side.note('failed', async () =>
      (await queue.getFailed()).map(({ failedReason, attemptsMade, attemptsStarted }) => ({
        failedReason,
        attemptsMade,
        attemptsStarted,
      })),
    )
    await worker.close()
  },
}
