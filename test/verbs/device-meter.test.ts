import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { after, before, test } from 'node:test'
import {
  type Profile,
  prometheusText,
  setProfiling,
  setTraceLevel,
  TraceLevel,
  type TraceMessage,
  threadProfile,
} from '../../src/profiling/index.ts'
import { Access, CompletionBatch } from '../../src/verbs/index.ts'
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
    fetchAdds: 1,
    bytesOfSends: 32,
    bytesOfWrites: 200,
    bytesOfReads: 200,
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
  assert.deepEqual([now()['fetchAdds'], now()['compareSwaps']], [2, 1])
  assert.deepEqual(Object.keys(timed(threadProfile().since(start), pair.number)).sort(), ['compare-swap', 'fetch-add'])
  for (const each of [pair, peer]) each.toReset()
  assert.deepEqual([now()['end'], now()['peerEnd']], [undefined, undefined])
})

/** How often requests of `pair` were timed, by kind. */
function timed(profile: Profile, pair: number): Readonly<Record<string, number>> {
  const own = profile
    .histograms()
    .filter(({ name, label }) => name === 'verbs.latency' && label.startsWith(`shm0 ${pair} `))
  return Object.fromEntries(own.map(({ label, count }) => [label.split(' ')[2]!, count]))
}

function drain(ends: Loopback, count: number): void {
  const batch = new CompletionBatch(16)
  for (let done = 0; done < count; ) done += ends.queue.poll(batch)
}

test('requests are timed from post to completion by kind, also where ids are the same, and have the ids of their program', () => {
  const start = threadProfile()
  using ends = new Loopback()
  const { pair, memory, queue } = ends
  const remote = ends.remote(4096)
  const write = pair.prepareWrite({ local: memory.subarray(0, 8), remote })
  const quiet = pair.prepareWrite({ local: memory.subarray(0, 8), remote, signaled: false })
  const read = pair.prepareRead({ local: memory.subarray(0, 8), remote })
  const batch = new CompletionBatch(16)
  const ids: number[] = []
  const take = (count: number): void => {
    for (const until = ids.length + count; ids.length < until; ) {
      const rows = queue.poll(batch)
      ids.push(...batch.id.subarray(0, rows))
    }
  }
  for (let n = 0; n < 3; n += 1) {
    write.post(7)
    take(1)
  }
  // The unsignaled one has no completion.
  for (const each of [write, quiet, read, write]) each.post(7)
  assert.deepEqual([write.id, read.id], [7, 7])
  take(3)
  read.post(8)
  take(1)
  assert.deepEqual(ids, [7, 7, 7, 7, 7, 7, 8])
  assert.deepEqual(timed(threadProfile().since(start), pair.number), { write: 5, read: 2 })
  const since = threadProfile().since(start)
  const { meanNs, maxNs } = since.histograms().find(({ label }) => label === `shm0 ${pair.number} write`)!
  assert.ok(meanNs > 0 && meanNs <= maxNs && maxNs < 60e9)
  const text = prometheusText([{ profile: since, labels: {} }])
  assert.match(text, new RegExp(`^aether_verbs_latency_seconds_count\\{request="shm0 ${pair.number} read"\\} 2$`, 'm'))
})

test('ids are those of the program where the queue was made by another opening of the device, profiled or not, and in traces', () => {
  const start = threadProfile()
  setProfiling(false)
  using plain = new Loopback()
  setProfiling(true)
  using first = new Loopback()
  using second = new Loopback()
  const told: unknown[] = []
  const onEvent = (message: unknown): void => {
    const { type, fields } = message as TraceMessage
    if (type === 'post' || type === 'completion') told.push(fields['id'])
  }
  subscribe('aether:rdma', onEvent)
  setTraceLevel(TraceLevel.Trace)
  try {
    for (const [index, { queue }] of [plain, first].entries()) {
      const { domain, memory } = second
      const pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
      const peer = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
      pair.connect(peer.endpoint)
      peer.connect(pair.endpoint)
      pair.prepareWrite({ local: memory.subarray(0, 8), remote: second.remote(4096) }).post(22)
      const batch = new CompletionBatch(4)
      while (queue.poll(batch) === 0);
      assert.equal(batch.id[0], 22)
      assert.equal(timed(threadProfile().since(start), pair.number)['write'], index === 0 ? undefined : 1)
      pair.writeSync({ local: memory.subarray(0, 8), remote: second.remote(4096) })
      for (const each of [pair, peer]) each.close()
    }
  } finally {
    unsubscribe('aether:rdma', onEvent)
    setTraceLevel(TraceLevel.Info)
  }
  assert.ok(told.length >= 4 && told.every((id) => Number(id) > -1000), String(told))
})

test('binds of windows of both types are counted', () => {
  const start = threadProfile()
  using ends = new Loopback()
  const { pair, domain } = ends
  const memory = domain.allocate(4096, Access.LocalWrite | Access.MemoryWindowBind)
  const range = { memory, offset: 64, length: 16, access: Access.RemoteRead }
  const count = (): number => of(threadProfile().since(start), 'verbs.queuePair', `shm0 ${pair.number}`)['others'] ?? 0
  for (const [index, type] of ([1, 2] as const).entries()) {
    using window = domain.createMemoryWindow(type)
    if (type === 1) window.bind(pair, 9, range)
    else pair.prepareBind({ window, ...range }).post(9)
    const batch = new CompletionBatch(4)
    while (ends.queue.poll(batch) === 0);
    assert.deepEqual([batch.id[0], batch.status[0]], [9, 0])
    assert.equal(count(), index + 1)
  }
})

test('of a list one request is timed, none where it is there twice, and none that is not taken', () => {
  const start = threadProfile()
  using ends = new Loopback()
  const { pair, memory, queue } = ends
  const request = (signaled: boolean) =>
    pair.prepareWrite({ local: memory.subarray(0, 8), remote: ends.remote(4096), signaled })
  const [quiet, first, second] = [request(false), request(true), request(true)]
  for (const [index, each] of [quiet, first, second].entries()) each.id = index
  const batch = new CompletionBatch(16)
  const play = (list: Parameters<typeof pair.postSendList>[0], completed: number): number[] => {
    pair.postSendList(list)
    const ids: number[] = []
    while (ids.length < completed) ids.push(...batch.id.subarray(0, queue.poll(batch)))
    return ids
  }
  const counted = (): number => timed(threadProfile().since(start), pair.number)['write'] ?? 0
  assert.deepEqual(play([quiet, first, second], 2), [1, 2])
  assert.equal(counted(), 1)
  assert.deepEqual(play([first, first], 2), [1, 1])
  assert.equal(counted(), 1)
  const many = Array.from({ length: pair.capacities.maxSendRequests + 1 }, () => request(true))
  assert.throws(() => pair.postSendList(many), /were taken/)
  drain(ends, pair.capacities.maxSendRequests)
  assert.equal(counted(), 2)
})

test('of many requests one in 256 is timed, and none that failed; ids of programs come with these, too', () => {
  const start = threadProfile()
  using ends = new Loopback()
  const { pair, peer, memory, queue } = ends
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
  const read = pair.prepareRead({ local: memory.subarray(0, 8), remote: { address, key: key + 1 } })
  read.post(3)
  const batch = new CompletionBatch(4)
  while (queue.poll(batch) === 0);
  assert.deepEqual([batch.id[0], batch.status[0] === 0], [3, false])
  assert.equal(timed(threadProfile().since(start), pair.number)['read'], undefined)
  for (const each of [pair, peer]) each.toReset()
  pair.connect(peer.endpoint)
  peer.connect(pair.endpoint)
  play(256)
  assert.equal(counted(), 67)
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
  for (let round = 0; round < 2; round += 1) {
    const pairs = Array.from({ length: 12 }, (_, number) => new PairLatency('shared0', number))
    for (const pair of pairs) pair.record(0, 100)
    assert.equal(shared(), 1)
    for (const pair of pairs.slice(1)) pair.close()
    assert.equal(shared(), 1)
    // Twice does no harm, nor does what completes afterwards.
    for (const _ of [1, 2]) pairs[0]!.close()
    pairs[0]!.record(0, 100)
    assert.equal(shared(), 0)
  }
})
