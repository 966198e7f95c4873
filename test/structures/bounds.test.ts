import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from '../../src/public/index.ts'
import { json, openStructures } from '../../src/structures/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'

useRuntimeDirectory()

/** Two members of one space, as the old and the new version of a service are while it is deployed. */
async function twoVersions(name: string) {
  const [oldSpace, newSpace] = [await open(name), await open(name)]
  const [before, after] = [await openStructures(oldSpace, { size: '4MiB' }), await openStructures(newSpace)]
  return {
    before,
    after,
    async [Symbol.asyncDispose]() {
      for (const each of [before, after]) await each.close()
      for (const each of [oldSpace, newSpace]) await each.close()
    },
  }
}

test('a map takes the bound of who opens it last, for all; an opener that leaves it out keeps what is there', async () => {
  await using versions = await twoVersions('map-bounds')
  const old = await versions.before.map<number>('m', { maxEntries: 100 })
  for (let key = 0; key < 500; key += 1) old.setSync(key, key)
  assert.ok(old.sizeSync() <= 101, `${old.sizeSync()} entries`)
  const young = await versions.after.map<number>('m', { maxEntries: 300 })
  for (let key = 0; key < 1000; key += 1) old.setSync(key, key)
  assert.ok(old.sizeSync() > 250 && old.sizeSync() <= 301, `${old.sizeSync()} entries`)
  await versions.before.map('m')
  for (let key = 0; key < 1000; key += 1) old.setSync(key, key)
  assert.ok(young.sizeSync() > 250, 'the bound has stayed')
  await versions.before.map('m', { maxEntries: 50 })
  for (let key = 0; key < 400; key += 1) young.setSync(key, key)
  assert.ok(young.sizeSync() <= 51, `${young.sizeSync()} entries`)
  await versions.before.map('m', { maxEntries: Number.POSITIVE_INFINITY })
  for (let key = 0; key < 400; key += 1) young.setSync(key, key)
  assert.equal(young.sizeSync(), 400)
})

test('the time to live of a map is that of who opens it last, for what is written from then on', async () => {
  await using versions = await twoVersions('map-ttl')
  const old = await versions.before.map<number>('m', { ttlMs: 3_600_000 })
  old.setSync('before', 1)
  await versions.after.map<number>('m', { ttlMs: 1 })
  old.setSync('after', 1)
  const end = performance.now() + 20
  while (performance.now() < end);
  assert.deepEqual([old.getSync('before'), old.getSync('after')], [1, undefined])
  await versions.after.map<number>('m', { ttlMs: 0 })
  old.setSync('for ever', 1)
  assert.equal(old.getSync('for ever'), 1)
})

test('queues, stacks, logs, channels and limiters take a new bound while they are in use', async () => {
  await using versions = await twoVersions('other-bounds')
  const { before, after } = versions
  for (const kind of ['queue', 'stack'] as const) {
    const list = await before[kind]<number>(kind, { capacity: 2 })
    for (let value = 0; value < 2; value += 1) list.pushSync(value)
    assert.equal(list.tryPushSync(2), false)
    const waiting = list.push(2)
    await after[kind]<number>(kind, { capacity: 3 })
    await waiting
    assert.equal(list.tryPushSync(3), false)
    await after[kind]<number>(kind)
    assert.equal(list.tryPushSync(3), false, 'it has stayed')
  }
  const log = await before.log<number>('log', { capacity: 10 })
  await after.log<number>('log', { capacity: 4 })
  for (let value = 0; value < 20; value += 1) log.appendSync(value)
  assert.equal(log.readSync(0, 100).length, 4)
  const channel = await before.channel<number>('channel', { capacity: 10 })
  const follower = channel.subscribe()
  await after.channel<number>('channel', { capacity: 2 })
  for (let value = 0; value < 10; value += 1) channel.publishSync(value)
  assert.equal((await follower.next()).value?.missed, 8)
  await follower.return?.()
  const limiter = await before.rateLimiter('limit', { limit: 2, intervalMs: 3_600_000 })
  assert.deepEqual([limiter.takeSync(2).allowed, limiter.takeSync().allowed], [true, false])
  await after.rateLimiter('limit', { limit: 1000, intervalMs: 3_600_000 })
  assert.equal(limiter.limit, 1000)
  // What was granted before is paid for at the rate of that time.
  assert.equal(limiter.takeSync().allowed, false)
  await limiter.reset()
  assert.deepEqual([limiter.takeSync(1000).allowed, limiter.takeSync().allowed], [true, false])
})

test('what cannot change is refused in words', async () => {
  await using versions = await twoVersions('mismatches')
  const { before, after } = versions
  const refused = (message: RegExp) => ({ code: 'ERR_AETHER_STRUCTURE_MISMATCH', message })
  await before.map('m')
  await assert.rejects(
    after.map('m', { codec: json }),
    refused(/^'m' was made with codec structured, opened with codec json; use another name, or the same options$/),
  )
  await before.semaphore('s', { permits: 2 })
  await assert.rejects(
    after.semaphore('s', { permits: 3 }),
    refused(/'s' was made with permits 2, opened with permits 3/),
  )
  await before.leader('l', { leaseMs: 1000 })
  await assert.rejects(after.leader('l', { leaseMs: 2000 }), refused(/leaseMs 1000, opened with leaseMs 2000/))
  assert.equal((await after.leader('l')).leaseMs, 1000)
})

test('bounds that cannot be are refused', async () => {
  await using versions = await twoVersions('bad-bounds')
  for (const bound of [0, -1, 1.5, Number.NaN, 2 ** 40]) {
    await assert.rejects(versions.before.map('m', { maxEntries: bound }), { argument: 'options.maxEntries' })
    for (const kind of ['queue', 'stack', 'log', 'channel'] as const)
      await assert.rejects(versions.before[kind](kind, { capacity: bound }), {
        argument: 'options.capacity',
        message: /from 1 to \d+, or Infinity for no bound, not/,
      })
  }
})

test('structures of more than 2 GiB have all of their memory', async () => {
  await using space = await open('large')
  for (const size of [2 ** 31, 2 ** 31 + 2 ** 26, 3 * 2 ** 30, 2 ** 32]) {
    // Memory is taken as it is touched.
    await using shared = await openStructures(space, { region: `of ${size}`, size, reserve: false })
    const { sizeBytes } = shared.usage()
    assert.ok(sizeBytes > 0.9 * size && sizeBytes < size, `${sizeBytes} of ${size}`)
  }
})

test('a region of another size, or with other data, is no region for structures, and the error says what to do', async () => {
  await using space = await open('taken')
  await space.openRegion('structures', { size: '4KiB' })
  const message = /^region 'structures' has 4096 bytes, and structures take 1 MiB to 4 GiB: .* options\.region$/
  await assert.rejects(openStructures(space), { code: 'ERR_AETHER_STRUCTURES_VERSION', message })
  const other = await space.openRegion('other', { size: '4MiB' })
  other.uint8.fill(1)
  await assert.rejects(openStructures(space, { region: 'other' }), { code: 'ERR_AETHER_STRUCTURES_VERSION' })
  await (await openStructures(space, { region: 'third', size: '4MiB' })).close()
})
