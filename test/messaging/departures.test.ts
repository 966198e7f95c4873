import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Departing, type DeparturePlace, Departures } from '../../src/messaging/departures.ts'
import { connectEndpoint, type Endpoint, listenEndpoints } from '../../src/messaging/index.ts'
import { ArgumentError } from '../../src/native/index.ts'
import { Random } from '../../src/runtime/index.ts'
import { memoryLinks } from '../support/memory-links.ts'
import { endOf, sendFilled } from './support.ts'

const KB = 1024

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Messages of one connection that want to leave; all departures of a test are written into one log. */
class Row implements Departing {
  readonly name: string
  readonly messages: number[] = []
  readonly log: [string, number][]
  readonly place: DeparturePlace
  sent = 0
  isWaiting = false

  constructor(departures: Departures, log: [string, number][], name: string, weight: number, priority: number) {
    this.name = name
    this.log = log
    this.place = departures.join(this, weight, priority)
  }

  put(...messages: number[]): void {
    this.messages.push(...messages)
    if (this.isWaiting) return
    this.isWaiting = true
    this.place.wait()
  }

  depart(bytesMax: number): number {
    let bytes = 0
    while (this.messages.length > 0 && bytes + this.messages[0]! <= bytesMax) bytes += this.messages.shift()!
    this.sent += bytes
    if (bytes > 0) this.log.push([this.name, bytes])
    this.isWaiting = this.messages.length > 0
    return bytes
  }
}

for (const [lengths, seed] of [
  ['short messages', 1],
  ['messages up to many times a quantum', 2],
] as const) {
  test(`${lengths}: who always has something to send gets bytes by weight`, async () => {
    const log: [string, number][] = []
    const departures = new Departures()
    const weights = [1, 3, 8]
    const longest = seed === 1 ? 2 * KB : 120 * KB
    const rows = weights.map((weight) => new Row(departures, log, `${weight}`, weight, 0))
    const random = new Random(seed)
    const fill = (): void => {
      for (const row of rows) while (row.messages.length < 800) row.put(1 + random.below(longest))
    }
    fill()
    const before: number[][] = []
    for (let turn = 0; turn < 600; turn += 1) {
      await nextTurn()
      fill()
      before.push(rows.map((row) => row.sent))
    }
    const from = before[100]!
    const shares = rows.map((row, index) => (row.sent - from[index]!) / row.place.weight)
    // Theorem of the paper: after whole rounds what two links were served, by weight, differs by a quantum and a
    // longest message at most; here rounds end in turns.
    for (const share of shares)
      assert.ok(Math.abs(share - shares[0]!) <= 2 * (8 * KB + longest), `bytes by weight: ${shares.join(' ')}`)
    assert.ok(shares[0]! > 20 * (8 * KB + longest), 'the bound would not tell')
  })
}

test('a higher priority leaves first, and one that comes later goes before what is left', async () => {
  const log: [string, number][] = []
  const departures = new Departures(64 * KB)
  const low = new Row(departures, log, 'low', 16, 0)
  const middle = new Row(departures, log, 'middle', 1, 1)
  const high = new Row(departures, log, 'high', 1, 7)
  low.put(...Array.from({ length: 100 }, () => 8 * KB))
  middle.put(10 * KB)
  high.put(20 * KB, 20 * KB)
  while (low.sent === 0) await nextTurn()
  assert.deepEqual(
    log.map(([name]) => name).filter((name, index, all) => name !== all[index - 1]),
    ['high', 'middle', 'low'],
  )
  assert.ok(low.messages.length > 50)
  high.put(KB)
  const served = log.length
  while (high.isWaiting) await nextTurn()
  assert.deepEqual(log[served], ['high', KB])
  while (low.isWaiting) await nextTurn()
  assert.equal(low.sent, 800 * KB)
})

test('one turn of the event loop sends no more than its part', async () => {
  const log: [string, number][] = []
  const departures = new Departures(64 * KB)
  const rows = [1, 2].map((weight) => new Row(departures, log, `${weight}`, weight, 0))
  for (const row of rows) row.put(...Array.from({ length: 200 }, () => 4 * KB))
  let sent = 0
  while (rows.some((row) => row.isWaiting)) {
    await nextTurn()
    const now = rows.reduce((sum, row) => sum + row.sent, 0)
    assert.ok(now - sent <= 2 * (64 + 2 * 8) * KB, `${now - sent} bytes between two turns`)
    sent = now
  }
  assert.equal(sent, 2 * 200 * 4 * KB)
})

test('a message that is longer than any quantum leaves, alone or beside others', async () => {
  for (const others of [0, 3]) {
    const departures = new Departures()
    const long = new Row(departures, [], 'long', 1, 1)
    const rest = Array.from({ length: others }, () => new Row(departures, [], 'rest', 5, 1))
    for (const row of rest) row.put(...Array.from({ length: 500 }, () => 100))
    long.put(8 << 20, 5)
    while (long.isWaiting) await nextTurn()
    assert.equal(long.sent, (8 << 20) + 5)
    while (rest.some((row) => row.isWaiting)) await nextTurn()
  }
})

for (const seed of [1, 2, 3]) {
  test(`links of several weights and priorities lose, double and reorder nothing, seed ${seed}`, async () => {
    const departures = new Departures(2 * KB)
    const random = new Random(seed)
    const wrong: string[] = []
    const runs = [0, 1, 2, 3, 4].map(async (index) => {
      const order = { departures, weight: 1 + random.below(4), priority: random.below(3) }
      const [left, right] = memoryLinks({
        ringBytes: index === 4 ? 128 * KB : 1024,
        receives: 4,
        seed: seed + index,
        order,
      })
      let received = 0
      right.onMessage = (bytes, offset, length, immediate) => {
        if (immediate !== received) wrong.push(`message ${immediate} where ${received} was due`)
        for (let at = offset; at < offset + length; at += 1)
          if (bytes[at] !== (immediate & 255)) wrong.push(`a byte of message ${immediate} is ${bytes[at]}`)
        received += 1
      }
      const count = 300
      for (let number = 0; number < count; number += 1) {
        await sendFilled(left, random.below(left.messageBytesMax + 1), number)
        if (random.below(20) === 0) left.flush()
        if (random.below(20) === 0) await nextTurn()
      }
      const over = endOf(right)
      await left.close()
      assert.equal(await over, undefined)
      assert.equal(received, count)
    })
    await Promise.all(runs)
    assert.deepEqual(wrong, [])
    assert.equal(departures.isOrdered, false)
  })
}

test('what links commit in one turn leaves by priority; a flush leaves at once', async () => {
  const log: number[] = []
  class Recording extends Departures {
    override join(link: Departing, weight: number, priority: number): DeparturePlace {
      const recorded: Departing = {
        depart: (bytesMax) => {
          const bytes = link.depart(bytesMax)
          if (bytes > 0) log.push(priority)
          return bytes
        },
        get isWaiting() {
          return link.isWaiting
        },
      }
      return super.join(recorded, weight, priority)
    }
  }
  const departures = new Recording()
  const pairs = [0, 2, 1].map((priority) => memoryLinks({ order: { departures, weight: 1, priority } }))
  let received = 0
  for (const [left, right] of pairs) {
    right.onMessage = () => {
      received += 1
    }
    void sendFilled(left, 8, 0)
  }
  while (received < 3) await nextTurn()
  assert.deepEqual(log, [2, 1, 0])
  for (const [left] of pairs) {
    void sendFilled(left, 8, 0)
    left.flush()
  }
  while (received < 6) await nextTurn()
  assert.deepEqual(log, [2, 1, 0])
  for (const [left] of pairs) left.destroy()
})

test('over shm: connections with weights and priorities beside one without, all messages of each in order', async () => {
  const where = { device: 'shm0', address: '127.0.0.1' }
  const received = new Map<Endpoint, number>()
  const listener = await listenEndpoints({
    ...where,
    handlers: {
      receive: (data, immediate, endpoint) => {
        assert.equal(immediate, received.get(endpoint))
        received.set(endpoint, (received.get(endpoint) ?? 0) + 1)
        if (data.length < 100) endpoint.trySend(data)
      },
    },
    accept: (endpoint) => received.set(endpoint, 0),
  })
  const options = [{}, { weight: 3 }, { priority: 2 }, { weight: 2, priority: 2 }]
  const clients = await Promise.all(
    options.map((each) => connectEndpoint({ ...where, ...each, ringBytes: 16 * KB, port: listener.port })),
  )
  for (const client of clients) client.handlers = { receive: () => {} }
  const random = new Random(9)
  await Promise.all(
    clients.map(async (client) => {
      for (let index = 0; index < 200; index += 1)
        await client.sendWithImmediate(new Uint8Array(random.below(8) === 0 ? 300 * KB : random.below(6 * KB)), index)
      await client.close()
    }),
  )
  for (const client of clients) assert.equal(await client.ended, undefined)
  assert.deepEqual([...received.values()], [200, 200, 200, 200])
  listener.close()
})

test('weights and priorities that cannot be are refused', async () => {
  for (const wrong of [{ weight: 0 }, { weight: 1.5 }, { weight: 17 }, { priority: -1 }, { priority: 8 }])
    await assert.rejects(connectEndpoint({ device: 'shm0', address: '127.0.0.1', port: 1, ...wrong }), ArgumentError)
})
