import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Profile, setProfiling, threadProfile } from '../../src/profiling/index.ts'
import { CompletionBatch } from '../../src/verbs/index.ts'
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
  assert.deepEqual(of(open, 'verbs.queuePair', `shm0 ${pair.number}`), {
    sends: 1,
    writes: 2,
    reads: 1,
    atomics: 1,
    bytesSent: 32 + 200,
    bytesRead: 200,
  })
  assert.deepEqual(of(open, 'verbs.queuePair', `shm0 ${peer.number}`), { receives: 1 })
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
