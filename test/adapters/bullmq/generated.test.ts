import process from 'node:process'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { IQueueBackend, JobsOptions } from 'bullmq'
import fc from 'fast-check'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { assertWhole, withStore } from './checking/whole-store.ts'
import { child, job, minimal } from './programs.ts'
import { assertSame, compare, noRedis, type Program, type Side, TestRedis } from './sides.ts'

const skip = process.platform === 'linux' ? noRedis : 'shared memory needs Linux'
/** How many programs are run; `AETHER_TEST_PROGRAMS=500` makes a soak of it. */
const PROGRAMS = Number(process.env['AETHER_TEST_PROGRAMS'] ?? 6)
const STEPS_MAX = 30
/** Set to look for the shortest program that fails. */
const SHRINK = process.env['AETHER_TEST_SHRINK']
const TOKEN = 'a-token'
const IDS = ['a', 'b', 'c', 'd', '1', '2', '3'] as const
const STATES = ['wait', 'active', 'delayed', 'prioritized', 'completed', 'failed'] as const

/** A step: what it is called, and what it does. */
interface Step {
  readonly text: string
  run(queue: IQueueBackend, side: Side): Promise<unknown>
}

const id = fc.constantFrom(...IDS)
/** BullMQ refuses numbers as names. */
const ownId = fc.constantFrom('a', 'b', 'c', 'd')
const keep = fc.constantFrom(true, false, 1, 3)

const options: fc.Arbitrary<JobsOptions> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  fc.record({ priority: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ delay: fc.constantFrom(3_600_000, 7_200_000) }),
  fc.record({ lifo: fc.constant(true) }),
  fc.record({
    deduplication: fc.record(
      {
        id: fc.constantFrom('x', 'y'),
        ttl: fc.constant(3_600_000),
        extend: fc.boolean(),
        replace: fc.boolean(),
        keepLastIfActive: fc.boolean(),
      },
      { requiredKeys: ['id'] },
    ),
    delay: fc.constantFrom(0, 3_600_000),
  }),
)

const childOptions: fc.Arbitrary<JobsOptions> = fc.constantFrom(
  {},
  { failParentOnFailure: true },
  { continueParentOnFailure: true },
  { ignoreDependencyOnFailure: true },
  { removeDependencyOnFailure: true },
)

function step<T extends readonly unknown[]>(
  name: string,
  args: fc.Arbitrary<T>,
  run: (queue: IQueueBackend, ...args: T) => Promise<unknown>,
): fc.Arbitrary<Step> {
  return args.map((each) => ({
    text: `${name}(${JSON.stringify(each).slice(1, -1)})`,
    run: async (queue) => await run(queue, ...each),
  }))
}

const none: fc.Arbitrary<[]> = fc.constant([])

/** Lists and sets whose order is left to Redis come sorted. */
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: step('add', fc.tuple(options), (queue, opts) => queue.addJob(job('any', opts), '')) },
  {
    weight: 3,
    arbitrary: step('addNamed', fc.tuple(ownId, options), (queue, name, opts) => queue.addJob(job(name, opts), name)),
  },
  step('addParent', fc.tuple(ownId), (queue, name) => queue.addJob(job(name), name, { addToWaitingChildren: true })),
  {
    weight: 4,
    arbitrary: step('addChild', fc.tuple(ownId, id, childOptions), (queue, name, parent, opts) => {
      const parentKey = queue.toKey(parent)
      const at = { parentKey, parentDependenciesKey: `${parentKey}:dependencies` }
      return name === parent
        ? Promise.resolve()
        : queue.addJob(child(name, { id: parent, queueKey: queue.qualifiedName }, opts), name, at)
    }),
  },
  { weight: 6, arbitrary: step('take', none, (queue) => queue.moveToActive(TOKEN, 'a worker')) },
  {
    weight: 5,
    arbitrary: step('complete', fc.tuple(keep, fc.boolean()), (queue, count, next) =>
      withActive(queue, (active) => queue.moveToCompleted(minimal(active), { active }, count, TOKEN, next)),
    ),
  },
  {
    weight: 3,
    arbitrary: step('fail', fc.tuple(keep, fc.boolean()), (queue, count, next) =>
      withActive(queue, (active) =>
        queue.moveToFailed(minimal(active, { attempts: 1 }), 'bad', count, TOKEN, next, { failedReason: 'bad' }),
      ),
    ),
  },
  step('later', fc.tuple(fc.boolean()), (queue, fetchNext) =>
    withActive(queue, (active) => queue.moveToDelayed(active, Date.now(), 3_600_000, TOKEN, { fetchNext })),
  ),
  step('retry', fc.tuple(fc.boolean()), (queue, lifo) =>
    withActive(queue, (active) => queue.retryJob(active, lifo, TOKEN)),
  ),
  step('giveBack', none, (queue) => withActive(queue, (active) => queue.moveJobFromActiveToWait(active, TOKEN))),
  step('awaitChildren', none, (queue) => withActive(queue, (active) => queue.moveToWaitingChildren(active, TOKEN))),
  step('pause', fc.tuple(fc.boolean()), async (queue, paused) => void (await queue.pause(paused))),
  step('drain', fc.tuple(fc.boolean()), async (queue, delayed) => void (await queue.drain(delayed))),
  step('clean', fc.tuple(fc.constantFrom(...STATES), fc.integer({ min: 0, max: 2 })), (queue, state, limit) =>
    queue.cleanJobsByState(state, Date.now() + 10_000, limit),
  ),
  step('remove', fc.tuple(id, fc.boolean()), (queue, name, children) => queue.remove(name, children)),
  step('removeUnprocessed', fc.tuple(id), async (queue, name) => void (await queue.removeUnprocessedChildren(name))),
  step('removeChildDependency', fc.tuple(id, id), (queue, name, parent) =>
    queue.removeChildDependency(name, queue.toKey(parent)),
  ),
  step('promote', fc.tuple(id), (queue, name) => queue.promote(name)),
  step('promoteAll', fc.tuple(fc.constantFrom(1, 100)), (queue, count) => queue.promoteJobs(count)),
  step(
    'reprocess',
    fc.tuple(id, fc.constantFrom('completed' as const, 'failed' as const), fc.boolean()),
    (queue, name, state, reset) =>
      queue.retryFinishedJob(minimal(name), state, { resetAttemptsMade: reset, resetAttemptsStarted: !reset }),
  ),
  step(
    'retryAll',
    fc.tuple(fc.constantFrom('completed' as const, 'failed' as const), fc.constantFrom(1, 100)),
    (queue, state, count) => queue.retryFinishedJobs(state, count, Date.now() + 10_000),
  ),
  step('changePriority', fc.tuple(id, fc.integer({ min: 0, max: 3 }), fc.boolean()), (queue, name, priority, lifo) =>
    queue.changePriority(name, priority, lifo),
  ),
  step('changeDelay', fc.tuple(id), (queue, name) => queue.changeDelay(name, 3_600_000)),
  step('update', fc.tuple(id), (queue, name) => queue.updateData(minimal(name), { changed: name })),
  step('log', fc.tuple(id, fc.integer({ min: 0, max: 2 })), (queue, name, kept) => queue.addLog(name, 'row', kept)),
  step('concurrency', fc.tuple(fc.integer({ min: 1, max: 2 })), (queue, concurrency) =>
    queue.setQueueMeta({ concurrency }),
  ),
  step('noConcurrency', none, (queue) => queue.removeQueueMetaFields(['concurrency'])),
  step('forgetDeduplication', fc.tuple(fc.constantFrom('x', 'y')), (queue, name) => queue.deleteDeduplicationKey(name)),
  step('obliterate', fc.tuple(fc.boolean()), async (queue, force) => {
    await queue.pause(true)
    try {
      return await queue.obliterate({ force, count: 3 })
    } finally {
      await queue.pause(false)
    }
  }),
  step('waitForJob', none, async (queue) => (await queue.waitForJob(0.002))?.member),
)

/** With the job that became active first. */
async function withActive<T>(queue: IQueueBackend, use: (id: string) => Promise<T>): Promise<T | undefined> {
  const active = (await queue.getRanges(['active'] as never, -1, -1))[0]?.[0]
  return active === undefined ? undefined : await use(active)
}

describe('generated programs see the same in shared memory and on Redis', { skip }, async () => {
  if (skip !== false) return
  useRuntimeDirectory()
  const redis = await TestRedis.start()
  after(async () => await redis[Symbol.asyncDispose]())

  it(`${PROGRAMS} programs`, async () => {
    const property = fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: STEPS_MAX }), async (program) => {
      const run: Program = async (side, name) => {
        const queue = side.backend(name)
        for (const { text, run: act } of program) {
          await side.note(text, () => act(queue, side))
          await side.look(queue, IDS)
          // Jobs that finish in one millisecond are in the order of their ids.
          await sleep(2)
        }
        if (side.kind === 'aether')
          await withStore('generated', (store) => assertWhole(store, program.map(({ text }) => text).join()))
      }
      const seen = await compare(redis, 'generated', run)
      assertSame(seen.aether, seen.redis)
    })
    const seed = Number(process.env['AETHER_TEST_SEED'] ?? Date.now() % 2 ** 31)
    await fc.assert(property, {
      numRuns: PROGRAMS,
      seed,
      includeErrorInReport: true,
      endOnFailure: SHRINK === undefined,
    })
  })
})
