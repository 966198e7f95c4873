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
