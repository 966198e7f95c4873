import { join, open, type Space } from '../../../src/public/index.ts'
import * as door from '../../../src/public/structures.ts'
import { inLists, type Recipe, type Recipes } from '../recipe.ts'

/** Structures on one machine, and those of a group of one rank. */
export async function structureRecipes(): Promise<Recipes> {
  const space = await open('bad-arguments')
  const group = await join({ rank: 0, size: 1, rendezvous: 'local:bad-arguments' })
  const local = await door.openStructures(space)
  const remote = await door.openStructures(group, { size: '32MiB' })
  const one = await objectsOf(local)
  const many = await groupObjectsOf(remote)
  return {
    module: door,
    objects: inLists({ Structures: local, GroupStructures: remote, ...one, ...many }),
    values: {
      name: () => 'name',
      key: () => 'key',
      value: () => 1,
      data: () => 1,
      handler: () => () => {},
      id: () => 'an id',
      message: () => 1,
      expected: () => 1,
      count: () => 1,
      from: () => 0,
      before: () => 0,
      change: () => () => 1,
      work: () => () => 1,
      callback: () => () => {},
    },
    calls: {
      'Codec.encode': [
        { self: () => door.structured, args: () => [1] },
        { self: () => door.json, args: () => [1] },
        { self: () => door.number, args: () => [1] },
        { self: () => door.bytes, args: () => [new Uint8Array(1)] },
      ],
      openStructures: { args: () => [space, { region: 'second', size: '1MiB' }] },
      ...openingCalls('Structures'),
      ...openingCalls('GroupStructures'),
      'Flag.wait': { args: () => optionsAfter(one.Flag.raiseSync()) },
      'Flag.waitSync': { args: () => optionsAfter(one.Flag.raiseSync()) },
      'GroupFlag.wait': { args: async () => optionsAfter(await many.GroupFlag.raise()) },
      'SharedLog.follow': { waits: () => {} },
      'GroupLog.follow': { waits: () => {} },
      'SharedChannel.subscribe': { waits: () => {} },
      'GroupChannel.subscribe': { waits: () => {} },
      'Structures.jobs': { args: () => ['jobs', {}] },
      ...jobCalls(space, one.SharedJobs, await workedOn(local)),
      ...rcuCalls('Rcu', local.rcu, one.cell),
      ...rcuCalls('GroupRcu', remote.rcu, many.cell),
      ...sectionCalls('MvRluSection', () => one.MvRlu.readLock(), one.MvRlu.root),
      ...sectionCalls('GroupMvRluSection', () => many.GroupMvRlu.readLock(), many.GroupMvRlu.root),
    },
    async close() {
      await remote.close()
      await group.close()
      await local.close()
      await space.close()
    },
  }
}

/** Options alone, where something must be done first. */
const optionsAfter = (_done: unknown): readonly unknown[] => [{}]

/** Of each kind one, such that no right call waits. */
async function objectsOf(local: door.Structures) {
  const queue = await local.queue('queue')
  for (let i = 0; i < 5000; i += 1) queue.pushSync(i)
  const flag = await local.flag('flag')
  flag.raiseSync()
  const latch = await local.latch('latch', { count: 1 })
  latch.countDownSync()
  const log = await local.log('log')
  for (let i = 0; i < 1000; i += 1) log.appendSync(i)
  return {
    Counter: await local.counter('counter'),
    Sequence: await local.sequence('sequence'),
    Flag: flag,
    Once: await local.once('once'),
    Mutex: await local.mutex('mutex'),
    ReadWriteLock: await local.readWriteLock('lock'),
    Latch: latch,
    CyclicBarrier: await local.barrier('barrier', { parties: 1 }),
    Semaphore: await local.semaphore('semaphore', { permits: 4 }),
    RateLimiter: await local.rateLimiter('limiter', { limit: 1e9, intervalMs: 1 }),
    Leader: await local.leader('leader'),
    SharedMap: await local.map('map'),
    SharedQueue: queue,
    ValueList: queue,
    SharedStack: await local.stack('stack'),
    SharedLog: log,
    Follower: log.follow(),
    SharedChannel: await local.channel('channel'),
    SharedJobs: await jobsOf(local),
    Rcu: local.rcu,
    MvRlu: await local.mvRlu('objects'),
    cell: await local.cell('cell'),
  }
}

/** A job queue with one job that is done. */
async function jobsOf(local: door.Structures): Promise<door.SharedJobs<unknown>> {
  const jobs = await local.jobs('jobs', { keepCompletedMs: Number.POSITIVE_INFINITY })
  await jobs.addIfAbsent('done', 1)
  await (await jobs.take()).complete()
  return jobs
}

/** Another one, whose jobs are done at once. */
async function workedOn(local: door.Structures): Promise<door.SharedJobs<unknown>> {
  const jobs = await local.jobs('worked', { keepCompletedMs: Number.POSITIVE_INFINITY })
  // It ends with the structures.
  jobs.work(() => 1, { concurrency: 4 }).catch(() => {})
  await jobs.addIfAbsent('done', 1)
  return jobs
}

function jobCalls(
  space: Space,
  jobs: door.SharedJobs<unknown>,
  worked: door.SharedJobs<unknown>,
): Record<string, Recipe> {
  let workers: door.Structures | undefined
  const withJob = () => {
    jobs.addSync(1)
    return jobs
  }
  const held = async () => await withJob().take()
  return {
    'Job.complete': { self: held },
    'Job.fail': { self: held, args: () => [new Error('it')] },
    'Job.release': { self: held },
    'Job.progress': { self: held },
    'SharedJobs.take': { self: withJob },
    'SharedJobs.jobs': { self: withJob },
    'SharedJobs.work': {
      self: async () => {
        workers = await door.openStructures(space, { region: 'third', size: '1MiB' })
        return await workers.jobs('jobs')
      },
      waits: async () => await workers?.close(),
      after: async () => await workers?.close(),
    },
    'SharedJobs.result': { self: () => worked, args: () => ['done'] },
    // A long delay is a right one.
    'SharedJobs.run': { self: () => worked, args: () => [1], waits: () => {} },
    'SharedJobs.get': { args: () => ['done'] },
    'SharedJobs.retry': { args: () => ['another'] },
    'SharedJobs.remove': { args: () => ['another'] },
    'SharedJobs.clear': { args: () => ['failed'] },
    'SharedJobs.pause': { after: () => jobs.resume() },
    'SharedJobs.repeat': { args: () => ['name', { everyMs: 3_600_000 }, 1] },
  }
}

async function groupObjectsOf(remote: door.GroupStructures) {
  const queue = await remote.queue('queue')
  for (let i = 0; i < 300; i += 1) await queue.push(i)
  const flag = await remote.flag('flag')
  await flag.raise()
  return {
    GroupCounter: await remote.counter('counter'),
    GroupSequence: await remote.sequence('sequence'),
    GroupFlag: flag,
    GroupOnce: await remote.once('once'),
    GroupMutex: await remote.mutex('mutex'),
    GroupSemaphore: await remote.semaphore('semaphore', { permits: 4 }),
    GroupRateLimiter: await remote.rateLimiter('limiter', { limit: 1e9, intervalMs: 1 }),
    GroupLeader: await remote.leader('leader'),
    GroupMap: await remote.map('map'),
    GroupQueue: queue,
    GroupList: queue,
    GroupStack: await remote.stack('stack'),
    GroupLog: await remote.log('log'),
    GroupChannel: await remote.channel('channel'),
    GroupRcu: remote.rcu,
    GroupMvRlu: await remote.mvRlu('objects'),
    cell: await remote.cell('cell'),
  }
}

/** A heap has room for a thousand names, so each call opens again what is there. */
function openingCalls(owner: string): Record<string, Recipe> {
  const kinds = [
    'counter',
    'sequence',
    'flag',
    'once',
    'mutex',
    'leader',
    'map',
    'queue',
    'stack',
    'log',
    'channel',
    'cell',
  ]
  const calls = kinds.map((kind): [string, Recipe] => [`${owner}.${kind}`, { args: () => [kind, {}] }])
  return {
    ...Object.fromEntries(calls),
    [`${owner}.mvRlu`]: { args: () => ['objects', {}] },
    [`${owner}.readWriteLock`]: { args: () => ['lock'] },
    [`${owner}.latch`]: { args: () => ['latch', { count: 1 }] },
    [`${owner}.barrier`]: { args: () => ['barrier', { parties: 1 }] },
    [`${owner}.semaphore`]: { args: () => ['semaphore', { permits: 4 }] },
    [`${owner}.rateLimiter`]: { args: () => ['limiter', { limit: 1e9, intervalMs: 1 }] },
  }
}

interface ReadCopyUpdate {
  readLock(): Disposable
  getState(): unknown
}

/** A cell is read within a section; and whoever waits for readers waits for that. */
function rcuCalls(owner: string, rcu: ReadCopyUpdate, cell: unknown): Record<string, Recipe> {
  let section: Disposable | undefined
  const reading: Recipe = {
    args: () => {
      section = rcu.readLock()
      return [cell]
    },
    after: () => section?.[Symbol.dispose](),
  }
  return {
    [`${owner}.dereference`]: reading,
    [`${owner}.dereferenceBytes`]: reading,
    [`${owner}.assign`]: { args: () => [cell, 1, {}] },
    [`${owner}.assignSync`]: { args: () => [cell, 1] },
    [`${owner}.update`]: { args: () => [cell, () => 1, {}] },
    [`${owner}.updateSync`]: { args: () => [cell, () => 1] },
    [`${owner}.pollState`]: { args: () => [rcu.getState()] },
  }
}

interface Section {
  abort(): void | Promise<void>
}

/** Each call has a section of its own, which holds up whoever waits for readers until it ends. */
function sectionCalls(owner: string, begin: () => Section | Promise<Section>, root: number): Record<string, Recipe> {
  let section: Section | undefined
  const on = (args: () => readonly unknown[]): Recipe => ({
    args,
    self: async () => {
      section = await begin()
      return section
    },
    after: () => section?.abort(),
  })
  return {
    [`${owner}.dereference`]: on(() => [root]),
    [`${owner}.tryLock`]: on(() => [root]),
    [`${owner}.tryLockConst`]: on(() => [root]),
    [`${owner}.allocate`]: on(() => [1]),
    [`${owner}.assign`]: { ...on(() => [root, 1]), neverRight: 'the object must be locked first' },
    [`${owner}.free`]: { ...on(() => [root]), neverRight: 'the root cannot be freed' },
  }
}
