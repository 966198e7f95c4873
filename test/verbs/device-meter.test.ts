import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Profile, prometheusText, setProfiling, threadProfile } from '../../src/profiling/index.ts'
import { Opcode } from '../../src/providers/index.ts'
import { CompletionBatch } from '../../src/verbs/index.ts'
import { PairLatency } from '../../src/verbs/pair-latency.ts'
import { Loopback } from './loopback.ts'

before(() => setProfiling(true))
after(() => setProfiling(false))

function of(profile: Profile, name: string, label: string): Readonly<Record<string, number>> {
  const reading = profile.counters().find((each) => each.name === name && each.label === label)
  return Object.fromEntries(Object.entries(reading?.values ?? {}).filter(([, value]) => value !== 0))
}

test('what is posted to a queue pair is counted by kind, and kept when the pair is gone', async () => {
  const start = threadProfile()
  const ends = new Loopback()
  const { pair, peer, memory, queue } = ends
  peer.prepareReceive({ local: memory.subarray(0, 64) }).post(1)
  pair.prepareSend({ local: memory.subarray(64, 96), signaled: true }).post(1)
  const write = pair.prepareWrite({ local: memory.subarray(0, 100), remote: ends.remote(4096), signaled: true })
  pair.postSendList([write, write])
  pair.prepareRead({ local: memory.subarray(0, 200), remote: ends.remote(4096), signaled: true }).post(2)
  pair.prepareFetchAdd({ local: memory.subarray(0, 8), remote: ends.remote(4096), add: 1n, signaled: true }).post(3)
  const batch = new CompletionBatch(16)
  for (let done = 0; done < 5; ) done += queue.poll(batch)
  const open = threadProfile().since(start)
  const { end, peerEnd } = of(open, 'verbs.queuePair', `shm0 ${pair.number}`)
  assert.ok(end !== undefined && peerEnd !== undefined && end !== peerEnd)
  assert.deepEqual(of(open, 'verbs.queuePair', `shm0 ${pair.number}`), {
    sends: 1,
    writes: 2,
    reads: 1,
    atomics: 1,
    bytesSent: 32 + 200,
    bytesRead: 200,
    bytesOfSends: 32,
    end,
    peerEnd,
  })
  assert.deepEqual(of(open, 'verbs.queuePair', `shm0 ${peer.number}`), { receives: 1, end: peerEnd, peerEnd: end })
  const device = of(open, 'verbs.device', 'shm0')
  assert.deepEqual(device, { queuePairs: 2, memoryRegions: 1, bytesRegistered: 16_384, completions: 5 })
  ends[Symbol.dispose]()
  const closed = threadProfile().since(start)
  assert.equal(closed.total('verbs.queuePair', 'writes'), 2)
  assert.equal(closed.total('verbs.device', 'queuePairs'), 0)
  assert.equal(closed.total('verbs.device', 'completions'), 5)
})

test('failed completions are counted apart', () => {
  using ends = new Loopback()
  const start = threadProfile()
  const { pair, memory, queue } = ends
  const remote = { address: ends.remote(0).address, key: ends.remote(0).key + 1 }
  pair.prepareWrite({ local: memory.subarray(0, 8), remote, signaled: true }).post(1)
  const batch = new CompletionBatch(4)
  while (queue.poll(batch) === 0);
  const since = threadProfile().since(start)
  assert.deepEqual(
    [since.total('verbs.device', 'completions'), since.total('verbs.device', 'failedCompletions')],
    [1, 1],
  )
})

test('a queue pair tells which two ends belong together until it is reset, and atomics are told apart', () => {
  const start = threadProfile()
  using ends = new Loopback()
  const { pair, peer, memory } = ends
  const remote = ends.remote(4096)
  const add = pair.prepareFetchAdd({ local: memory.subarray(0, 8), remote, add: 1n })
  const swap = pair.prepareCompareSwap({ local: memory.subarray(0, 8), remote, compare: 2n, swap: 3n })
  for (const each of [add, add, swap]) {
    each.post(1)
    drain(ends, 1)
  }
  const now = () => of(threadProfile().since(start), 'verbs.queuePair', `shm0 ${pair.number}`)
  assert.deepEqual([now()['atomics'], now()['compareSwaps']], [3, 1])
  assert.deepEqual(Object.keys(timed(threadProfile().since(start), pair.number)).sort(), ['compare-swap', 'fetch-add'])
  for (const each of [pair, peer]) each.toReset()
  assert.deepEqual([now()['end'], now()['peerEnd']], [undefined, undefined])
})

/** How often requests of `pair` were timed, by kind. */
function timed(profile: Profile, pair: number): Readonly<Record<string, number>> {
  const own = profile
    .histograms()
    .filter(({ name, label }) => name === 'verbs.latency' && label.startsWith(`shm0 ${pair} `))
  return Object.fromEntries(own.map(({ label, count }) => [label.split(' ')[2] as string, count]))
}

function drain(ends: Loopback, count: number): void {
  const batch = new CompletionBatch(16)
  for (let done = 0; done < count; ) done += ends.queue.poll(batch)
}

test('requests are timed from post to completion by kind, one under way at a time, also where ids are the same', () => {
  const start = threadProfile()
  using ends = new Loopback()
  const { pair, memory } = ends
  const remote = ends.remote(4096)
  const write = pair.prepareWrite({ local: memory.subarray(0, 8), remote })
  const quiet = pair.prepareWrite({ local: memory.subarray(0, 8), remote, signaled: false })
  const read = pair.prepareRead({ local: memory.subarray(0, 8), remote })
  for (let n = 0; n < 3; n += 1) {
    write.post(7)
    drain(ends, 1)
  }
  // The first of these is timed; the unsignaled one has no completion, and the READ waits for its turn.
  for (const each of [write, quiet, read, write]) each.post(7)
  drain(ends, 3)
  read.post(7)
  drain(ends, 1)
  assert.deepEqual(timed(threadProfile().since(start), pair.number), { write: 4, read: 1 })
  const since = threadProfile().since(start)
  const { meanNs, maxNs } = since.histograms().find(({ label }) => label === `shm0 ${pair.number} write`)!
  assert.ok(meanNs > 0 && meanNs <= maxNs && maxNs < 60e9)
  const text = prometheusText([{ profile: since, labels: {} }])
  assert.match(text, new RegExp(`^aether_verbs_latency_seconds_count\\{request="shm0 ${pair.number} read"\\} 1$`, 'm'))
})

test('of many requests one in 256 is timed; where some failed none is, until the pair was reset', () => {
  const start = threadProfile()
  using ends = new Loopback()
  const { pair, memory } = ends
  const write = pair.prepareWrite({ local: memory.subarray(0, 8), remote: ends.remote(4096) })
  const play = (times: number): void => {
    for (let n = 0; n < times; n += 1) {
      write.post(n)
      drain(ends, 1)
    }
  }
  play(2 * 256)
  const counted = (): number => timed(threadProfile().since(start), pair.number)['write'] ?? 0
  assert.equal(counted(), 66)
  const { address, key } = ends.remote(0)
  pair.prepareWrite({ local: memory.subarray(0, 8), remote: { address, key: key + 1 } }).post(1)
  drain(ends, 1)
  play(3)
  assert.equal(counted(), 66)
  const { peer } = ends
  for (const each of [pair, peer]) each.toReset()
  pair.connect(peer.endpoint)
  peer.connect(pair.endpoint)
  play(3)
  assert.equal(counted(), 69)
})

test('queue pairs beyond the eighth are timed together', () => {
  const start = threadProfile()
  const all = Array.from({ length: 9 }, () => new Loopback())
  for (const ends of all) {
    ends.pair.prepareWrite({ local: ends.memory.subarray(0, 8), remote: ends.remote(4096) }).post(1)
    drain(ends, 1)
  }
  const labels = (): string[] =>
    threadProfile()
      .since(start)
      .histograms()
      .filter(({ name, rest, count }) => name === 'verbs.latency' && !rest && count > 0)
      .map(({ label }) => label)
  assert.equal(labels().length, 9)
  assert.ok(labels().includes('shm0 others write'))
  for (const ends of all.slice(1)) ends[Symbol.dispose]()
  assert.ok(labels().includes('shm0 others write'))
  all[0]![Symbol.dispose]()
  assert.deepEqual(labels(), [])
  assert.equal(threadProfile().since(start).histogram('verbs.latency').count, 9)
})

test('what the pairs of a device share ends with the last of them, and begins anew with the next', () => {
  const shared = (): number =>
    threadProfile()
      .histograms()
      .filter(({ label, rest }) => label === 'shared0 others send' && !rest).length
  for (let round = 0; round < 2; round++) {
    const pairs = Array.from({ length: 12 }, (_, number) => new PairLatency('shared0', number))
    for (const pair of pairs) {
      pair.posted(Opcode.Send)
      pair.completed()
    }
    assert.equal(shared(), 1)
    for (const pair of pairs.slice(1)) pair.close()
    assert.equal(shared(), 1)
    // Twice does no harm, nor does what completes afterwards.
    for (const _ of [1, 2]) pairs[0]!.close()
    pairs[0]!.reset()
    pairs[0]!.posted(Opcode.Send)
    pairs[0]!.completed()
    assert.equal(shared(), 0)
  }
})
