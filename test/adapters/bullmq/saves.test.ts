/** BullMQ's queues in a save of their space, and what is restored of them. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { IQueueBackend } from 'bullmq'
import type { AetherBackend } from '../../../src/adapters/bullmq/aether-backend.ts'
import { aetherBackend } from '../../../src/adapters/bullmq/index.ts'
import { QueueOffset } from '../../../src/adapters/bullmq/queue/layout.ts'
import type { Queues } from '../../../src/adapters/bullmq/queue/queues.ts'
import { HeaderOffset } from '../../../src/adapters/bullmq/store/layout.ts'
import { StoreHold } from '../../../src/adapters/bullmq/store-hold.ts'
import { open, type Space } from '../../../src/public/index.ts'
import { openStructures } from '../../../src/public/structures.ts'
import { importSave, verifySave } from '../../../src/saving/index.ts'
import { STORE_NAME } from '../../../src/structures/index.ts'
import { until, useRuntimeDirectory } from '../../cluster/support.ts'
import { RankProcess } from '../../support/rank-process.ts'
import { restartMachine } from '../../support/restarted-machine.ts'
import { child, job, minimal, programs } from './programs.ts'
import { Side } from './sides.ts'
import { contentsOf } from './store-contents.ts'

useRuntimeDirectory()
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'aether-saved-bullmq-')))
after(() => rmSync(scratch, { recursive: true }))
const worker = new URL('./fixtures/worker.js', import.meta.url)
const TOKEN = 'a-token'
const HOUR = 3_600_000

let made = 0
const newPath = (): string => join(scratch, `${++made}`)

async function withBackend<T>(
  space: string,
  act: (queue: AetherBackend) => Promise<T>,
  settings: object = {},
): Promise<T> {
  const made = aetherBackend(space)('jobs', { connection: {}, ...settings } as never)
  const backend = made as AetherBackend
  try {
    return await act(backend)
  } finally {
    await backend.close()
  }
}

async function withQueues<T>(space: string, act: (queues: Queues) => Promise<T>): Promise<T> {
  const hold = new StoreHold(space, undefined)
  try {
    return await act(await hold.open())
  } finally {
    await hold.close()
  }
}

/** Run in a space of that name, and save it; its memory is gone then. */
async function saved(name: string, act: (space: Space) => Promise<void>): Promise<string> {
  const file = newPath()
  await using space = await open(name)
  await act(space)
  const { omitted } = await space.save({ file })
  assert.deepEqual(omitted, [])
  return file
}

for (const consistent of [false, true])
  test(`all that programs can make comes back${consistent ? ', from a save of one instant, too' : ''}`, async () => {
    const name = `programs-${consistent}`
    const file = newPath()
    let before: unknown
    {
      await using space = await open(name)
      for (const [at, program] of Object.values(programs).entries()) {
        await using side = new Side('aether', name)
        await program(side, `queue-${at}`)
      }
      before = await withQueues(name, contentsOf)
      const { omitted, regions } = await space.save({ file, consistent })
      assert.deepEqual([omitted, regions], [[], 2])
    }
    assert.ok(JSON.stringify(before).length > 10_000)
    await using space = await open(name, { save: { file } })
    assert.deepEqual(space.restored?.omitted, [])
    assert.deepEqual(await withQueues(name, contentsOf), before)
  })

const countsOf = (queue: IQueueBackend): Promise<number[]> =>
  queue.getCounts(['waiting', 'prioritized', 'delayed', 'active', 'completed', 'failed', 'waiting-children'])

test('jobs of every state go on, with flows, schedulers, deduplication, logs and events', async () => {
  let events: unknown
  const file = await saved('states', async () => {
    await withBackend('states', async (queue) => {
      const parent = { id: 'parent', queueKey: queue.qualifiedName }
      const parentKey = { parentKey: queue.toKey('parent'), parentDependenciesKey: queue.toKey('parent:dependencies') }
      await queue.addJob(job('completed'), 'completed')
      await queue.addJob(job('failed'), 'failed')
      await queue.addJob(job('active'), 'active')
      for (const id of ['completed', 'failed', 'active']) assert.equal((await queue.moveToActive(TOKEN))[1], id)
      await queue.moveToCompleted(minimal('completed'), { done: true }, false, TOKEN, false)
      await queue.moveToFailed(minimal('failed'), 'no', false, TOKEN, false, { failedReason: 'no' })
      await queue.addJob(job('waits', { deduplication: { id: 'once' } }), 'waits')
      await queue.addLog('waits', 'a row')
      await queue.addJob(job('prioritized', { priority: 3 }), 'prioritized')
      await queue.addJob(job('delayed', { delay: HOUR }), 'delayed')
      await queue.addFlow([
        {
          jobData: job('parent'),
          jobId: 'parent',
          parentKeyOpts: { addToWaitingChildren: true } as never,
          prefix: 'bull',
          queueName: 'jobs',
        },
        {
          jobData: child('child', parent),
          jobId: 'child',
          parentKeyOpts: parentKey,
          prefix: 'bull',
          queueName: 'jobs',
        },
      ])
      await queue.pause(true)
      assert.deepEqual(await countsOf(queue), [2, 1, 1, 1, 1, 1, 1])
      events = await queue.readEvents('0-0', 1)
    })
  })
  await using _space = await open('states', { save: { file } })
  await withBackend('states', async (queue) => {
    assert.deepEqual(await countsOf(queue), [2, 1, 1, 1, 1, 1, 1])
    assert.deepEqual(await queue.readEvents('0-0', 1), events)
    assert.deepEqual(await queue.isFinished('completed', true), [1, '{"done":true}'])
    assert.deepEqual(await queue.isFinished('failed', true), [2, 'no'])
    assert.deepEqual((await queue.getJobLogs('waits', 0, -1, true)).logs, ['a row'])
    // It still is the job of that id.
    assert.equal(await queue.addJob(job('waits', { deduplication: { id: 'once' } }), 'another'), 'waits')
    assert.deepEqual(await queue.moveToActive(TOKEN), [null, 0, 0, 0], 'it is still paused')
    await queue.pause(false)
    assert.deepEqual(await queue.moveStalledJobsToWait(), ['active'])
    const taken: unknown[] = []
    for (;;) {
      const [, id] = (await queue.moveToActive(TOKEN)) as [unknown, string | 0]
      if (id === 0) break
      taken.push(id)
      await queue.moveToCompleted(minimal(id), id, false, TOKEN, false)
    }
    // The parent follows its child.
    assert.deepEqual(taken, ['active', 'waits', 'child', 'parent', 'prioritized'])
    assert.deepEqual(await queue.getProcessedChildrenValues('parent'), { [queue.toKey('child')]: '"child"' })
    assert.deepEqual(await countsOf(queue), [0, 0, 1, 0, 6, 1, 0])
  })
})

test('a job whose worker had its lock is given back by the first check, whoever has its number now', async () => {
  const settings = { lockDuration: HOUR, stalledInterval: HOUR }
  const file = await saved('held', async () => {
    await withBackend(
      'held',
      async (queue) => {
        for (const id of ['a', 'b']) await queue.addJob(job(id), id)
        for (let taken = 0; taken < 2; taken += 1) await queue.moveToActive(TOKEN)
        assert.deepEqual(await queue.moveStalledJobsToWait(), [])
      },
      settings,
    )
  })
  await using space = await open('held', { save: { file } })
  // All numbers of members that the first life can have used are in use again.
  const others = await Promise.all(Array.from({ length: 8 }, () => open('held')))
  assert.ok(space.members().length > 8)
  await withBackend(
    'held',
    async (queue) => {
      assert.equal(await queue.getState('a'), 'active')
      await assert.rejects(queue.moveToCompleted(minimal('a'), 1, false, TOKEN, false), /Missing lock/)
      assert.deepEqual((await queue.moveStalledJobsToWait()).toSorted(), ['a', 'b'])
      assert.deepEqual(await queue.moveStalledJobsToWait(), [], 'the next check is an hour away')
      assert.deepEqual(await countsOf(queue), [2, 0, 0, 0, 0, 0, 0])
    },
    settings,
  )
  for (const other of others) await other.close()
})

test('times go on: limits and deduplication keys, by the clock of another memory', async () => {
  const directory = newPath()
  await (await open('timed', { directory })).close()
  // The clock of this space is half a day ahead of that of one that is new.
  restartMachine(directory, false, 12 * HOUR)
  const file = newPath()
  {
    await using space = await open('timed', { directory })
    await withBackend('timed', async (queue) => {
      await queue.setRateLimit(2 * HOUR)
      await queue.addJob(job('long', { deduplication: { id: 'long', ttl: 2 * HOUR } }), 'long')
      await queue.addJob(job('short', { deduplication: { id: 'short', ttl: 1 } }), 'short')
    })
    await space.save({ file })
  }
  for (let life = 0; life < 2; life += 1) {
    await using space = await open('timed', { save: { file } })
    assert.equal(space.restored?.reason, 'missing')
    await withBackend('timed', async (queue) => {
      const left = await queue.getRateLimitTtl()
      assert.ok(left > HOUR && left <= 2 * HOUR, `${left} ms`)
      assert.equal(await queue.addJob(job('long', { deduplication: { id: 'long', ttl: 1 } }), 'other'), 'long')
      await sleep(5)
      assert.equal(await queue.addJob(job('short', { deduplication: { id: 'short', ttl: 1 } }), 'third'), 'third')
    })
    // What is saved from a restored one goes on, too.
    await space.save({ file })
  }
})

test('what a killed process had begun is undone in the restored one', async () => {
  const text = 'a text at the end of what is used'.repeat(100_000)
  let place = 0
  const file = await saved('begun', async () => {
    await withBackend('begun', async (queue) => void (await queue.addJob(job('a'), '7')))
    await withQueues('begun', async ({ store }) => {
      const at = await store.transaction(() => store.tables.first(HeaderOffset.Queues))
      place = await store.transaction(() => store.texts.add(text))
      // As if it had been killed here.
      store.memory.setFloat(at + QueueOffset.Id, 1000)
      store.memory.setWord(at + QueueOffset.Flags, 0xff)
      store.texts.free(place)
      store.allocator.settle()
    })
  })
  await using _space = await open('begun', { save: { file } })
  await withQueues('begun', async ({ store }) => {
    assert.equal(await store.transaction(() => store.texts.get(place)), text)
  })
  await withBackend('begun', async (queue) => {
    assert.equal(await queue.addJob(job('b'), ''), '2')
    assert.deepEqual(await countsOf(queue), [2, 0, 0, 0, 0, 0, 0])
  })
})

test('saves under load: no job is lost, and none is half', async () => {
  const name = 'loaded'
  const file = (at: number): string => join(scratch, `loaded-${at}`)
  const acknowledged: string[] = []
  const before: string[][] = []
  {
    await using space = await open(name)
    const [producer, consumer] = [new RankProcess(worker, {}), new RankProcess(worker, {})]
    producer.child.on('message', ({ added }: { added?: string }) => added !== undefined && acknowledged.push(added))
    await consumer.call('work', name, 'jobs')
    await producer.call('produce', name, 'jobs', 'p-')
    for (let at = 0; at < 2; at += 1) {
      const enough = acknowledged.length + 50
      await until(() => acknowledged.length > enough, 'more jobs are added')
      before.push([...acknowledged])
      await space.save({ file: file(at) })
    }
    for (const each of [producer, consumer]) await each.kill()
  }
  for (const [at, ids] of before.entries()) {
    await using _space = await open(name, { save: { file: file(at) } })
    const last = new RankProcess(worker, {})
    await last.call('work', name, 'jobs')
    await withBackend(name, async (queue) => {
      let unfinished = 1
      while (unfinished > 0) {
        const counts = await countsOf(queue)
        unfinished = counts.slice(0, 4).reduce((sum, count) => sum + count)
        await sleep(10)
      }
      await last.kill()
      for (const id of ids)
        assert.deepEqual(await queue.isFinished(id, true), [1, JSON.stringify(id)], `${id} in save ${at}`)
      const counts = await countsOf(queue)
      assert.equal(counts[4], await withQueues(name, jobsIn))
    })
  }
})

/** Jobs of the queue `bull:jobs`, in whatever state. */
async function jobsIn(queues: Queues): Promise<number> {
  return await queues.store.transaction(() => {
    const queue = queues.get('bull:jobs')
    return [...queue.entries()].filter((each) => queue.exists(each)).length
  })
}

test('they are imported into another space, and never into one that has queues', async () => {
  const file = await saved('exported', async () => {
    await withBackend('exported', async (queue) => void (await queue.addJob(job('a'), 'a')))
  })
  await using _other = await open('another')
  await importSave(file, { name: 'another', adds: false })
  await withBackend('another', async (queue) => {
    assert.deepEqual(await countsOf(queue), [1, 0, 0, 0, 0, 0, 0])
    await queue.addJob(job('b'), 'b')
    await assert.rejects(importSave(file, { name: 'another', adds: false }), { code: 'ERR_AETHER_SAVE_MISMATCH' })
    await assert.rejects(importSave(file, { name: 'another', adds: true }), {
      code: 'ERR_AETHER_SAVE_MISMATCH',
      message: /already has queues of BullMQ.*import into another space/,
    })
    assert.deepEqual(await countsOf(queue), [2, 0, 0, 0, 0, 0, 0])
  })
  // What has no queues yet can be added to.
  await using third = await open('third')
  await using shared = await openStructures(third)
  ;(await shared.counter('mine')).setSync(4)
  await importSave(file, { name: 'third', adds: true })
  await withBackend('third', async (queue) => assert.deepEqual(await countsOf(queue), [1, 0, 0, 0, 0, 0, 0]))
  assert.equal((await shared.counter('mine')).getSync(), 4)
})

test('a restored store has all of the room that it had', async () => {
  const data = JSON.stringify('x'.repeat(5000))
  const fill = async (): Promise<number> => {
    const queue = aetherBackend('room', { size: '4MiB' })('jobs', { connection: {} } as never)
    try {
      for (;;) await queue.addJob(job('large', {}, { data }), '')
    } catch (error) {
      assert.equal((error as { code?: unknown }).code, 'ERR_AETHER_HEAP_FULL')
      return (await queue.getCounts(['waiting']))[0]!
    } finally {
      await queue.close()
    }
  }
  const file = newPath()
  let room = 0
  {
    await using space = await open('room')
    const queue = aetherBackend('room', { size: '4MiB' })('jobs', { connection: {} } as never)
    await queue.addJob(job('first'), '')
    await queue.close()
    await space.save({ file })
    room = await fill()
    await space.save({ file: `${file} full` })
  }
  assert.ok(room > 100)
  {
    await using _space = await open('room', { save: { file } })
    assert.equal(await fill(), room)
  }
  await using _full = await open('room', { save: { file: `${file} full` } })
  assert.equal(await fill(), room)
})

test('damage anywhere in them is found, and nothing is restored then', async () => {
  const file = await saved('damaged', async () => {
    await withBackend('damaged', async (queue) => {
      for (let at = 0; at < 20; at += 1) await queue.addJob(job(`job ${at}`), '')
    })
  })
  const whole = readFileSync(file)
  const { plainRegions } = await verifySave(file)
  assert.deepEqual(plainRegions, [STORE_NAME])
  assert.ok(whole.length > 20_000)
  for (let at = 5; at < whole.length; at += 211) {
    const changed = Buffer.from(whole)
    changed[at] = changed[at]! ^ (1 << (at % 8))
    writeFileSync(file, changed)
    await assert.rejects(verifySave(file), /is damaged|is a save of format/, `byte ${at} was changed`)
  }
  await assert.rejects(open('damaged', { save: { file } }), { code: 'ERR_AETHER_SAVE_DAMAGED' })
  writeFileSync(file, whole)
  await using _space = await open('damaged', { save: { file } })
  await withBackend('damaged', async (queue) => assert.deepEqual((await countsOf(queue))[0], 20))
})

test('saves without queues that an older version wrote are read', async () => {
  const file = await saved('older', async (space) => {
    await using region = await space.openRegion('bytes', { size: 4096 })
    region.uint8[9] = 9
  })
  const bytes = readFileSync(file)
  assert.equal(bytes.readUInt32LE(12), 2)
  bytes.writeUInt32LE(1, 12)
  writeFileSync(file, bytes)
  await using space = await open('older', { save: { file } })
  await using region = await space.openRegion('bytes')
  assert.equal(region.uint8[9], 9)
})

test('if a process keeps the queues, a save fails and names it, and the next one works when it is gone', async () => {
  await using space = await open('kept')
  const file = newPath()
  const keeper = new RankProcess(worker, {})
  await keeper.call('keep', 'kept', 'jobs')
  const { pid } = keeper.child
  const named = new RegExp(`^process ${pid} .*has held the queues of BullMQ for 10 s.*kill -CONT ${pid}`)
  await assert.rejects(space.save({ file }), { code: 'ERR_AETHER_TIMEOUT', message: named })
  await keeper.kill()
  assert.deepEqual((await space.save({ file })).omitted, [])
})
