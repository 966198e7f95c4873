import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { openSimulatedCluster, Stream } from '../../../src/providers/index.ts'
import { twoHosts } from './two-hosts.ts'

test('events happen in the order of their times, those of one time in the order in which they were scheduled', () => {
  using cluster = openSimulatedCluster(1)
  const { kernel } = cluster
  const seen: string[] = []
  const note = (what: string) => (): void => {
    seen.push(`${what} ${kernel.nowNs}`)
  }
  for (const atNs of [50, 10, 30, 10, 20, 40]) kernel.at(atNs, note(`at ${atNs}`))
  kernel.at(10, () => {
    // A moment that has passed means now, behind what is due now already.
    kernel.at(5, note('late'))
    kernel.after(0, note('later'))
  })
  kernel.at(10, note('last of 10'))
  kernel.runTo(45)
  assert.deepEqual(seen, [
    'at 10 10',
    'at 10 10',
    'last of 10 10',
    'late 10',
    'later 10',
    'at 20 20',
    'at 30 30',
    'at 40 40',
  ])
  assert.equal(kernel.nowNs, 45)
  assert.equal(kernel.nextNs, 50)
})

test('a thousand events at random times come sorted', () => {
  using cluster = openSimulatedCluster(1)
  const { kernel } = cluster
  const stream = new Stream(1, 'times', undefined)
  const times: number[] = []
  for (let index = 0; index < 1000; index += 1) kernel.at(stream.below(500), () => times.push(kernel.nowNs))
  while (kernel.step());
  assert.equal(times.length, 1000)
  assert.deepEqual(
    times,
    times.toSorted((one, other) => one - other),
  )
})

test('streams depend on seed and name only', () => {
  const numbers = (seed: number, name: string): number[] => {
    const stream = new Stream(seed, name, undefined)
    return Array.from({ length: 8 }, () => stream.below(1_000_000))
  }
  assert.deepEqual(numbers(1, 'one'), numbers(1, 'one'))
  assert.notDeepEqual(numbers(1, 'one'), numbers(1, 'other'))
  assert.notDeepEqual(numbers(1, 'one'), numbers(2, 'one'))
  assert.notDeepEqual(numbers(1, 'one'), numbers(1 + 2 ** 40, 'one'))
})

test('what never or always happens is not asked, and what is in between happens as often as it should', () => {
  const asked: string[] = []
  const chosen = new Stream(1, 'chosen', (count, what) => {
    asked.push(`${what} ${count}`)
    return count - 1
  })
  assert.deepEqual([chosen.chance(0), chosen.chance(1), chosen.below(1), chosen.between(3, 3)], [false, true, 0, 3])
  assert.deepEqual(asked, [])
  assert.deepEqual([chosen.chance(0.01), chosen.below(5), chosen.between(3, 9)], [true, 4, 9])
  assert.deepEqual(asked, ['chosen 2', 'chosen 5', 'chosen 2'])
  const stream = new Stream(1, 'tenth', undefined)
  const hits = Array.from({ length: 10_000 }, () => stream.chance(0.1)).filter(Boolean).length
  assert.ok(hits > 800 && hits < 1200, `${hits}`)
})

test('where polls let time pass, conveniences need nobody who drives the cluster', async () => {
  const { cluster, a, b } = twoHosts(1, { advanceOnPoll: true })
  a.setWord(0, 7n)
  await a.pair.write({ local: a.memory.subarray(0, 8), remote: b.at(0) })
  assert.equal(b.word(0), 7n)
  b.setWord(1, 8n)
  a.pair.readSync({ local: a.memory.subarray(8, 16), remote: b.at(8) })
  assert.equal(a.word(1), 8n)
  assert.ok(cluster.nowNs > 0)
})

test('without that, a poll changes nothing', () => {
  const { cluster, a, b } = twoHosts(1)
  a.write(b, 1, 0, 8)
  for (let round = 0; round < 100; round += 1) assert.deepEqual(a.completions(), [])
  assert.equal(cluster.nowNs, 0)
})

test('a program runs when it was woken, once for many wake-ups, and sleeps until a channel or a time', () => {
  const { cluster, a, b } = twoHosts(1)
  const [host] = cluster.hosts
  const runs: number[] = []
  const process = host!.spawn(() => runs.push(cluster.nowNs))
  process.wake()
  process.wake()
  cluster.advance(10_000)
  assert.equal(runs.length, 1)
  process.wakeAt(20_000)
  cluster.advance(90_000)
  assert.deepEqual(runs.slice(1), [20_000])
  a.queue.arm()
  const cancel = host!.whenReadable(a.channel.descriptor, () => process.wake())
  a.write(b, 1, 0, 8)
  cluster.advance(100_000)
  assert.equal(runs.length, 3)
  cancel()
  assert.throws(() => host!.whenReadable(-5, () => {}), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
})

test('a wait for an event that has come already ends at once', async () => {
  const { cluster, a, b } = twoHosts(1)
  a.queue.arm()
  a.write(b, 1, 0, 8)
  cluster.advance(100_000)
  await a.channel.wait({ timeoutMs: 60_000 })
  assert.deepEqual(a.channel.drain(), [a.queue])
})

test('a host has a name, under which its device is opened again', () => {
  using cluster = openSimulatedCluster(1)
  const host = cluster.addHost()
  assert.equal(host.index, 0)
  assert.equal(cluster.open(`${cluster.device}/0`, {})?.host, host)
  assert.equal(cluster.open(`${cluster.device}/1`, {}), undefined)
})
