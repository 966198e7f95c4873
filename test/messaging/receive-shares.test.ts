import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ProtocolViolation } from '../../src/messaging/errors.ts'
import {
  CONTROL_RECEIVES,
  checkSharedReceives,
  type ReceiveShare,
  ReceiveShares,
  SHARE_MIN,
} from '../../src/messaging/receive-shares.ts'
import { ArgumentError } from '../../src/native/index.ts'

/**
 * What is under way from a client, each of which takes a receive: a message, its wish for receives, or its answer to a
 * recall.
 */
type Sent = { readonly kind: 'message' | 'want' } | { readonly kind: 'return'; readonly count: number }
/**
 * What is under way to it: receives that it is told of, perhaps as answer to its wish, or the question for what it has
 * not used.
 */
type Told = { readonly kind: 'grant'; readonly count: number; readonly wakes: boolean } | { readonly kind: 'recall' }

/** A client, its wires to the server and back, which keep their order, and its share there. */
class Client {
  readonly share: ReceiveShare
  readonly sent: Sent[] = []
  readonly told: Told[] = []
  credit = SHARE_MIN
  wanting = false

  constructor(share: ReceiveShare) {
    this.share = share
  }
}

/**
 * A pool with its clients. `posted` counts what lies in the shared queue: whoever sends takes one at once, and the
 * server posts it again when it sees the message.
 */
class Model {
  readonly shares: ReceiveShares
  readonly receives: number
  clients: Client[] = []
  posted: number

  constructor(receives: number, connectionsMax: number) {
    this.shares = new ReceiveShares({ receives, connectionsMax })
    this.receives = receives
    this.posted = receives
  }

  join(): void {
    const share = this.shares.join()
    assert.equal(share === undefined, this.clients.length === this.shares.connectionsMax)
    if (share !== undefined) this.clients.push(new Client(share))
  }

  /** A client dies; what it sent is drained. */
  leave(client: Client): void {
    this.posted += client.sent.length
    client.share.leave()
    this.clients = this.clients.filter((each) => each !== client)
  }

  send(client: Client): void {
    if (client.credit > 0) {
      client.credit -= 1
      this.#take(client, { kind: 'message' })
    } else if (!client.wanting) {
      client.wanting = true
      this.#take(client, { kind: 'want' })
    }
  }

  /** The server sees what came from a client next, and tells it of receives when it is time. */
  see({ sent, share, told }: Client): void {
    const next = sent.shift()
    if (next === undefined) return
    this.posted += 1
    if (next.kind === 'return') share.returned(next.count)
    else if (next.kind === 'message') share.use()
    else share.lack()
    const wakes = next.kind === 'want'
    if (!wakes && !share.isDue) return
    told.push({ kind: 'grant', count: share.grant, wakes })
    share.granted()
  }

  /** A client sees what the server has told it. */
  hear(client: Client): void {
    const next = client.told.shift()
    if (next === undefined) return
    if (next.kind === 'grant') {
      client.credit += next.count
      if (next.wakes) client.wanting = false
      return
    }
    const count = Math.max(0, client.credit - SHARE_MIN)
    client.credit -= count
    this.#take(client, { kind: 'return', count })
  }

  recall(): void {
    for (const { share, told } of this.clients) if (share.recall()) told.push({ kind: 'recall' })
  }

  check(): void {
    const { shares } = this
    const lent = this.clients.reduce((sum, { share }) => sum + share.lent, 0)
    assert.equal(shares.lent, lent)
    assert.ok(lent <= shares.surplus, `${lent} of ${shares.surplus} are lent`)
    for (const { share, credit, told } of this.clients) {
      assert.ok(share.lent >= 0)
      assert.ok(share.lent <= Math.ceil(shares.surplus / 2), 'one has more than half')
      const known = told.reduce((sum, each) => sum + (each.kind === 'grant' ? each.count : 0), credit)
      assert.ok(known <= shares.shareMax, 'it was told of more than hello says')
    }
  }

  /** Everything arrives, and nobody sends. */
  settle(): void {
    for (let moved = true; moved; ) {
      moved = false
      for (const client of this.clients) {
        moved ||= client.sent.length + client.told.length > 0
        this.see(client)
        this.hear(client)
      }
    }
  }

  #take({ sent }: Client, what: Sent): void {
    assert.ok(this.posted > 0, 'a sender met an empty queue')
    this.posted -= 1
    sent.push(what)
  }
}

const steps = fc.array(
  fc.record({
    what: fc.constantFrom('join', 'leave', 'send', 'send', 'burst', 'see', 'see', 'hear', 'hear', 'recall' as const),
    who: fc.nat(1000),
  }),
  { maxLength: 400, size: 'max' },
)

test('whatever clients do, no message meets an empty pool, nobody has more than hello says, and what is not needed comes back', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.nat(60), steps, (connectionsMax, surplus, history) => {
      const model = new Model(connectionsMax * (SHARE_MIN + CONTROL_RECEIVES) + surplus, connectionsMax)
      for (const { what, who } of history) {
        const client = model.clients[who % Math.max(1, model.clients.length)]
        if (what === 'join') model.join()
        else if (what === 'recall') model.recall()
        else if (client === undefined) continue
        else if (what === 'burst') for (let count = who % 50; count > 0; count -= 1) model.send(client)
        else model[what](client)
        model.check()
      }
      model.settle()
      // Twice: what was needed before the first is not needed any more before the second.
      for (let round = 0; round < 2; round += 1) {
        model.recall()
        model.settle()
        model.check()
      }
      assert.equal(model.shares.lent, 0)
      assert.equal(model.posted, model.receives)
      for (const { credit, share } of model.clients) assert.equal(credit, share.unused)
    }),
    { numRuns: 1000 },
  )
})

/** It sends all it can, and is told of receives, until it gets no more. */
function beGreedy(model: Model, client: Client): void {
  for (let round = 0; round < 100; round += 1) {
    while (!client.wanting) model.send(client)
    for (let left = client.sent.length; left > 0; left -= 1) model.see(client)
    while (client.told.length > 0) model.hear(client)
  }
}

test('a greedy client gets half of the surplus; when others come, it gives until all have the same', () => {
  const model = new Model(10 * (SHARE_MIN + CONTROL_RECEIVES) + 120, 10)
  model.join()
  const [first] = model.clients as [Client]
  beGreedy(model, first)
  assert.equal(first.share.lent, 60)
  for (let count = 1; count < 5; count += 1) model.join()
  for (let round = 0; round < 20; round += 1) for (const client of model.clients) beGreedy(model, client)
  // Five and what nobody has: a sixth each.
  for (const { share } of model.clients) assert.ok(Math.abs(share.lent - 20) <= 2, `${share.lent}`)
  model.join()
  assert.equal(model.clients[5]?.credit, SHARE_MIN)
})

test('a client that never runs out is lent nothing, and one that dies leaves nothing behind', () => {
  const model = new Model(200, 2)
  model.join()
  model.join()
  const [calm, greedy] = model.clients as [Client, Client]
  for (let round = 0; round < 100; round += 1) {
    model.send(calm)
    model.see(calm)
    model.hear(calm)
  }
  assert.equal(calm.share.lent, 0)
  beGreedy(model, greedy)
  assert.ok(greedy.share.lent > 0)
  for (let count = 0; count < 3; count += 1) model.send(greedy)
  model.leave(greedy)
  assert.equal(model.shares.lent, 0)
  assert.equal(model.posted, 200)
})

test('a client that breaks the rules is told apart', () => {
  const shares = new ReceiveShares({ receives: 100, connectionsMax: 2 })
  const share = shares.join()!
  assert.throws(() => share.returned(1), ProtocolViolation)
  for (let count = 0; count < SHARE_MIN; count += 1) share.use()
  assert.throws(() => share.use(), ProtocolViolation)
  share.granted()
  assert.ok(share.lent > 0)
  assert.equal(share.recall(), false)
  assert.equal(share.recall(), true)
  assert.throws(() => share.returned(share.lent + 1), ProtocolViolation)
})

test('a pool that cannot be is refused', () => {
  assert.deepEqual(checkSharedReceives({}), { receives: 16_000, connectionsMax: 1000 })
  assert.deepEqual(checkSharedReceives({ connectionsMax: 8192 }), { receives: 65_536, connectionsMax: 8192 })
  assert.throws(() => checkSharedReceives({ receives: 7999 }), ArgumentError)
  assert.throws(() => checkSharedReceives({ connectionsMax: 0 }), ArgumentError)
  assert.throws(() => checkSharedReceives({ connectionsMax: 9000 }), ArgumentError)
  assert.throws(() => checkSharedReceives({ connectionsMax: 10, receives: 70_000 }), ArgumentError)
})
