/** A job queue whose members are stopped or killed at each access to memory: no job is lost, none is twice. */
import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { HeapFullError } from '../../../src/structures/errors.ts'
import { encodeFailure } from '../../../src/structures/jobs/job-outcome.ts'
import { JobPhase } from '../../../src/structures/jobs/job-record.ts'
import { levelOf } from '../../../src/structures/jobs/ready-lists.ts'
import { settleMemory } from '../town.ts'
import { finishAll, type JobMember, JobTown, jobOf, LEASE_MS, takeOf } from './members.ts'

const RESULT = new Uint8Array([9])
const FAILURE = encodeFailure(new Error('no'))

/** Something that a member does with the job `a`, and what may have become of the job. */
interface Step {
  /** What comes before, by the same member. */
  readonly before?: (member: JobMember, town: JobTown) => void
  readonly does: (member: JobMember, town: JobTown) => void
  /** Whether the job may have ended by it. */
  readonly mayEnd?: boolean
  /** Whether the job may not be there: it was not acknowledged. */
  readonly mayLack?: boolean
  /** A member that is stopped in the middle of it may hold up the job: it has not returned from adding it. */
  readonly mayHoldUp?: boolean
}

const added = ({ core }: JobMember) => core.add('a', jobOf())
/** Tables and lists are there: what is left is the step itself. */
const begun = (member: JobMember, { nowMs }: JobTown) => {
  for (const dueMs of [0, nowMs + 70]) member.core.add(`${dueMs}`, jobOf(dueMs))
  finishAll(member)
  member.core.remove(`${nowMs + 70}`)
}
const taken = (member: JobMember) => {
  added(member)
  takeOf(member)
}

const steps: Readonly<Record<string, Step>> = {
  'add the first': { does: added, mayLack: true, mayHoldUp: true },
  add: { before: begun, does: added, mayLack: true, mayHoldUp: true },
  'add with a delay': {
    before: begun,
    does: ({ core }, { nowMs }) => core.add('a', jobOf(nowMs + 70)),
    mayLack: true,
    mayHoldUp: true,
  },
  take: { before: added, does: takeOf },
  'take what has become due': {
    before({ core }, town) {
      core.add('a', jobOf(town.nowMs + 200))
      town.nowMs += 300
    },
    does: takeOf,
  },
  'turn the wheel': {
    before({ core }, town) {
      core.add('a', jobOf(town.nowMs + 5000))
      town.nowMs += 4500
    },
    does: takeOf,
  },
  complete: { before: taken, does: ({ core }) => core.complete('a', 0, () => RESULT), mayEnd: true },
  'complete and keep': { before: taken, does: ({ core }) => core.complete('a', 1e9, () => RESULT), mayEnd: true },
  bury: { before: taken, does: ({ core }) => core.bury('a', Number.POSITIVE_INFINITY, FAILURE), mayEnd: true },
  'retry later': { before: taken, does: ({ core }, { nowMs }) => core.retryLater('a', nowMs + 90, FAILURE) },
  'retry at once': { before: taken, does: ({ core }) => core.retryLater('a', 0, FAILURE) },
  release: { before: taken, does: ({ core }) => core.release('a', 0) },
  report: { before: taken, does: ({ core }) => core.report('a', RESULT) },
  reschedule: {
    before: ({ core }, { nowMs }) => core.add('a', jobOf(nowMs + 50_000)),
    does: ({ core }) => core.reschedule('a', [JobPhase.Pending], 0),
  },
  remove: { before: added, does: ({ core }) => core.remove('a'), mayEnd: true },
  'give back what a dead member had': {
    before(_member, town) {
      const dead = town.settle()
      taken(dead)
      town.town.bury(dead.inhabitant)
    },
    does: ({ core }) => core.lookAround(true),
  },
  leave: { before: taken, does: ({ inhabitant }) => inhabitant.heap.close() },
}

/** Accesses from one death to the next. Each of them is tried by AETHER_TEST_KILLS=1000 or more. */
const STRIDE = Number(process.env['AETHER_TEST_KILLS'] ?? 6) >= 1000 ? 1 : 4
/** Long enough for every delay, back-off and lease of the steps. */
const LATER_MS = 100_000

for (const [at, [name, { before, does, mayEnd = false, mayLack = false, mayHoldUp = false }]] of Object.entries(
  steps,
).entries()) {
  for (const fate of ['killed', 'stopped'] as const) {
    test(`${name}: the member is ${fate} at any access, and the job is there once, or has ended`, () => {
      let calls = at % STRIDE
      for (let done = false; !done; calls += STRIDE) {
        const town = new JobTown()
        const other = town.settle()
        const member = town.settle()
        before?.(member, town)
        done = member.inhabitant.killedAfter(calls, () => does(member, town))
        if (fate === 'killed') town.town.bury(member.inhabitant)
        town.nowMs += LATER_MS
        other.core.lookAround(true)
        const record = other.core.get('a')
        const hasEnded = record === undefined || record.phase >= JobPhase.Completed
        const isUnseen = record === undefined && mayLack
        const isHeldUp = mayHoldUp && fate === 'stopped'
        const context = `after ${calls} accesses, ${record === undefined ? 'gone' : `in phase ${record.phase}`}`
        if (hasEnded) assert.ok(mayEnd || isUnseen, context)
        const found = finishAll(other)
        if (!isHeldUp) assert.deepEqual(found, hasEnded ? [] : ['a'], context)
        if (hasEnded) continue
        // It can be added once more, and taken once.
        if (found.length === 1) assert.equal(other.core.add('a', jobOf()), true, context)
        if (found.length === 1) assert.deepEqual(finishAll(other), ['a'], context)
      }
      assert.ok(calls > 5, `${calls} accesses`)
    })
  }
}

test('a member that is stopped goes on later, and then knows that it has lost the job', () => {
  const town = new JobTown()
  const [slow, other] = [town.settle(), town.settle()]
  slow.core.add('a', jobOf())
  const held = slow.core.take(true)!
  slow.core.keep(held, () => {})
  town.nowMs += LEASE_MS + 1
  const second = takeOf(other)!
  assert.equal(second.id, 'a')
  assert.equal(second.record.losses, 1)
  assert.equal(
    slow.core.complete('a', 0, () => RESULT),
    false,
  )
  assert.equal(slow.core.report('a', RESULT), false)
  assert.equal(
    other.core.complete('a', 0, () => RESULT),
    true,
  )
})

test('what no one has taken stays with a member whose lease was overdue, and it says what was lost', () => {
  const town = new JobTown()
  const [slow, other] = [town.settle(), town.settle()]
  const lost: string[] = []
  for (const id of ['a', 'b']) {
    slow.core.add(id, jobOf())
    const taken = slow.core.take(true)!
    slow.core.keep(taken, () => lost.push(id))
  }
  town.nowMs += LEASE_MS + 1
  // The other gives both back, and takes one; the other one is taken by the slow member itself.
  const ids = [takeOf(other)!.id, takeOf(slow)!.id]
  assert.deepEqual(ids.toSorted(), ['a', 'b'])
  assert.deepEqual(lost.toSorted(), ['a', 'b'])
  assert.equal(
    slow.core.complete(ids[0]!, 0, () => RESULT),
    false,
  )
  assert.equal(
    slow.core.complete(ids[1]!, 0, () => RESULT),
    true,
  )
})

test('an overdue lease that no one has noticed is renewed, and the jobs stay', () => {
  const town = new JobTown()
  const [slow, other] = [town.settle(), town.settle()]
  const lost: string[] = []
  slow.core.add('a', jobOf())
  slow.core.keep(slow.core.take(true)!, () => lost.push('a'))
  town.nowMs += LEASE_MS + 1
  slow.core.add('b', jobOf())
  assert.equal(takeOf(slow)?.id, 'b')
  assert.equal(takeOf(other), undefined)
  assert.deepEqual(lost, [])
  assert.equal(
    slow.core.complete('a', 0, () => RESULT),
    true,
  )
  assert.equal(
    slow.core.complete('b', 0, () => RESULT),
    true,
  )
})

test('a job whose workers are lost again and again counts as failed in the end', () => {
  const town = new JobTown()
  const other = town.settle()
  other.core.add('a', jobOf(0, { lossesMax: 2 }))
  for (let loss = 1; loss <= 3; loss += 1) {
    const worker = town.settle()
    assert.equal(takeOf(worker)?.record.losses, loss - 1)
    town.town.bury(worker.inhabitant)
    other.core.lookAround(true)
  }
  assert.equal(takeOf(other), undefined)
  assert.equal(other.core.get('a')?.phase, JobPhase.Failed)
})

test('a member that takes the slot of a dead one gives back what that had, before anybody looks', () => {
  const town = new JobTown()
  const dead = town.settle()
  taken(dead)
  town.town.bury(dead.inhabitant)
  const next = town.settle()
  assert.equal(next.inhabitant.slot, dead.inhabitant.slot)
  assert.deepEqual(finishAll(next), ['a'])
})

test('priorities come first, what came back before all, and within one it is first in, first out', () => {
  const town = new JobTown()
  const [worker, other] = [town.settle(), town.settle()]
  const add = (id: string, priority: number) => worker.core.add(id, jobOf(0, { level: levelOf(priority) }))
  add('lost', -10)
  takeOf(other)
  for (const [id, priority] of Object.entries({ low: -10, n1: 0, n2: 0, high: 10, n3: 0, some: 3 })) add(id, priority)
  town.town.bury(other.inhabitant)
  worker.core.lookAround(true)
  assert.deepEqual(finishAll(worker), ['lost', 'high', 'some', 'n1', 'n2', 'n3', 'low'])
})

test('delayed jobs are never early, and in order of time; whatever the turns of the wheel', () => {
  let seed = 12345
  const random = (below: number) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
    return (seed >>> 8) % below
  }
  for (let round = 0; round < 20; round += 1) {
    const town = new JobTown()
    const [worker, other] = [town.settle(), town.settle()]
    const dues = new Map<string, number>()
    const spans = [3, 60, 5000, 300_000, 2e7, 1.2e9, 8e10]
    const add = () => {
      const due = town.nowMs + random(spans[random(spans.length)]!) + random(10) / 10
      dues.set(worker.core.addNext(jobOf(due)), due)
    }
    for (let count = 0; count < 60; count += 1) add()
    for (let steps = 0; dues.size > 0; steps += 1) {
      assert.ok(steps < 1000, 'it ends')
      const next = Math.min(...dues.values())
      // To the next one, a little before it, or far beyond several.
      town.nowMs = Math.max(town.nowMs, next - 1 + [0, 1, 1.5, random(100_000)][random(4)]!)
      const found = finishAll(random(2) === 0 ? worker : other)
      for (const id of found) {
        assert.ok(dues.get(id)! <= town.nowMs, `${id} is early at ${town.nowMs}`)
        dues.delete(id)
      }
      // The wheel has ticks of a millisecond.
      const late = [...dues].filter(([, at]) => at <= Math.floor(town.nowMs))
      assert.deepEqual(late, [], `at ${town.nowMs}`)
      if (steps < 20) add()
    }
  }
})

test('a worker that has read the clock before others loses nothing', () => {
  const town = new JobTown()
  const [ahead, late] = [town.settle(), town.settle(3)]
  // By the wheel, which the one turned; and at once, since it was due for the other.
  ahead.core.add('wheel', jobOf(town.nowMs + 5))
  town.nowMs += 6
  assert.equal(ahead.core.take(true)?.id, 'wheel')
  ahead.core.add('at once', jobOf(town.nowMs))
  assert.deepEqual(finishAll(late), [])
  town.nowMs += 1
  assert.deepEqual(finishAll(ahead), ['at once'])
  late.core.add('again', jobOf(town.nowMs + 5))
  town.nowMs += 6
  ahead.core.pause(true)
  ahead.core.take(true)
  ahead.core.pause(false)
  assert.deepEqual(finishAll(late), ['again'])
})

test('a worker that sleeps looks again when the next job is due', () => {
  const town = new JobTown()
  const { core, inhabitant } = town.settle()
  core.add('a', jobOf(town.nowMs + 7.2))
  core.take(true)
  const before = inhabitant.memory.before
  assert.equal(before, undefined)
  for (const [ahead, within] of [
    [0, 8],
    [5, 3],
  ] as const) {
    town.nowMs += ahead
    const next = core.nextMs(50)
    assert.ok(next > 0 && next <= within, `${next}`)
  }
})

test('memory is used again: of ended jobs, of entries and of the wheel', () => {
  const town = new JobTown()
  const worker = town.settle()
  let first = 0
  for (let round = 0; round < 12; round += 1) {
    for (let count = 0; count < 100; count += 1) worker.core.addNext(jobOf(count % 2 === 0 ? 0 : town.nowMs + count))
    town.nowMs += 200
    assert.equal(finishAll(worker).length, 100)
    settleMemory(worker.inhabitant.heap)
    const { usedBytes } = worker.inhabitant.heap.usage()
    if (round === 1) first = usedBytes
    // A slot of the wheel that was ever used keeps a node.
    if (round > 1) assert.ok(usedBytes <= first + 384 * 64, `${usedBytes} after ${first}`)
  }
})

test('without memory a job is refused whole, and those that are there are worked on', () => {
  const town = new JobTown()
  const worker = town.settle()
  const ids: string[] = []
  assert.throws(() => {
    for (;;) ids.push(worker.core.addNext(jobOf()))
  }, HeapFullError)
  assert.ok(ids.length > 1000, `${ids.length}`)
  // Each step needs memory, of what is kept back: no job may be lost, and all can be worked on.
  for (let count = 0; count < 50; count += 1) {
    const taken = takeOf(worker)!
    assert.equal(worker.core.retryLater(taken.id, town.nowMs + 10, FAILURE), true)
  }
  town.nowMs += 20
  assert.deepEqual(finishAll(worker).toSorted(), ids.toSorted())
  worker.core.add('again', jobOf())
  assert.deepEqual(finishAll(worker), ['again'])
})
