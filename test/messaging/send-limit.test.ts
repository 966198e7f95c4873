import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  connectEndpoint,
  type Endpoint,
  LinkError,
  listenEndpoints,
  type SendLimit,
} from '../../src/messaging/index.ts'
import { type LimitClock, SendLimiter, sendLimiter } from '../../src/messaging/send-limit.ts'
import { ArgumentError } from '../../src/native/index.ts'
import { Random } from '../../src/runtime/index.ts'
import { memoryLinks } from '../support/memory-links.ts'
import { endOf, sendFilled } from './support.ts'

/** Time that passes when the test says so. */
class HandClock implements LimitClock {
  #nowMs = 0
  readonly #timers = new Map<object, { readonly atMs: number; readonly call: () => void }>()

  nowMs(): number {
    return this.#nowMs
  }

  after(delayMs: number, call: () => void): () => void {
    const key = {}
    this.#timers.set(key, { atMs: this.#nowMs + delayMs, call })
    return () => this.#timers.delete(key)
  }

  get timers(): number {
    return this.#timers.size
  }

  advance(ms: number): void {
    this.#nowMs += ms
    for (const [key, { atMs, call }] of this.#timers)
      if (atMs <= this.#nowMs) {
        this.#timers.delete(key)
        call()
      }
  }

  /** Time goes by, what is due is called, and what that starts has some turns to be done. */
  async pass(ms: number): Promise<void> {
    this.advance(ms)
    await turns(20)
  }
}

function turns(count: number): Promise<void> {
  return new Promise((resolve) => {
    const turn = (left: number): unknown => (left === 0 ? resolve() : setImmediate(turn, left - 1))
    turn(count)
  })
}

test('a bucket: no window of time has more than its burst and its rate, and none of the rate is lost to who always sends', () => {
  const clock = new HandClock()
  const limit = { bytesPerSecond: 1000, burstBytes: 300, messagesPerSecond: 20, burstMessages: 5 }
  const limiter = new SendLimiter(limit, clock)
  const random = new Random(3)
  const sent: { atMs: number; bytes: number }[] = []
  let next = random.below(200)
  for (let ms = 0; ms < 60_000; ms += 1) {
    while (limiter.delayMs(next, 1) === 0) {
      limiter.take(next, 1)
      sent.push({ atMs: ms, bytes: next })
      next = random.below(200)
    }
    clock.advance(1)
  }
  let bytesSent = 0
  for (const { bytes } of sent) bytesSent += bytes
  for (let from = 0; from < sent.length; from += 7) {
    let bytes = 0
    for (let to = from; to < sent.length; to += 1) {
      const { atMs, bytes: more } = sent[to]!
      bytes += more
      const seconds = (atMs - sent[from]!.atMs) / 1000
      assert.ok(bytes <= 300 + 1000 * seconds + 0.01, `${bytes} bytes within ${seconds} s`)
      assert.ok(to - from + 1 <= 5 + 20 * seconds + 0.01, `${to - from + 1} messages within ${seconds} s`)
    }
  }
  assert.ok(bytesSent > 0.95 * 60 * 1000, `${bytesSent} bytes in a minute`)
})

test('the delay that a bucket names is enough, and nothing shorter is', () => {
  const clock = new HandClock()
  const limiter = new SendLimiter({ bytesPerSecond: 700, burstBytes: 100 }, clock)
  for (const bytes of [100, 33, 250, 1, 99]) {
    const delayMs = limiter.delayMs(bytes, 1)
    if (delayMs > 0) {
      clock.advance(delayMs * 0.99)
      assert.ok(limiter.delayMs(bytes, 1) > 0)
      clock.advance(delayMs * 0.0101)
    }
    assert.equal(limiter.delayMs(bytes, 1), 0)
    limiter.take(bytes, 1)
  }
})

test('send waits for its time and trySend says no; no more is under way than the limit allows', async () => {
  const clock = new HandClock()
  const limiter = new SendLimiter({ messagesPerSecond: 10, burstMessages: 2 }, clock)
  const [left, right] = memoryLinks({ limiter })
  let received = 0
  right.onMessage = () => {
    received += 1
  }
  let sent = 0
  const all = Array.from({ length: 12 }, (_, index) =>
    sendFilled(left, 8, index).then(() => {
      sent += 1
    }),
  )
  await turns(20)
  assert.equal(sent, 2)
  assert.equal(left.reserve(8), -1)
  assert.equal(clock.timers, 1)
  for (let due = 3; due <= 12; due += 1) {
    await clock.pass(99)
    assert.equal(sent, due - 1)
    await clock.pass(1)
    assert.equal(sent, due)
    assert.equal(received, due)
    assert.ok(clock.timers <= 1)
  }
  await Promise.all(all)
  await left.close()
  assert.equal(received, 12)
  assert.equal(clock.timers, 0)
})

test('a message longer than the burst leaves when that is full, and what follows waits the longer', async () => {
  const clock = new HandClock()
  const [left, right] = memoryLinks({ limiter: new SendLimiter({ bytesPerSecond: 1000, burstBytes: 100 }, clock) })
  right.onMessage = () => {}
  await sendFilled(left, 50, 0)
  let sent = false
  const long = sendFilled(left, 1000, 1).then(() => {
    sent = true
  })
  await clock.pass(49)
  assert.equal(sent, false)
  await clock.pass(1)
  await long
  assert.equal(left.reserve(1), -1)
  await clock.pass(900)
  assert.equal(left.reserve(1), -1)
  await clock.pass(1)
  assert.ok(left.reserve(1) >= 0)
  await left.close()
})

test('room and time are both needed, whichever comes last', async () => {
  for (const roomFirst of [true, false]) {
    const clock = new HandClock()
    const [left, right] = memoryLinks({
      ringBytes: 1024,
      limiter: new SendLimiter({ messagesPerSecond: 1, burstMessages: 8 }, clock),
    })
    right.pause()
    for (let index = 0; index < 8; index += 1) {
      left.commit(left.reserve(120) >= 0 ? 120 : assert.fail())
      left.flush()
    }
    await turns(20)
    let sent = false
    const sending = sendFilled(left, 120, 9).then(() => {
      sent = true
    })
    const steps = [
      () => clock.pass(1000),
      () => {
        right.onMessage = () => {}
        right.resume()
        return turns(50)
      },
    ]
    if (roomFirst) steps.reverse()
    await steps[0]!()
    assert.equal(sent, false)
    await steps[1]!()
    assert.equal(sent, true)
    await sending
    await left.close()
  }
})

test('who waits for a limited link gives up with its signal, and the next one waits no longer than it needs', async () => {
  const clock = new HandClock()
  const limiter = new SendLimiter({ bytesPerSecond: 100, burstBytes: 10_000 }, clock)
  const [left, right] = memoryLinks({ limiter })
  right.onMessage = () => {}
  await sendFilled(left, 10_000, 0)
  const controller = new AbortController()
  const long = left.writable(9000, controller.signal)
  let room = false
  controller.abort(new Error('enough'))
  await assert.rejects(long, /enough/)
  const short = left.writable(100).then(() => {
    room = true
  })
  await clock.pass(999)
  assert.equal(room, false)
  await clock.pass(1)
  assert.equal(room, true)
  await short
  left.destroy()
})

test('the end of a link takes its timer back, and ends who waits', async () => {
  const clock = new HandClock()
  const [left, right] = memoryLinks({ limiter: new SendLimiter({ messagesPerSecond: 1 }, clock) })
  right.onMessage = () => {}
  await sendFilled(left, 8, 0)
  const over = endOf(left)
  const waiting = sendFilled(left, 8, 1)
  assert.equal(clock.timers, 1)
  left.destroy()
  await assert.rejects(waiting, LinkError)
  await over
  assert.equal(clock.timers, 0)
})

test('limits that cannot be are refused; without rates there is no limiter', async () => {
  assert.equal(sendLimiter({}), undefined)
  const wrong: SendLimit[] = [
    { bytesPerSecond: 0 },
    { bytesPerSecond: Number.NaN },
    { messagesPerSecond: -1 },
    { messagesPerSecond: Number.POSITIVE_INFINITY },
    { burstBytes: 10 },
    { messagesPerSecond: 1, burstMessages: 0.5 },
    { messagesPerSecond: 1, burstBytes: 5 },
  ]
  for (const sendLimit of wrong)
    await assert.rejects(connectEndpoint({ device: 'shm0', address: '127.0.0.1', port: 1, sendLimit }), ArgumentError)
})

test('over shm: the limit of one connection holds no other up, and long messages count with all their bytes', async () => {
  const where = { device: 'shm0', address: '127.0.0.1' }
  const received = new Map<Endpoint, number>()
  const listener = await listenEndpoints({
    ...where,
    handlers: {
      receive: (_data, _immediate, endpoint) => void received.set(endpoint, (received.get(endpoint) ?? 0) + 1),
    },
    accept: (endpoint) => received.set(endpoint, 0),
  })
  // An hour and more for a byte beyond the burst: what leaves within this test is the burst.
  const sendLimit = { bytesPerSecond: 0.0001, burstBytes: 100_000 }
  const limited = await connectEndpoint({
    ...where,
    port: listener.port,
    ringBytes: 1024,
    closeTimeoutMs: 1000,
    sendLimit,
  })
  const free = await connectEndpoint({ ...where, port: listener.port })
  await limited.send(new Uint8Array(99_000))
  assert.ok(limited.trySend(new Uint8Array(0)))
  assert.ok(limited.trySend(new Uint8Array(900)))
  assert.equal(limited.trySend(new Uint8Array(900)), false)
  const late = limited.send(new Uint8Array(900))
  const lateToo = limited.sendWithImmediate(new Uint8Array(900), 1)
  for (let index = 0; index < 1000; index += 1) await free.send(new Uint8Array(1000))
  await free.close()
  const counts = (): number[] => [...received.values()].toSorted((a, b) => a - b)
  for (let turn = 0; turn < 100_000 && counts()[0] !== 3; turn += 1) await turns(1)
  assert.deepEqual(counts(), [3, 1000])
  limited.destroy()
  await assert.rejects(late, LinkError)
  await assert.rejects(lateToo, LinkError)
  listener.close()
})

/** Two ends, of which one may send so much: an hour and more for a byte beyond the burst. */
async function limitedPair(burstBytes: number, bytesPerSecond = 0.0001) {
  const where = { device: 'shm0', address: '127.0.0.1' }
  let arrived!: (endpoint: Endpoint) => void
  const accepted = new Promise<Endpoint>((resolve) => {
    arrived = resolve
  })
  const listener = await listenEndpoints({ ...where, accept: arrived })
  const sendLimit = { bytesPerSecond, burstBytes }
  const client = await connectEndpoint({ ...where, port: listener.port, closeTimeoutMs: 1000, sendLimit })
  const server = await accepted
  const close = (): void => {
    client.destroy()
    listener.close()
  }
  return { client, server, close, local: client.allocate(1000), remote: server.allocate(1000) }
}

/** Whether it is settled after some turns. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  const end = (): void => {
    settled = true
  }
  promise.then(end, end)
  await turns(50)
  return settled
}

test('a limit of bytes bounds READs, WRITEs and atomics of an endpoint, and not those of messages alone', async () => {
  const operations: Record<string, (ends: Awaited<ReturnType<typeof limitedPair>>) => Promise<unknown>> = {
    write: ({ client, local, remote }) => client.write({ buffer: local }, remote),
    read: ({ client, local, remote }) => client.read({ buffer: local }, remote),
    writeWithImmediate: ({ client, local, remote }) => client.writeWithImmediate({ buffer: local }, remote, 1),
    fetchAdd: ({ client, remote }) => client.fetchAdd(remote, 1n),
    compareSwap: ({ client, remote }) => client.compareSwap(remote, { compare: 0n, swap: 1n }),
    postWrite: ({ client, local, remote }) =>
      new Promise((resolve) => {
        client.handlers = { writeDone: (_id, error) => resolve(error) }
        client.postWrite(1, { buffer: local }, remote)
      }),
    postRead: ({ client, local, remote }) =>
      new Promise((resolve) => {
        client.handlers = { readDone: (_id, error) => resolve(error) }
        client.postRead(1, { buffer: local }, remote)
      }),
    physical: ({ client, local, remote }) => client.physicalPeer(remote.key).write({ buffer: local }, remote.address),
  }
  for (const [name, operate] of Object.entries(operations)) {
    const ends = await limitedPair(1000)
    // The first has all of the burst, however long it is.
    await ends.client.write({ buffer: ends.local }, ends.remote)
    const late = operate(ends)
    assert.equal(await isSettled(late), false, name)
    ends.client.destroy()
    await late.then(
      (error) => assert.ok(error instanceof LinkError, name),
      (error) => assert.ok(error instanceof LinkError, name),
    )
    ends.close()
  }
  const { client, close, local, remote } = await limitedPair(1000, 1e6)
  for (let round = 0; round < 20; round += 1) {
    await client.write({ buffer: local }, remote)
    await client.read({ buffer: local }, remote)
    await client.fetchAdd(remote, 1n)
  }
  close()
})

test('what waits for a limit of bytes leaves in the order of the calls, messages and operations alike', async () => {
  const { client, server, close, local, remote } = await limitedPair(1000, 20_000)
  const seen: number[] = []
  server.handlers = { receive: (data) => seen.push(data[0]!, remote.bytes[0]!) }
  const marks = [1, 2, 3].map((mark) => {
    const buffer = client.allocate(900)
    buffer.bytes.fill(mark)
    return buffer
  })
  local.bytes.fill(9)
  await client.write({ buffer: local }, remote)
  const all: Promise<void>[] = []
  for (const buffer of marks) {
    all.push(client.write({ buffer }, remote))
    all.push(client.send(Uint8Array.of(buffer.bytes[0]!)))
    assert.equal(client.trySend(Uint8Array.of(0)), false)
  }
  await Promise.all(all)
  while (seen.length < 6) await turns(1)
  // A message finds the bytes of the WRITE that was called before it; those of the next one may have come, too, where
  // this end was slow.
  assert.deepEqual([seen[0], seen[2], seen[4]], [1, 2, 3])
  for (const at of [0, 2, 4]) assert.ok(seen[at + 1]! >= seen[at]!, String(seen))
  close()
})

test('calls that block wait for their bytes, behind what waits already, and say what they did not begin', async () => {
  const { client, close, local, remote } = await limitedPair(1000, 10_000)
  local.bytes.fill(1)
  await client.write({ buffer: local }, remote)
  const early = client.write({ buffer: local, length: 500 }, remote)
  local.bytes.fill(2, 500)
  client.writeSync({ buffer: local, offset: 500, length: 500 }, remote)
  assert.equal(await isSettled(early), true)
  assert.equal(remote.bytes[0], 2)
  client.readSync({ buffer: local, length: 10 }, remote)
  assert.equal(local.bytes[0], 2)
  close()
  const slow = await limitedPair(1000)
  slow.client.writeSync({ buffer: slow.local }, slow.remote)
  const buffer = slow.client.allocate(1000)
  buffer.bytes.fill(7)
  assert.throws(
    () => slow.client.writeSync({ buffer }, slow.remote, { timeoutMs: 20 }),
    (error: Error & { code?: string }) =>
      error.code === 'ERR_AETHER_TIMEOUT' &&
      /write did not start within 20 ms, because sendLimit holds it back/.test(error.message),
  )
  slow.close()
  assert.equal(slow.remote.bytes[0], 0)
})
