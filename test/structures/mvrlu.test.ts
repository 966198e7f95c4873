import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { number } from '../../src/codecs/index.ts'
import type { MvRluSection } from '../../src/structures/index.ts'
import { CommitLog } from '../../src/structures/mvrlu/commit-log.ts'
import { MvRlu, ROOT_BODY_BYTES } from '../../src/structures/mvrlu/mv-rlu.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import type { Account } from './fixtures/process.ts'
import { playFreeing, playHistory, playLocks, playMisuse, playSnapshots, someActions } from './mvrlu-suite.ts'
import { Shared } from './processes.ts'
import { type Inhabitant, settleMemory, Town } from './town.ts'

useRuntimeDirectory()

/** A name with its root and its value, and the dummy of the commit log, which is a write set of 30. */
const EMPTY_BYTES = 192 + 64 + 768

function objectsOf({ heap, directory }: Inhabitant): MvRlu<number> {
  const { offset } = directory.open({ kind: 'mv-rlu', name: 'o', bodyBytes: ROOT_BODY_BYTES, parameters: [] })
  return new MvRlu('o', heap, offset, new CommitLog(heap), { codec: number, valueBytesMax: 8 })
}

/** Make objects with these values. */
function make(objects: MvRlu<number>, values: readonly number[]): number[] {
  return objects.updateSync((section) => values.map((value) => section.allocate(value)))
}

function valuesOf(objects: MvRlu<number>, of: readonly number[]): (number | undefined)[] {
  using section = objects.readLock()
  return of.map((object) => section.dereference(object))
}

/** False where a lock was not to be had. */
function move(section: MvRluSection<number>, from: number, to: number, amount: number): boolean {
  if (!section.tryLock(from) || !section.tryLock(to)) return false
  section.assign(from, section.dereference(from)! - amount)
  section.assign(to, section.dereference(to)! + amount)
  return true
}

test('a section sees one moment, and its own changes; others see them from the commit on, together', async () => {
  const town = new Town()
  await playSnapshots(objectsOf(town.settle()), objectsOf(town.settle()))
})

test('an object is locked by one section at a time; what was only read is not guarded, unless it is locked, too', async () => {
  const town = new Town()
  const [a, b] = [objectsOf(town.settle()), objectsOf(town.settle())]
  await playLocks(a, b)
  const [x, y] = make(a, [1, 1]) as [number, number]
  const section = a.readLock()
  assert.equal(section.tryLock(x), true)
  assert.equal(a.readLock().tryLock(y), false, 'one section of a thread has locks')
  section.abort()
})

test('what is misused says so', async () => {
  await playMisuse(objectsOf(new Town().settle()), [3])
})

test('updateSync that is aborted until its time is over says so, and has changed nothing', () => {
  const town = new Town()
  const [a, b] = [objectsOf(town.settle()), objectsOf(town.settle())]
  const [x] = make(a, [1]) as [number]
  using section = b.readLock()
  assert.equal(section.tryLock(x), true)
  let attempts = 0
  const change = (each: MvRluSection<number>) => {
    attempts += 1
    if (!each.tryLock(x)) return each.abort()
    each.assign(x, 2)
  }
  for (const timeoutMs of [0, 5]) {
    attempts = 0
    assert.throws(() => a.updateSync(change, { timeoutMs }), { code: 'ERR_AETHER_TIMEOUT', message: /objects of 'o'/ })
    assert.ok(attempts >= 1 && (timeoutMs !== 0 || attempts === 1), `${attempts} attempts in ${timeoutMs} ms`)
  }
  assert.deepEqual(valuesOf(a, [x]), [1])
  section.abort()
  a.updateSync(change, { timeoutMs: 0 })
  assert.deepEqual(valuesOf(a, [x]), [2])
})

test('updates of one thread that are about objects at the same time take turns, until a signal is aborted', async () => {
  const objects = objectsOf(new Town().settle())
  const add = (value: number, signal?: AbortSignal): Promise<number> =>
    objects.update(async (section) => {
      const made = section.allocate(value)
      await sleep(1)
      if (!section.tryLock(objects.root)) section.abort()
      else section.assign(objects.root, (section.dereference(objects.root) ?? 0) + value)
      return made
    }, signal && { signal })
  const values = [1, 2, 4, 8, 16, 32, 64, 128]
  assert.deepEqual(valuesOf(objects, await Promise.all(values.map((value) => add(value)))), values)
  assert.deepEqual(valuesOf(objects, [objects.root]), [255])
  const section = objects.readLock()
  assert.equal(section.tryLock(objects.root), true)
  const stop = new AbortController()
  const stopped = assert.rejects(add(1, stop.signal), /enough/)
  const later = add(256)
  await sleep(1)
  stop.abort(new Error('enough'))
  await stopped
  // On the same thread it would wait for itself.
  const waitsForItself = { code: 'ERR_AETHER_READ_SECTION', message: /another section of this thread/ }
  const lock = (each: MvRluSection<number>): void => {
    if (!each.tryLock(objects.root)) each.abort()
  }
  assert.throws(() => objects.updateSync(lock, { timeoutMs: 60_000 }), waitsForItself)
  assert.throws(() => objects.updateSync((each) => each.allocate(1), { timeoutMs: 60_000 }), waitsForItself)
  let looks = 0
  const looked = objects.updateSync((each) => {
    looks += 1
    return looks < 3 ? each.abort() : each.dereference(objects.root)
  })
  assert.deepEqual([looked, looks], [255, 3], 'what locks nothing waits for nobody')
  section.abort()
  assert.deepEqual(valuesOf(objects, [await later, objects.root]), [256, 511])
})

test('what is freed is gone for later sections, there for earlier ones, and then its memory is used again', async () => {
  const town = new Town()
  const inhabitant = town.settle()
  inhabitant.heap.poisonFreed()
  const [a, b] = [objectsOf(inhabitant), objectsOf(town.settle())]
  await playFreeing(a, b, 50, () => settleMemory(inhabitant.heap))
  assert.equal(inhabitant.heap.usage().usedBytes, EMPTY_BYTES - 64)
})

test('who leaves in the middle of a section leaves no lock, no snapshot and no block', () => {
  const town = new Town()
  const [stays, leaves] = [town.settle(), town.settle()]
  const [a, b] = [objectsOf(stays), objectsOf(leaves)]
  const [x] = make(a, [1]) as [number]
  const section = b.readLock()
  assert.equal(section.tryLock(x), true)
  section.assign(x, 2)
  section.allocate(3)
  leaves.heap.close()
  section.abort()
  assert.throws(() => section.dereference(x), { code: 'ERR_AETHER_CLOSED' })
  town.bury(leaves)
  town.settle()
  for (let turn = 0; turn < 40; turn += 1) a.updateSync((each) => each.tryLock(x) && each.assign(x, turn))
  for (let turn = 0; turn < 3; turn += 1) settleMemory(stays.heap)
  assert.deepEqual([valuesOf(a, [x]), stays.heap.usage().usedBytes], [[39], EMPTY_BYTES + 64])
})

test('superseded versions are collected up to the oldest section; without one, so that memory is enough', () => {
  const town = new Town()
  const inhabitant = town.settle()
  const [a, b] = [objectsOf(inhabitant), objectsOf(town.settle())]
  const [x] = make(a, [0]) as [number]
  const increment = () =>
    a.updateSync((section) => section.tryLock(x) && section.assign(x, section.dereference(x)! + 1))
  for (let turn = 0; turn < 5000; turn += 1) increment()
  const early = b.readLock()
  for (let turn = 0; turn < 200; turn += 1) increment()
  settleMemory(inhabitant.heap)
  assert.deepEqual([early.dereference(x), valuesOf(b, [x])[0]], [5000, 5200])
  const { usedBytes } = inhabitant.heap.usage()
  assert.ok(usedBytes > 200 * 64)
  const later = b.readLock()
  early.abort()
  increment()
  settleMemory(inhabitant.heap)
  assert.equal(later.dereference(x), 5200)
  later.abort()
  settleMemory(inhabitant.heap)
  settleMemory(inhabitant.heap)
  assert.equal(inhabitant.heap.usage().usedBytes, EMPTY_BYTES + 64)
})

test('where there is no memory a section can only be aborted, and the next one finds what was collected meanwhile', () => {
  const town = new Town()
  const a = objectsOf(town.settle())
  const fill = () => {
    using section = a.readLock({ objectsMax: 2000 })
    for (let made = 0; made < 2000; made += 1) section.allocate(made)
    section.readUnlock()
  }
  const filled: number[] = []
  assert.throws(
    () => {
      for (;;) filled.push(...make(a, Array(30).fill(1)))
    },
    { code: 'ERR_AETHER_HEAP_FULL' },
  )
  assert.throws(fill, { code: 'ERR_AETHER_HEAP_FULL' })
  for (let at = 0; at < filled.length; at += 10) {
    a.updateSync((section) => {
      for (const object of filled.slice(at, at + 10)) {
        assert.equal(section.tryLock(object), true)
        section.free(object)
      }
    })
  }
  make(a, Array(30).fill(1))
})

test('sections of several participants do what snapshots of one history do', async () => {
  await fc.assert(
    fc.asyncProperty(someActions(), async (actions) => {
      const town = new Town()
      const people = [town.settle(), town.settle(), town.settle()]
      for (const { heap } of people) heap.poisonFreed()
      const all = people.map((inhabitant) => objectsOf(inhabitant))
      await playHistory({ all, collect: (by) => people[by]!.heap.collect() }, actions)
    }),
    { numRuns: 80 },
  )
})

/** What the victims of the tests below do: move 1 from x to y, and replace what the root refers to. */
function work(objects: MvRlu<number>, x: number, y: number): void {
  const { root } = objects
  const done = objects.updateSync((section) => {
    if (!section.tryLock(root) || !move(section, x, y, 1)) {
      section.abort()
      return false
    }
    const old = section.dereference(root)
    const made = section.allocate(section.dereference(x)! * 1000)
    section.assign(root, made)
    if (old !== undefined && section.tryLock(old)) section.free(old)
    return true
  })
  assert.ok(done)
}

function assertWhole(objects: MvRlu<number>, x: number, y: number, times: readonly number[], what: string): void {
  using section = objects.readLock()
  const [left, right] = [section.dereference(x)!, section.dereference(y)!]
  assert.equal(left + right, 100, what)
  assert.ok(times.includes(right), `${what}: ${right} moves, not ${times.join(' or ')}`)
  const top = section.dereference(objects.root)
  assert.equal(top === undefined ? undefined : section.dereference(top), right === 0 ? undefined : left * 1000, what)
}

/** Objects with a version each: x, y and what the root refers to; the root's version; and what is there always. */
const WORKED_BYTES = EMPTY_BYTES + 3 * 128

/** A town in which two have worked once each, so that they have blocks of every size at hand. */
function workedTown() {
  const town = new Town()
  const survivor = town.settle()
  const ours = objectsOf(survivor)
  const [x, y] = make(ours, [100, 0]) as [number, number]
  work(ours, x, y)
  const victim = town.settle()
  const theirs = objectsOf(victim)
  work(theirs, x, y)
  settleMemory(victim.heap)
  return { town, survivor, ours, x, y, victim, theirs }
}

for (const meets of ['wants the same', 'looks for the dead'] as const) {
  test(`killed at any access, a section is committed or has not been; who ${meets} settles what it held, and nothing is lost`, () => {
    for (let calls = 0, done = false; !done; calls += 1) {
      const { town, survivor, ours, x, y, victim, theirs } = workedTown()
      done = victim.killedAfter(calls, () => work(theirs, x, y))
      const what = `after ${calls} accesses`
      if (meets === 'wants the same') assertWhole(ours, x, y, done ? [3] : [2, 3], what)
      town.bury(victim)
      if (meets === 'looks for the dead') settleMemory(survivor.heap)
      assertWhole(ours, x, y, done ? [3] : [2, 3], what)
      const found = valuesOf(ours, [y])[0]!
      work(ours, x, y)
      assertWhole(ours, x, y, [found + 1], what)
      settleMemory(survivor.heap)
      settleMemory(survivor.heap)
      assert.equal(survivor.heap.usage().usedBytes, WORKED_BYTES, what)
    }
  })
}

test('one that is killed while it settles or collects what another left is settled with it', () => {
  const { victim: timed, theirs: timing, x: left, y: right } = workedTown()
  timed.memory.callsLeft = 1e6
  work(timing, left, right)
  const accesses = 1e6 - timed.memory.callsLeft
  for (const share of [0.5, 0.8, 0.95]) {
    // After these are blocks that are looked through, one like the other.
    for (let calls = 0, done = false; !done; calls += calls < 320 ? 1 : 400) {
      const { town, survivor, ours, x, y, victim, theirs } = workedTown()
      // So that there are several versions to collect at once.
      const early = ours.readLock()
      for (let turn = 0; turn < 3; turn += 1) work(ours, x, y)
      early.abort()
      victim.killedAfter(Math.floor(accesses * share), () => work(theirs, x, y))
      const second = town.settle()
      town.bury(victim)
      done = second.killedAfter(calls, () => {
        second.heap.collect()
        second.heap.recover()
      })
      town.bury(second)
      // What the second had retired is used again before anybody collects.
      survivor.heap.poisonFreed()
      survivor.heap.recover()
      for (let turn = 0; turn < 3; turn += 1) survivor.heap.epochs.advance()
      survivor.heap.epochs.collect()
      const what = `at ${share}, after ${calls} accesses`
      settleMemory(survivor.heap)
      assertWhole(ours, x, y, [5, 6], what)
      settleMemory(survivor.heap)
      assert.equal(survivor.heap.usage().usedBytes, WORKED_BYTES, what)
    }
  }
})

/** What another does in between: the same two objects, or one of them. Gives whether it got its locks. */
const betweens = {
  both: (section: MvRluSection<number>, x: number, y: number) => move(section, x, y, 1),
  one(section: MvRluSection<number>, _x: number, y: number) {
    if (!section.tryLock(y)) return false
    section.assign(y, section.dereference(y)! + 10)
    return true
  },
}

for (const [which, between] of Object.entries(betweens)) {
  test(`between any two accesses of a section another may change ${which}: each happens once, or finds that it has to begin anew`, () => {
    const [lessX, moreY] = which === 'both' ? [1, 1] : [0, 10]
    for (let at = 0, done = false; !done; at += 1) {
      const town = new Town()
      const people = [town.settle(), town.settle()] as const
      for (const { heap } of people) heap.poisonFreed()
      const [a, b] = [objectsOf(people[0]), objectsOf(people[1])]
      const [x, y] = make(a, [100, 0]) as [number, number]
      work(b, x, y)
      work(a, x, y)
      let [seen, changed] = [0, 0]
      people[0].memory.before = () => {
        seen += 1
        if (seen !== at) return
        const section = b.readLock()
        if (between(section, x, y)) changed = 1
        section.readUnlock()
        people[1].heap.collect()
      }
      // Whatever is collected meanwhile, what a section is to see is there.
      const sum = valuesOf(a, [x, y]).reduce<number>((all, value) => all + (value ?? Number.NaN), 0)
      assert.ok(sum === 100 || (which === 'one' && sum === 110), `${sum} at access ${at}`)
      work(a, x, y)
      people[0].heap.collect()
      done = seen < at
      people[0].memory.before = undefined
      assert.deepEqual(valuesOf(b, [x, y]), [97 - changed * lessX, 3 + changed * moreY], `at access ${at}`)
      for (let turn = 0; turn < 3; turn += 1) for (const { heap } of people) settleMemory(heap)
      assert.equal(people[1].heap.usage().usedBytes, WORKED_BYTES, `at access ${at}`)
    }
  })
}

test('torture: processes that are killed while they move amounts between objects leave every acknowledged move, once, and no sum that is wrong is seen', async () => {
  await using shared = await Shared.open()
  const { structures } = shared
  const bank = await structures.mvRlu<Account>('bank')
  const [people, amount] = [4, 1000]
  const empty = { amount, moves: 0, others: [], note: '' }
  bank.updateSync((section) => {
    section.tryLock(bank.root)
    section.assign(bank.root, { ...empty, others: Array.from({ length: people }, () => section.allocate(empty)) })
  })
  const total = (people + 1) * amount
  const watchers = [await shared.start()]
  for (const watcher of watchers) await watcher.call('watchBank', 'bank', total)
  for (let round = 0; round < 2; round += 1) {
    const victims = [await shared.start(), await shared.start()]
    for (const [index, victim] of victims.entries()) await victim.call('moveForEver', 'bank', (round + index) % people)
    await sleep(20 + Math.random() * 50)
    for (const victim of victims) await victim.kill()
  }
  await (await structures.flag('over')).raise()
  for (const watcher of watchers) {
    const { wrong, looks } = await watcher.call<{ wrong: number; looks: number }>('watched')
    assert.equal(wrong, 0)
    assert.ok(looks > 0)
    await watcher.kill()
  }
  await shared.recovered()
  {
    using section = bank.readLock()
    const top = section.dereference(bank.root)!
    const accounts = top.others.map((other) => section.dereference(other)!)
    assert.equal(
      accounts.reduce((sum, each) => sum + each.amount, top.amount),
      total,
    )
    for (const [index, { moves }] of accounts.entries()) {
      const acknowledged = (await structures.counter(`moved ${index}`)).getSync()
      assert.ok(moves >= acknowledged && moves <= acknowledged + 2, `${moves} of ${acknowledged}`)
    }
  }
  bank.updateSync((section) => {
    const top = section.dereference(bank.root)!
    for (const other of top.others) {
      assert.equal(section.tryLock(other), true)
      section.free(other)
    }
    section.tryLock(bank.root)
    section.assign(bank.root, empty)
  })
  shared.collect()
  shared.collect()
  const { usedBytes } = structures.usage()
  assert.ok(usedBytes < 20_000, `${usedBytes} bytes are still in use`)
})
