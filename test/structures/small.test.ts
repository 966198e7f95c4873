import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from '../../src/public/index.ts'
import { type Codec, json, openStructures } from '../../src/structures/index.ts'
import { LEADER_BYTES, Leader } from '../../src/structures/leader.ts'
import { BELL_BYTES } from '../../src/structures/waiting/bell.ts'
import { until, useRuntimeDirectory } from '../cluster/support.ts'
import { Shared } from './processes.ts'
import { Town } from './town.ts'

useRuntimeDirectory()

const soon = () => ({ signal: AbortSignal.timeout(30_000) })

test('a counter has what all processes added', async () => {
  await using shared = await Shared.open()
  const others = [await shared.start(), await shared.start()]
  const hits = await shared.structures.counter('hits')
  const adding = others.map((other) => other.call('add', 'hits', 20_000))
  for (let turn = 0; turn < 20_000; turn += 1) hits.addSync()
  await Promise.all(adding)
  assert.equal(hits.getSync(), 60_000)
  assert.equal(await hits.add(-60_001), -1)
  assert.equal(await hits.set(2 ** 53 - 2), -1)
  assert.equal(hits.compareAndSetSync(1, 5), 2 ** 53 - 2)
  assert.equal(await hits.compareAndSet(2 ** 53 - 2, 5), 2 ** 53 - 2)
  assert.equal(await hits.get(), 5)
  assert.throws(() => hits.addSync(0.5), { code: 'ERR_AETHER_INVALID_ARGUMENT', argument: 'amount' })
  await assert.rejects(hits.get({ signal: AbortSignal.abort(new Error('no')) }), /no/)
})

test('a sequence gives each number once', async () => {
  await using shared = await Shared.open()
  const others = [await shared.start(), await shared.start()]
  const sequence = await shared.structures.sequence('orders')
  const taken = (await Promise.all(others.map((other) => other.call<number[]>('numbers', 'orders', 500)))).flat()
  taken.push(...Array.from({ length: 500 }, () => sequence.nextSync()))
  assert.deepEqual(
    taken.sort((a, b) => a - b),
    Array.from({ length: 1500 }, (_, index) => index + 1),
  )
  assert.equal(await sequence.next(10), 1501)
  assert.equal(await sequence.last(), 1510)
  assert.throws(() => sequence.nextSync(0), { argument: 'count' })
})

test('a flag wakes whoever waits for it, by event loop and by thread', async () => {
  await using shared = await Shared.open()
  const flag = await shared.structures.flag('ready')
  const waiting = [
    (await shared.start()).call('waitFlag', 'ready'),
    (await shared.start()).call('waitFlagSync', 'ready'),
  ]
  const here = flag.wait(soon())
  assert.equal(await flag.isRaised(), false)
  assert.equal(await flag.raise(), true)
  await Promise.all([...waiting, here])
  assert.equal(flag.raiseSync(), false)
  flag.waitSync()
  assert.equal(await flag.lower(), true)
  assert.throws(() => flag.waitSync({ timeoutMs: 5 }), { code: 'ERR_AETHER_TIMEOUT', message: /flag 'ready'/ })
  const reason = new Error('enough')
  await assert.rejects(flag.wait({ signal: AbortSignal.abort(reason) }), reason)
  const stop = new AbortController()
  const stopped = flag.wait(stop)
  stop.abort(reason)
  await assert.rejects(stopped, reason)
})

test('a mutex is held by one at a time, and its token rises', async () => {
  await using shared = await Shared.open()
  const mutex = await shared.structures.mutex('m')
  const other = await shared.start()
  assert.deepEqual(await other.call('lock', 'm'), { token: 1, abandoned: false })
  assert.equal(await mutex.tryLock(), undefined)
  assert.throws(() => mutex.lockSync({ timeoutMs: 5 }), { code: 'ERR_AETHER_TIMEOUT' })
  const waiting = mutex.lock(soon())
  await other.call('unlockSoon')
  {
    using hold = await waiting
    assert.deepEqual([hold.token, hold.abandoned], [2, false])
    assert.equal(mutex.tryLockSync(), undefined)
  }
  const hold = mutex.tryLockSync()
  hold?.release()
  hold?.release()
  assert.equal(mutex.tryLockSync()?.token, 4)
})

test('whoever holds a mutex and is killed loses it, and the next one is told', async () => {
  await using shared = await Shared.open()
  const mutex = await shared.structures.mutex('m')
  const other = await shared.start()
  await other.call('lock', 'm')
  const waiting = mutex.lock(soon())
  await other.kill()
  assert.equal((await waiting).abandoned, true)
})

test('a blocked thread notices by itself that the holder was killed', async () => {
  await using shared = await Shared.open()
  const [holder, waiter] = [await shared.start(), await shared.start()]
  await holder.call('lock', 'm')
  const torn = waiter.call('transfer', 'm', 1)
  await holder.kill()
  assert.equal(await torn, 0)
})

test('processes that are killed while they hold a mutex leave what it protects to the next, again and again', async () => {
  await using shared = await Shared.open()
  const worker = await shared.start()
  for (let round = 0; round < 3; round += 1) {
    const victim = await shared.start()
    await victim.call('transferForEver', 'm')
    const torn = worker.call('transfer', 'm', 2000)
    await victim.kill()
    assert.equal(await torn, 0)
  }
})

test('a semaphore has so many holders and no more; the permits of the killed are free', async () => {
  await using shared = await Shared.open()
  const others = [await shared.start(), await shared.start()]
  const semaphore = await shared.structures.semaphore('s', { permits: 3 })
  for (const other of others) await other.call('acquire', 's', 3)
  const last = await semaphore.acquire(soon())
  assert.equal(await semaphore.tryAcquire(), undefined)
  assert.equal(await semaphore.available(), 0)
  const waiting = semaphore.acquire(soon())
  await others[0]?.kill()
  await waiting
  last.release()
  last.release()
  assert.equal(semaphore.availableSync(), 1)
  await assert.rejects(shared.structures.semaphore('s', { permits: 4 }), { code: 'ERR_AETHER_STRUCTURE_MISMATCH' })
  await assert.rejects(shared.structures.semaphore('t', { permits: 0 }), { argument: 'options.permits' })
})

test('no permit is lost to processes that are killed while they come and go', async () => {
  await using shared = await Shared.open()
  const semaphore = await shared.structures.semaphore('s', { permits: 2 })
  for (let round = 0; round < 3; round += 1) {
    const victims = [await shared.start(), await shared.start()]
    for (const victim of victims) await victim.call('acquireForEver', 's', 2)
    for (const victim of victims) await victim.kill()
    await until(() => semaphore.availableSync() === 2, 'both permits to be free')
  }
})

test('once is done by one; when that one is killed or fails, by the next', async () => {
  await using shared = await Shared.open()
  const others = [await shared.start(), await shared.start()]
  const runs = await shared.structures.counter('runs')
  const ran = await Promise.all(others.map((other) => other.call<boolean>('once', 'a')))
  assert.deepEqual(ran.sort(), [false, true])
  assert.equal(runs.getSync(), 1)

  const once = await shared.structures.once('b')
  await others[0]?.call('onceAndHang', 'b')
  const waiting = once.run(() => runs.addSync(), soon())
  await others[0]?.kill()
  assert.equal(await waiting, true)
  assert.equal(await once.isDone(), true)

  const failing = await shared.structures.once('c')
  await assert.rejects(
    failing.run(() => {
      throw new Error('not today')
    }),
    /not today/,
  )
  assert.equal(failing.isDoneSync(), false)
  assert.equal(
    failing.runSync(() => {}),
    true,
  )
  assert.equal(failing.runSync(assert.fail), false)
})

test('what was over long ago does not look as if it were to last, though clocks are kept modulo 2^32 milliseconds', async () => {
  const town = new Town()
  const [before, next] = [town.settle(), town.settle()]
  const request = { kind: 'leader', name: 'l', bodyBytes: LEADER_BYTES, parameters: [] } as const
  const { offset } = before.directory.open(request)
  const [old, leader] = [before, next].map(({ heap }) => new Leader('l', heap, offset, 5000)) as [Leader, Leader]
  const first = await old.tryCampaign()
  assert.equal(await leader.tryCampaign(), undefined)
  await first?.resign()
  // As it would be 25 days later; who has resigned lives on.
  const word = before.memory.load64(offset + BELL_BYTES)
  before.memory.store64(offset + BELL_BYTES, BigInt.asIntN(64, word ^ 0x8000_0000n))
  assert.equal(first?.isLeader, false)
  const second = await leader.tryCampaign()
  assert.equal(second?.term, 2)
  await second?.resign()
})

test('once: who closes the structures meanwhile is told that nobody will know', async () => {
  await using shared = await Shared.open()
  const space = await open(shared.space.name)
  const structures = await openStructures(space)
  const once = await structures.once('closed')
  const run = once.run(() => structures.close())
  await assert.rejects(run, { code: 'ERR_AETHER_CLOSED' })
  assert.equal(await (await shared.structures.once('closed')).run(() => {}, soon()), true)
  await space.close()
})

test('who closes the structures leads no more, and is followed at once', async () => {
  await using shared = await Shared.open()
  const space = await open(shared.space.name)
  const structures = await openStructures(space)
  const first = await (await structures.leader('l', { leaseMs: 3_600_000 })).campaign(soon())
  await structures.close()
  assert.equal(first.signal.aborted, true)
  const second = await (await shared.structures.leader('l', { leaseMs: 3_600_000 })).campaign(soon())
  assert.equal(second.term, 2)
  await second.resign()
  await space.close()
})

test('there is one leader, and the next when it is killed, resigns or lets its lease run out', async () => {
  await using shared = await Shared.open()
  const other = await shared.start()
  const leader = await shared.structures.leader('l', { leaseMs: 60_000 })
  assert.equal(await other.call('lead', 'l', 60_000), 1)
  assert.equal(await leader.tryCampaign(), undefined)
  const waiting = leader.campaign(soon())
  await other.kill()
  const second = await waiting
  assert.deepEqual([second.term, second.isLeader, leader.termSync()], [2, true, 2])
  await second.resign()
  assert.deepEqual([second.isLeader, second.signal.aborted], [false, true])
  const third = await leader.campaign(soon())
  await second.resign()
  assert.equal(third.isLeader, true)

  const short = await shared.structures.leader('short', { leaseMs: 30 })
  const stalled = await shared.start()
  assert.equal(await stalled.call('lead', 'short', 30), 1)
  await stalled.stop()
  await using follower = await short.campaign(soon())
  assert.equal(follower.term, 2)
})

test('a rate limiter lets through its limit, counted over all processes', async () => {
  await using shared = await Shared.open()
  const others = [await shared.start(), await shared.start()]
  const allowed = await Promise.all(others.map((other) => other.call<number>('take', 'r', 80)))
  assert.equal(allowed[0]! + allowed[1]!, 100)
  const limiter = await shared.structures.rateLimiter('r', { limit: 100, intervalMs: 3_600_000 })
  const verdict = limiter.takeSync()
  assert.deepEqual([verdict.allowed, verdict.remaining], [false, 0])
  assert.ok(verdict.retryAfterMs > 0 && verdict.retryAfterMs <= 36_000)
  await limiter.reset()
  assert.deepEqual(await limiter.take(30), { allowed: true, remaining: 70, retryAfterMs: 0 })
  assert.equal((await limiter.take(71)).allowed, false)
  assert.throws(() => limiter.takeSync(101), { argument: 'count' })

  const quick = await shared.structures.rateLimiter('quick', { limit: 1, intervalMs: 5 })
  for (let turn = 0; turn < 3; turn += 1) await quick.wait(1, soon())
  const reason = new Error('enough')
  await assert.rejects(limiter.wait(100, { signal: AbortSignal.abort(reason) }), reason)
})

test('what is no codec is refused with the names of those that are', async () => {
  await using shared = await Shared.open()
  const { encode, decode } = json
  const wrong = [
    'bytes',
    null,
    { encode, decode },
    { ...json, name: '' },
    { ...json, name: 'x'.repeat(65) },
    { name: 'own', encode },
  ]
  const message = /structured, json, number or bytes/
  for (const codec of wrong as (typeof json)[]) {
    const refused = { code: 'ERR_AETHER_INVALID_ARGUMENT', argument: 'options.codec', message }
    await assert.rejects(shared.structures.map('m', { codec }), refused)
    await assert.rejects(shared.structures.queue('q', { codec }), refused)
  }
  assert.deepEqual(shared.structures.list(), [])
  const text = { name: 'text', encode: (value: string) => value, decode: String } as unknown as Codec<string>
  const words = await shared.structures.map<string>('words', { codec: text })
  assert.throws(() => words.setSync('a', 'b'), { argument: 'options.codec', message: /'text'.*Uint8Array.*'b'/ })
  assert.equal(words.getSync('a'), undefined)
})

test('what is closed says so, gives up what it held, and can be opened again', async () => {
  await using shared = await Shared.open()
  const other = await open(shared.space.name)
  const first = await openStructures(other)
  const [counter, mutex] = [await first.counter('c'), await first.mutex('m')]
  await mutex.lock()
  await assert.rejects(openStructures(other), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  await first.close()
  await first.close()
  assert.throws(() => counter.addSync(), { code: 'ERR_AETHER_CLOSED' })
  await assert.rejects(first.counter('c'), { code: 'ERR_AETHER_CLOSED' })
  const here = await shared.structures.mutex('m')
  assert.equal(here.tryLockSync()?.abandoned, false)

  const again = await openStructures(other)
  const waiting = (await again.mutex('m')).lock()
  await other.close()
  await assert.rejects(waiting, { code: 'ERR_AETHER_CLOSED' })
  assert.equal(again.closed, true)
  assert.deepEqual(shared.structures.list(), [
    { name: 'c', kind: 'counter' },
    { name: 'm', kind: 'mutex' },
  ])
})
