import { bytes, number, structured } from '../../../src/codecs/index.ts'
import type { Random } from '../../../src/runtime/index.ts'
import { COUNTER_BYTES, Counter } from '../../../src/structures/counter.ts'
import { CYCLIC_BARRIER_BYTES, CyclicBarrier } from '../../../src/structures/cyclic-barrier.ts'
import { Meters } from '../../../src/structures/figures/meter.ts'
import { FLAG_BYTES, Flag } from '../../../src/structures/flag.ts'
import type { StructureKindName } from '../../../src/structures/heap/structure-kind.ts'
import { JobCore } from '../../../src/structures/jobs/job-core.ts'
import { encodeOwn } from '../../../src/structures/jobs/job-outcome.ts'
import { JobRecord } from '../../../src/structures/jobs/job-record.ts'
import { JOBS_BODY_BYTES, JobsOffset } from '../../../src/structures/jobs/layout.ts'
import { Schedules } from '../../../src/structures/jobs/schedules.ts'
import { LATCH_BYTES, Latch } from '../../../src/structures/latch.ts'
import { LEADER_BYTES, Leader } from '../../../src/structures/leader.ts'
import { QueueCore } from '../../../src/structures/list/queue-core.ts'
import { StackCore } from '../../../src/structures/list/stack-core.ts'
import { LIST_BODY_BYTES, LIST_WORDS_OFFSET } from '../../../src/structures/list/value-list.ts'
import { LogCore } from '../../../src/structures/log/log-core.ts'
import { LOG_BODY_BYTES } from '../../../src/structures/log/shared-log.ts'
import { MAP_BODY_BYTES } from '../../../src/structures/map/layout.ts'
import { SharedMap } from '../../../src/structures/map/shared-map.ts'
import { MUTEX_BYTES, Mutex } from '../../../src/structures/mutex.ts'
import { CommitLog } from '../../../src/structures/mvrlu/commit-log.ts'
import { MvRlu, ROOT_BODY_BYTES } from '../../../src/structures/mvrlu/mv-rlu.ts'
import { ONCE_BYTES, Once } from '../../../src/structures/once.ts'
import { bound, fixed, type Parameter } from '../../../src/structures/parameter.ts'
import { RATE_LIMITER_BYTES, RateLimiter } from '../../../src/structures/rate-limiter.ts'
import { CELL_BODY_BYTES, CellCore } from '../../../src/structures/rcu/cell-core.ts'
import { READ_WRITE_LOCK_BYTES, ReadWriteLock } from '../../../src/structures/read-write-lock.ts'
import { Semaphore, semaphoreBytes } from '../../../src/structures/semaphore.ts'
import { SEQUENCE_BYTES, Sequence } from '../../../src/structures/sequence.ts'
import { codecParameter } from '../../../src/structures/values/codec-parameter.ts'
import { ValueReader } from '../../../src/structures/values/value-reader.ts'
import { BELL_BYTES } from '../../../src/structures/waiting/bell.ts'
import type { Inhabitant } from '../town.ts'

/** Something that an inhabitant does to the structure `it` of a kind, each time something else. */
type Turn = (random: Random) => void
/** How the structures of each kind are used. */
export type Play = (by: Inhabitant) => Turn

const PERMITS = 3
const PARTIES = 3
/** Its timers, which outlive a killed member here, never come. */
const LEASE_MS = 2 ** 30

const opened = (
  { directory }: Inhabitant,
  kind: StructureKindName,
  bodyBytes: number,
  parameters: readonly Parameter[] = [],
): number => directory.open({ kind, name: 'it', bodyBytes, parameters }).offset

/** Text or bytes of many lengths, as `structured` has them. */
function someValue(random: Random): unknown {
  const length = random.below(120)
  return random.below(2) === 0 ? 'x'.repeat(length) : { many: [length, length] }
}

const encoded = (value: unknown) => encodeOwn(value)

/** Of one heap all members have one clock. */
const NOW_MS = 7_000_000

export const plays: Readonly<Record<StructureKindName, Play>> = {
  counter(by) {
    const counter = new Counter('it', by.heap, opened(by, 'counter', COUNTER_BYTES))
    return (random) => void counter.addSync(random.below(9))
  },
  sequence(by) {
    const sequence = new Sequence('it', by.heap, opened(by, 'sequence', SEQUENCE_BYTES))
    return () => void sequence.nextSync()
  },
  flag(by) {
    const flag = new Flag('it', by.heap, opened(by, 'flag', FLAG_BYTES))
    return (random) => void (random.below(2) === 0 ? flag.raiseSync() : flag.lowerSync())
  },
  once(by) {
    const once = new Once('it', by.heap, opened(by, 'once', ONCE_BYTES))
    return () => void once.runSync(() => {})
  },
  mutex(by) {
    const mutex = new Mutex('it', by.heap, opened(by, 'mutex', MUTEX_BYTES))
    return () => void mutex.tryLockSync()
  },
  semaphore(by) {
    const parameters = [fixed('permits', PERMITS)]
    const offset = opened(by, 'semaphore', semaphoreBytes(PERMITS), parameters)
    const semaphore = new Semaphore('it', by.heap, offset, PERMITS)
    return (random) => {
      const permit = semaphore.tryAcquireSync()
      if (random.below(2) === 0) permit?.release()
    }
  },
  'rate limiter'(by) {
    const options = { limit: 5, intervalMs: 1000 }
    const parameters = [bound('limit', options.limit), bound('intervalMs', options.intervalMs)]
    const limiter = new RateLimiter('it', by.heap, opened(by, 'rate limiter', RATE_LIMITER_BYTES, parameters), options)
    return () => void limiter.takeSync()
  },
  leader(by) {
    const leader = new Leader('it', by.heap, opened(by, 'leader', LEADER_BYTES, [bound('leaseMs', LEASE_MS)]), LEASE_MS)
    // It is done up to its first `await`, which is all.
    return () => void leader.tryCampaign().catch(() => {})
  },
  map(by) {
    const parameters = [bound('ttlMs', 0), bound('maxEntries', 0), codecParameter(structured)]
    const map = new SharedMap<unknown>('it', by.heap, opened(by, 'map', MAP_BODY_BYTES, parameters), {
      codec: structured,
      valueBytesMax: 1000,
      ttlMs: 0,
      maxEntries: 0,
    })
    return (random) => {
      const number = random.below(90)
      const key = [`key ${number}`, number, new Uint8Array([number])][number % 3]!
      if (random.below(5) < 2) map.deleteSync(key)
      else map.setSync(key, someValue(random), random.below(4) === 0 ? { ttlMs: 1e9 } : undefined)
    }
  },
  queue(by) {
    const parameters = [bound('capacity', 0), codecParameter(structured)]
    const offset = opened(by, 'queue', LIST_BODY_BYTES, parameters) + LIST_WORDS_OFFSET
    const core = new QueueCore(by.heap, offset, { capacity: 0 })
    const reader = new ValueReader(by.heap.memory, structured)
    return (random) => void (random.below(20) < 9 ? core.pop(reader) : core.push(encoded(someValue(random))))
  },
  stack(by) {
    const parameters = [bound('capacity', 0), codecParameter(structured)]
    const offset = opened(by, 'stack', LIST_BODY_BYTES, parameters) + LIST_WORDS_OFFSET
    const core = new StackCore(by.heap, offset, { capacity: 0 })
    const reader = new ValueReader(by.heap.memory, structured)
    return (random) => void (random.below(20) < 9 ? core.pop(reader) : core.push(encoded(someValue(random))))
  },
  log(by) {
    const parameters = [bound('capacity', 40), bound('capacityBytes', 0), codecParameter(structured)]
    const core = new LogCore(by.heap, opened(by, 'log', LOG_BODY_BYTES, parameters) + BELL_BYTES, {
      records: 40,
      bytes: 0,
      dropsForMemory: false,
    })
    return (random) => void core.append(encoded(someValue(random)))
  },
  channel(by) {
    const parameters = [bound('capacity', 30), codecParameter(number)]
    const core = new LogCore(by.heap, opened(by, 'channel', LOG_BODY_BYTES, parameters) + BELL_BYTES, {
      records: 30,
      bytes: 0,
      dropsForMemory: true,
    })
    return (random) => void core.append(number.encode(random.below(1000)))
  },
  'rcu cell'(by) {
    const core = new CellCore(by.heap, opened(by, 'rcu cell', CELL_BODY_BYTES, [codecParameter(structured)]))
    return (random) => void core.assign(encoded(someValue(random)))
  },
  'mv-rlu'(by) {
    const offset = opened(by, 'mv-rlu', ROOT_BODY_BYTES, [codecParameter(structured)])
    const objects = new MvRlu<unknown>('it', by.heap, offset, new CommitLog(by.heap), {
      codec: structured,
      valueBytesMax: 1000,
    })
    return (random) => {
      const isToFree = random.below(3) === 0
      objects.updateSync((section) => {
        if (!section.tryLock(objects.root)) return
        const list = (section.dereference(objects.root) ?? []) as number[]
        const [first, ...others] = list
        if (first !== undefined && (isToFree || list.length > 20) && section.tryLock(first)) {
          section.free(first)
          section.assign(objects.root, others)
        } else section.assign(objects.root, [...list, section.allocate(someValue(random))])
      })
    }
  },
  latch(by) {
    const latch = new Latch('it', by.heap, opened(by, 'latch', LATCH_BYTES, [fixed('count', 100)]), 100)
    return () => void latch.countDownSync()
  },
  barrier(by) {
    const parameters = [fixed('parties', PARTIES)]
    const barrier = new CyclicBarrier('it', by.heap, opened(by, 'barrier', CYCLIC_BARRIER_BYTES, parameters), PARTIES)
    return () => {
      try {
        barrier.waitSync({ timeoutMs: 0 })
      } catch (error) {
        if ((error as Error).name !== 'TimeoutError') throw error
      }
    }
  },
  'read-write lock'(by) {
    const lock = new ReadWriteLock('it', by.heap, opened(by, 'read-write lock', READ_WRITE_LOCK_BYTES))
    return (random) => {
      const hold = random.below(2) === 0 ? lock.tryReadSync() : lock.tryWriteSync()
      if (random.below(2) === 0) hold?.release()
    }
  },
  jobs(by) {
    const offset = opened(by, 'jobs', JOBS_BODY_BYTES, [codecParameter(structured)])
    const meter = new Meters().of('jobs', 'it')
    let nowMs = NOW_MS
    const core = new JobCore('it', by.heap, offset, { meter, leaseMs: 1e6, now: () => nowMs })
    const schedules = new Schedules('it', core, offset + JobsOffset.Schedules, meter)
    return (random) =>
      playJobs(core, schedules, random, (ms) => {
        nowMs += ms
      })
  },
}

function playJobs(core: JobCore, schedules: Schedules, random: Random, wait: (ms: number) => void): void {
  const terms = {
    level: 1 + random.below(21),
    attemptsMax: 3,
    lossesMax: 100,
    backoffMs: 0,
    backoffMsMax: 1e6,
    isExponential: false,
    keepCompletedMs: 0,
    keepFailedMs: Number.POSITIVE_INFINITY,
  }
  const dueMs = random.below(2) === 0 ? 0 : core.now() + random.below(100_000)
  const what = random.below(60)
  if (what < 2) schedules.set(`s${random.below(3)}`, { everyMs: 60_000 }, encoded('data'), terms)
  else if (what < 30) core.addNext(JobRecord.of(terms, encoded(someValue(random)), dueMs))
  else playTaken(core, schedules, random, wait)
}

function playTaken(core: JobCore, schedules: Schedules, random: Random, wait: (ms: number) => void): void {
  wait(random.below(3000))
  const taken = core.take(true)
  if (taken === undefined) return
  core.keep(taken, () => {})
  schedules.follow(taken)
  const what = random.below(5)
  if (what === 0) core.retryLater(taken.id, core.now() + random.below(10_000), encoded('failed'))
  if (what === 1) core.bury(taken.id, Number.POSITIVE_INFINITY, encoded('failed'))
  if (what === 2) core.report(taken.id, encoded(someValue(random)))
  if (what === 3) core.complete(taken.id, 1e9, () => bytes.encode(encoded('done')))
}
