/** Each fault of the catalogue that touches verbs: that it happens, and what a program sees of it. */
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { Access, CompletionStatus, Errno } from '../../../src/verbs/index.ts'
import { type HostEnd, QUICK, twoHosts } from './two-hosts.ts'

const { Success, RetryExceeded, WorkRequestFlushed, ReceiverNotReadyRetryExceeded, RemoteAccessError } =
  CompletionStatus

function fill(end: HostEnd, value: number, from = 0, to = end.memory.length): void {
  end.memory.bytes.fill(value, from, to)
}

/** Which values are in a range. */
function values(end: HostEnd, from: number, to: number): number[] {
  return [...new Set(end.memory.bytes.subarray(from, to))].sort()
}

test('loss is only a delay, until the retries are used up', () => {
  const { cluster, a, b, until } = twoHosts(3, { network: { loss: 0.2 } }, { timeout: 4, retryCount: 6 })
  fill(a, 7)
  for (let id = 0; id < 20; id += 1) a.write(b, id, 0, 4096)
  const rows = until(a, 20)
  assert.deepEqual(
    rows,
    Array.from({ length: 20 }, (_, id) => [id, Success]),
  )
  assert.ok(cluster.network.lost > 0)
  assert.deepEqual(values(b, 0, 4096), [7])
  cluster.inject({ kind: 'lossy', atNs: cluster.nowNs, from: 0, to: 1, loss: 1 })
  cluster.advance(1)
  a.write(b, 21, 0, 8)
  assert.deepEqual(until(a, 1), [[21, RetryExceeded]])
})

test('READs and WRITEs complete, each once and in order, whatever is lost, doubled and overtaken', () => {
  const options = {
    network: { jitterNs: 3000, tail: 0.05, tailNs: 20_000, loss: 0.03, duplicate: 0.05, reorder: 0.05 },
    adapter: { tear: 0.5, earlyAcknowledge: 0.5, completionNs: 3000 },
  }
  // The last four once failed: a READ was asked for again when all of it had come, and complaints used up the retries.
  const seeds = [...Array.from({ length: 60 }, (_, seed) => seed), 13, 869, 1505, 1628]
  for (const seed of seeds) {
    for (const length of [8, 2048]) {
      const { cluster, a, b, until } = twoHosts(seed, options, { timeout: 8, retryCount: 6 })
      for (let id = 0; id < 5; id += 1) {
        if (length === 8 || id % 2 === 1) a.read(b, id, 0, length)
        else a.write(b, id, 0, length)
      }
      const rows = until(a, 5)
      assert.deepEqual(
        rows,
        Array.from({ length: 5 }, (_, id) => [id, Success]),
        `seed ${seed}, ${length} bytes`,
      )
      cluster.close()
    }
  }
})

test('a delay on the way takes as long as it says', () => {
  const { cluster, a, b, until } = twoHosts(1, { faults: [{ kind: 'clog', atNs: 0, from: 0, to: 1, delayNs: 50_000 }] })
  cluster.advance(1)
  a.write(b, 1, 0, 8)
  assert.deepEqual(until(a, 1), [[1, Success]])
  assert.ok(cluster.nowNs > 50_000)
})

test('of packets that come twice, WRITEs are not placed again, atomics not done again, READs are', () => {
  const { cluster, a, b, until } = twoHosts(5, { network: { duplicate: 1 } })
  for (let id = 0; id < 10; id += 1) a.add(b, id, 1n)
  until(a, 10)
  assert.equal(b.word(0), 10n)
  a.setWord(1, 5n)
  a.write(b, 11, 8, 8)
  until(a, 1)
  // What its program stores afterwards is not overwritten by the second packet.
  b.setWord(1, 6n)
  cluster.advance(1e6)
  assert.equal(b.word(1), 6n)
})

test('a cut of one direction: the WRITE took effect, and its sender does not know', () => {
  const { cluster, a, b, until } = twoHosts(1, { faults: [{ kind: 'cut', atNs: 0, from: 1, to: 0 }] })
  cluster.advance(1)
  a.setWord(0, 42n)
  a.write(b, 1, 0, 8)
  a.write(b, 2, 8, 8)
  assert.deepEqual(until(a, 2), [
    [1, RetryExceeded],
    [2, WorkRequestFlushed],
  ])
  assert.equal(b.word(0), 42n)
})

test('a cut that heals before the retries are used up is only a delay', () => {
  const { cluster, a, b, until } = twoHosts(1, { faults: [{ kind: 'cut', atNs: 0, from: 0, to: 1, forNs: 100_000 }] })
  cluster.advance(1)
  a.write(b, 1, 0, 8)
  assert.deepEqual(until(a, 1), [[1, Success]])
  assert.ok(cluster.nowNs > 100_000)
})

test('a crash: nobody answers, and the rest is flushed', () => {
  const { cluster, a, b, until } = twoHosts(1, { faults: [{ kind: 'crash', atNs: 10, host: 1 }] })
  cluster.advance(20)
  a.write(b, 1, 0, 8)
  a.send(2)
  assert.deepEqual(until(a, 2), [
    [1, RetryExceeded],
    [2, WorkRequestFlushed],
  ])
  assert.equal(cluster.hosts[1]?.alive, false)
})

test('a crash whose memory somebody else holds: one-sided accesses go on succeeding', () => {
  const faults = [{ kind: 'crash', atNs: 10, host: 1, keeps: 'memory' }] as const
  const { cluster, a, b, until } = twoHosts(1, { faults })
  cluster.advance(20)
  a.add(b, 1, 1n)
  assert.deepEqual(until(a, 1), [[1, Success]])
})

test('a late write of a dead node: what was posted before the crash lands after it', () => {
  const faults = [{ kind: 'crash', atNs: 50, host: 0, lingerNs: 100_000 }] as const
  const { cluster, a, b } = twoHosts(1, { faults })
  a.setWord(0, 9n)
  a.write(b, 1, 0, 8)
  cluster.runUntil(() => cluster.hosts[0]?.alive === false)
  assert.equal(b.word(0), 0n)
  assert.ok(cluster.runUntil(() => b.word(0) === 9n))
  assert.equal(cluster.hosts[0]?.alive, false)
  assert.deepEqual(a.completions(), [])
})

test('a pause: the processor stops, the adapter serves, and the program goes on with stale beliefs', () => {
  const { cluster, a, b, until } = twoHosts(1, { faults: [{ kind: 'pause', atNs: 0, host: 1, forNs: 500_000 }] })
  const seen: [number, bigint][] = []
  const host = cluster.hosts[1]!
  cluster.advance(1)
  const process = host.spawn(() => seen.push([cluster.nowNs, b.word(0)]))
  process.wake()
  a.setWord(0, 1n)
  a.write(b, 1, 0, 8)
  assert.deepEqual(until(a, 1), [[1, Success]])
  assert.deepEqual(seen, [])
  cluster.advance(1e6)
  assert.equal(seen.length, 1)
  assert.ok(seen[0]![0] >= 500_000 && seen[0]![1] === 1n)
})

test('a torn READ mixes old and new lines, and never half a word', () => {
  let torn = 0
  for (let seed = 1; seed <= 20; seed += 1) {
    const { cluster, a, b, until } = twoHosts(seed, { adapter: { tear: 1, tearNs: 20_000 } })
    const host = cluster.hosts[1]!
    const writer = host.spawn(() => fill(b, 1, 0, 4096))
    writer.wakeAt(cluster.nowNs + 10_000)
    a.read(b, 1, 0, 4096)
    until(a, 1)
    const found = values(a, 0, 4096)
    if (found.length === 2) torn += 1
    for (let line = 0; line < 4096; line += 64) assert.equal(values(a, line, line + 64).length, 1)
  }
  assert.ok(torn > 0)
})

test('a READ of several packets completes when all of them are in memory, in whatever order their lines come', () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const torn = { adapter: { tear: 0.5, tearNs: 20_000 } }
    const { a, b, until } = twoHosts(seed, torn, { timeout: 14, pathMtu: 256 })
    fill(b, 3)
    a.read(b, 1, 0, 4096)
    assert.deepEqual(until(a, 1), [[1, Success]])
    assert.deepEqual(values(a, 0, 4096), [3], `seed ${seed}`)
  }
})

test('a WRITE lands line by line: who polls its memory sees a part of it', () => {
  const { cluster, a, b } = twoHosts(1)
  fill(a, 3)
  a.write(b, 1, 0, 1024)
  const partly = (): boolean => values(b, 0, 1024).length === 2
  assert.ok(cluster.runUntil(partly))
})

test('a completion before visibility: the requester knows, the memory does not show it, and a READ behind it does', () => {
  const adapter = { earlyAcknowledge: 1, visibleNs: 100_000 }
  let early = 0
  for (let seed = 1; seed <= 10; seed += 1) {
    const { a, b, until } = twoHosts(seed, { adapter }, { timeout: 14 })
    a.setWord(0, 5n)
    a.write(b, 1, 0, 8)
    assert.deepEqual(until(a, 1), [[1, Success]])
    if (b.word(0) === 0n) early += 1
    a.setWord(0, 0n)
    a.read(b, 2, 0, 8)
    until(a, 1)
    assert.equal(a.word(0), 5n)
    assert.equal(b.word(0), 5n)
  }
  assert.ok(early > 0)
})

test('a receiver that is not ready is waited for, and given up', () => {
  const patient = twoHosts(1, {}, { ...QUICK, rnrRetry: 7, minRnrTimer: 1 })
  patient.a.send(1)
  patient.cluster.advance(100_000)
  assert.deepEqual(patient.a.completions(), [])
  patient.b.receive(2)
  assert.deepEqual(patient.until(patient.a, 1), [[1, Success]])
  const hasty = twoHosts(1, {}, { ...QUICK, rnrRetry: 1, minRnrTimer: 1 })
  hasty.a.send(1)
  assert.deepEqual(hasty.until(hasty.a, 1), [[1, ReceiverNotReadyRetryExceeded]])
})

test('a key that is revoked while a WRITE is under way: half of it is there, and its sender is told', () => {
  const { cluster, a, b, until } = twoHosts(1)
  fill(a, 8)
  a.write(b, 1, 0, 16_000)
  cluster.runUntil(() => b.memory.bytes[4000] === 8)
  b.memory.reregister({ access: Access.LocalWrite | Access.RemoteRead })
  const before = b.memory.bytes.filter((byte) => byte === 8).length
  assert.deepEqual(until(a, 1), [[1, RemoteAccessError]])
  cluster.advance(1e6)
  const after = b.memory.bytes.filter((byte) => byte === 8).length
  assert.ok(before > 4000 && before < 16_000)
  assert.equal(after, before, 'nothing lands behind the call')
})

test('a slow adapter is late, not dead', () => {
  const duration = (factor: number): number => {
    const { cluster, a, b, until } = twoHosts(
      1,
      { faults: [{ kind: 'slow', atNs: 0, host: 1, factor }] },
      { timeout: 14 },
    )
    cluster.advance(1)
    a.read(b, 1, 0, 8192)
    assert.deepEqual(until(a, 1), [[1, Success]])
    return cluster.nowNs
  }
  assert.ok(duration(100) > 10 * duration(1))
})

test('a link that is down: an event, retries that are used up, and queue pairs that stay failed when it is back', () => {
  const faults = [{ kind: 'link-down', atNs: 0, host: 1, forNs: 1e6 }] as const
  const { cluster, a, b, until } = twoHosts(1, { faults })
  cluster.advance(1)
  assert.equal(b.device.queryPort().state, 'down')
  a.write(b, 1, 0, 8)
  assert.deepEqual(until(a, 1), [[1, RetryExceeded]])
  cluster.advance(2e6)
  assert.deepEqual(
    b.device.drainEvents().map(({ name }) => name),
    ['PortError', 'PortActive'],
  )
  a.write(b, 2, 0, 8)
  assert.deepEqual(until(a, 1), [[2, WorkRequestFlushed]])
})

test('memory that stops answering fails everybody who asks, while its program goes on', () => {
  const { cluster, a, b, until } = twoHosts(1, { faults: [{ kind: 'memory-stall', atNs: 0, host: 1 }] })
  cluster.advance(1)
  b.write(a, 1, 0, 8)
  assert.deepEqual(until(b, 1), [[1, Success]])
  a.write(b, 2, 0, 8)
  assert.deepEqual(until(a, 1), [[2, RetryExceeded]])
})

test('more completions than the queue holds overrun it', () => {
  const { cluster, a, b } = twoHosts(1)
  const queue = a.device.createCompletionQueue({ depth: 4 })
  const pair = a.domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
  pair.connect(pair.endpoint)
  for (let id = 0; id < 6; id += 1) pair.prepareWrite({ local: a.memory.subarray(0, 8), remote: a.at(64) }).post(id)
  assert.ok(cluster.runUntil(() => queue.overrun))
  assert.equal(pair.state, 6)
  assert.ok(a.device.drainEvents().some(({ name }) => name === 'CompletionQueueError'))
  assert.equal(b.queue.overrun, false)
})

test('a lost wake-up: the completion is there, and nobody is told', () => {
  const told = (faults: Parameters<typeof twoHosts>[1]): number => {
    const { cluster, a, b } = twoHosts(1, faults)
    cluster.advance(1)
    a.queue.arm()
    a.write(b, 1, 0, 8)
    cluster.advance(1e6)
    const { length } = a.channel.drain()
    assert.deepEqual(a.completions(), [[1, Success]])
    return length
  }
  assert.equal(told({}), 1)
  assert.equal(told({ faults: [{ kind: 'lose-wakeups', atNs: 0, host: 0 }] }), 0)
  assert.equal(told({ adapter: { lostWakeups: 1 } }), 0)
})

test('bytes that change before the completion are sent as they are when they are taken; inline ones as they were', () => {
  const { a, b, until } = twoHosts(1)
  const sent = (inline: boolean): bigint => {
    a.setWord(0, 1n)
    a.pair.prepareWrite({ local: a.memory.subarray(0, 8), remote: b.at(0), inline }).post(1)
    a.setWord(0, 2n)
    until(a, 1)
    return b.word(0)
  }
  assert.equal(sent(false), 2n)
  assert.equal(sent(true), 1n)
})

test('a WRITE may overtake the READ before it, unless it is fenced', () => {
  const overtaken = (fence: boolean): number => {
    let count = 0
    for (let seed = 1; seed <= 20; seed += 1) {
      const { a, b, until } = twoHosts(seed, { adapter: { tear: 1, tearNs: 20_000 } }, { timeout: 14 })
      fill(a, 1, 0, 128)
      const local = a.memory.subarray(1024, 1024 + 2048)
      a.pair.prepareRead({ local, remote: b.at(0) }).post(1)
      a.pair.prepareWrite({ local: a.memory.subarray(0, 128), remote: b.at(0), fence }).post(2)
      until(a, 2)
      if (values(a, 1024, 1024 + 128).includes(1)) count += 1
    }
    return count
  }
  assert.ok(overtaken(false) > 0)
  assert.equal(overtaken(true), 0)
})

test('an atomic and a store of the program on one word: one of them can be lost, of two atomics none', () => {
  const result = (storeAtNs: number): bigint => {
    const { cluster, a, b, until } = twoHosts(1)
    cluster.hosts[1]!.spawn(() => b.setWord(0, 100n)).wakeAt(storeAtNs)
    a.add(b, 1, 1n)
    until(a, 1)
    cluster.advance(1e6)
    return b.word(0)
  }
  const outcomes = new Set(Array.from({ length: 600 }, (_, index) => result(900 + index)))
  assert.deepEqual([...outcomes].sort(), [1n, 100n, 101n])
})

test('completions of two queue pairs come in any order, those of one in theirs', () => {
  const orders = new Set<string>()
  for (let seed = 1; seed <= 20; seed += 1) {
    const { cluster, a, b } = twoHosts(seed, { adapter: { completionNs: 5000 } })
    const other = a.domain.createQueuePair({ type: 'rc', sendQueue: a.queue, receiveQueue: a.queue })
    other.connect(other.endpoint)
    for (let id = 0; id < 3; id += 1) {
      a.write(b, id, 0, 8)
      other.prepareWrite({ local: a.memory.subarray(0, 8), remote: a.at(64) }).post(10 + id)
    }
    const ids: number[] = []
    cluster.runUntil(() => ids.push(...a.completions().map(([id]) => id)) >= 6)
    assert.deepEqual(
      ids.filter((id) => id < 10),
      [0, 1, 2],
    )
    assert.deepEqual(
      ids.filter((id) => id >= 10),
      [10, 11, 12],
    )
    orders.add(ids.join())
  }
  assert.ok(orders.size > 2)
})

test('a pause in the middle of a WRITE: half lands, and the rest when the sender goes on, though all was revoked', () => {
  const { cluster, a, b } = twoHosts(1, {
    faults: [{ kind: 'pause', atNs: 0, host: 0, forNs: 500_000, inWrite: true }],
  })
  fill(a, 7)
  a.write(b, 1, 0, 128)
  cluster.advance(100_000)
  assert.deepEqual([values(b, 0, 64), values(b, 64, 128)], [[7], [0]])
  assert.throws(() => b.pair.toReset(), { code: 'ERR_AETHER_VERBS', errno: Errno.EBUSY })
  b.pair.toReset()
  cluster.advance(300_000)
  assert.deepEqual(values(b, 64, 128), [0])
  cluster.advance(300_000)
  assert.deepEqual(values(b, 64, 128), [7])
})

test('a machine that is suspended answers nothing until it goes on', () => {
  for (const adapterStops of [false, true]) {
    const pause = { kind: 'pause', atNs: 0, host: 1, forNs: 500_000, adapterStops } as const
    const { cluster, a, b } = twoHosts(1, { faults: [pause] }, { timeout: 8, retryCount: 6 })
    fill(a, 7)
    cluster.advance(1000)
    a.write(b, 1, 0, 64)
    cluster.advance(300_000)
    assert.deepEqual(values(b, 0, 64), adapterStops ? [0] : [7])
    cluster.advance(100e6)
    assert.deepEqual(values(b, 0, 64), [7])
  }
})

test('a process that is killed in the middle of a WRITE finishes nothing', () => {
  const { cluster, a, b } = twoHosts(1, {
    faults: [
      { kind: 'pause', atNs: 0, host: 0, forNs: 500_000, inWrite: true },
      { kind: 'crash', atNs: 200_000, host: 0 },
    ],
  })
  fill(a, 7)
  a.write(b, 1, 0, 128)
  cluster.advance(300_000)
  b.pair.toReset()
  cluster.advance(1e6)
  assert.deepEqual([values(b, 0, 64), values(b, 64, 128)], [[7], [0]])
})
