import assert from 'node:assert/strict'
import { test } from 'node:test'
import { READ_WRITE_LOCK_BYTES, type ReadWriteHold, ReadWriteLock } from '../../src/structures/read-write-lock.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { Shared } from './processes.ts'
import { type Inhabitant, Town } from './town.ts'

useRuntimeDirectory()

const soon = () => ({ signal: AbortSignal.timeout(30_000) })

/** The lock, and two words that only a writer makes unequal. */
function livesOf(inhabitants: readonly Inhabitant[]): { lock: ReadWriteLock; words: number }[] {
  const request = { kind: 'read-write lock', name: 'l', bodyBytes: READ_WRITE_LOCK_BYTES + 64, parameters: [] } as const
  return inhabitants.map(({ heap, directory }) => {
    const { offset } = directory.open(request)
    return { lock: new ReadWriteLock('l', heap, offset), words: offset + READ_WRITE_LOCK_BYTES }
  })
}

test('any number reads or one writes, and a writer that waits goes before new readers', async () => {
  await using shared = await Shared.open()
  const lock = await shared.structures.readWriteLock('l')
  const other = await shared.start()
  assert.deepEqual(await other.call('hold', 'l', 'read'), { token: 0, abandoned: false })
  const [first, second] = [lock.readSync(), await lock.read(soon())]
  assert.equal(lock.tryWriteSync(), undefined)
  assert.throws(() => lock.writeSync({ timeoutMs: 5 }), { code: 'ERR_AETHER_TIMEOUT', message: /writing under 'l'/ })
  const third = lock.tryReadSync()
  assert.ok(third, 'a writer that gave up keeps no reader out')
  for (const hold of [first, second, third]) hold.release()
  const writing = lock.write(soon())
  assert.equal(lock.tryReadSync(), undefined, 'a writer waits')
  await other.call('unlockSoon')
  {
    using hold = await writing
    assert.deepEqual([hold.mode, hold.token, hold.abandoned], ['write', 1, false])
    assert.equal(lock.tryReadSync(), undefined)
    assert.equal(await lock.tryWrite(), undefined)
    const reading = other.call('hold', 'l', 'read')
    hold.release()
    hold.release()
    assert.deepEqual(await reading, { token: 1, abandoned: false })
  }
})

test('what a killed process holds is free, and who comes after a killed writer is told until one has written', async () => {
  await using shared = await Shared.open()
  const lock = await shared.structures.readWriteLock('l')
  const reader = await shared.start()
  await reader.call('hold', 'l', 'read')
  const writing = lock.write(soon())
  await reader.kill()
  ;(await writing).release()
  const writer = await shared.start()
  await writer.call('hold', 'l', 'write')
  const reading = lock.read(soon())
  await writer.kill()
  const hold = await reading
  assert.equal(hold.abandoned, true)
  hold.release()
  assert.equal(lock.tryReadSync()?.abandoned, true)
  await shared.structures.close()
})

test('readers see no half of a write, though writers are killed', async () => {
  await using shared = await Shared.open()
  const lock = await shared.structures.readWriteLock('l')
  const readers = [await shared.start(), await shared.start()]
  for (let round = 0; round < 3; round += 1) {
    const victims = [await shared.start(), await shared.start()]
    for (const victim of victims) await victim.call('writeForEver', 'l')
    const torn = readers.map((reader) => reader.call<number>('readPairs', 'l', 500))
    for (const victim of victims) await victim.kill()
    assert.deepEqual(await Promise.all(torn), [0, 0])
    lock.writeSync({ timeoutMs: 30_000 }).release()
  }
})

test('a writer that is killed at any access leaves the lock free; what is half done is said to be', () => {
  for (let calls = 1, done = false; !done; calls += 1) {
    const town = new Town()
    const [victim, survivor, witness] = [town.settle(), town.settle(), town.settle()]
    const [theirs, ours, third] = livesOf([victim, survivor, witness]) as [
      { lock: ReadWriteLock; words: number },
      { lock: ReadWriteLock; words: number },
      { lock: ReadWriteLock; words: number },
    ]
    done = victim.killedAfter(calls, () => {
      using _hold = theirs.lock.tryWriteSync()
      victim.memory.store(theirs.words, 1)
      victim.memory.store(theirs.words + 4, 1)
    })
    const isTorn = survivor.memory.load(ours.words) !== survivor.memory.load(ours.words + 4)
    town.bury(victim)
    const reading = third.lock.tryReadSync()
    assert.ok(reading, `killed after ${calls} accesses`)
    assert.ok(reading.abandoned || !isTorn)
    reading.release()
    const hold = ours.lock.tryWriteSync()
    assert.ok(hold)
    assert.equal(hold.abandoned, reading.abandoned)
    hold.release()
    assert.equal(third.lock.tryReadSync()?.abandoned, false, 'it was written in order since')
  }
})

test('a reader that is killed at any access keeps nobody out, and neither does the next in its place', () => {
  for (let calls = 1, done = false; !done; calls += 1) {
    const town = new Town()
    const [victim, survivor] = [town.settle(), town.settle()]
    const [theirs, ours] = livesOf([victim, survivor])
    done = victim.killedAfter(calls, () => theirs?.lock.tryReadSync()?.release())
    town.bury(victim)
    ours?.lock.tryWriteSync()?.release()
    const next = town.settle()
    assert.equal(next.slot, victim.slot)
    const [heirs] = livesOf([next])
    const writing = ours?.lock.tryWriteSync()
    assert.ok(writing, `killed after ${calls} accesses`)
    assert.equal(heirs?.lock.tryReadSync(), undefined)
    writing.release()
    const reading = heirs?.lock.tryReadSync()
    assert.ok(reading)
    assert.equal(ours?.lock.tryWriteSync(), undefined)
  }
})

test('however two attempts interleave, no reader and no second writer is beside a writer', () => {
  const attempts = ['tryReadSync', 'tryWriteSync'] as const
  for (const mine of attempts)
    for (const other of attempts)
      for (let place = 1, done = false; !done; place += 1) {
        const town = new Town()
        const [one, two] = [town.settle(), town.settle()]
        const [first, second] = livesOf([one, two])
        let theirs: ReadWriteHold | undefined
        let access = 0
        one.memory.before = () => {
          access += 1
          if (access === place) theirs = second?.lock[other]()
        }
        const ours = first?.lock[mine]()
        one.memory.before = undefined
        done = access < place
        const both = [ours, theirs].filter((hold) => hold !== undefined)
        if (both.some(({ mode }) => mode === 'write')) assert.equal(both.length, 1, `${mine} ${other} at ${place}`)
        for (const hold of both) hold.release()
        assert.ok(first?.lock.tryWriteSync(), 'what was given up keeps nobody out')
      }
})
