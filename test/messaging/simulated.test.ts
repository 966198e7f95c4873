import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LinkError, type VerbsLink } from '../../src/messaging/index.ts'
import { openSimulatedCluster, type SimulationOptions } from '../../src/providers/index.ts'
import { Random } from '../../src/runtime/index.ts'
import { connectSimulated, openLinkHost, shareReceives } from './simulated-links.ts'

/** Two links between two hosts of their own. */
function simulatedLinks(device: string): [VerbsLink, VerbsLink] {
  const [one, two] = [openLinkHost(device), openLinkHost(device)]
  return connectSimulated(one, two, { ringBytes: 2048, receives: 6, sends: 16, keepAliveMs: 0 })
}

/** Sends random messages and takes the other end's, a step at a time. */
class Player {
  readonly link: VerbsLink
  readonly #random: Random
  sent = 0
  received = 0

  constructor(link: VerbsLink, seed: number) {
    this.link = link
    this.#random = new Random(seed)
    link.onMessage = (bytes, offset, length, immediate) => {
      assert.equal(immediate, this.received)
      for (let at = offset; at < offset + length; at += 1) assert.equal(bytes[at], immediate & 255)
      this.received += 1
      if (this.#random.below(40) === 0) link.pause()
    }
  }

  step(mostSent: number): void {
    const { link } = this
    if (this.#random.below(8) === 0) link.resume()
    const length = this.#random.below(link.messageBytesMax + 1)
    const at = this.sent < mostSent ? link.reserve(length) : -1
    if (at >= 0) {
      link.outgoing.fill(this.sent & 255, at, at + length)
      link.commit(length, this.sent)
      this.sent += 1
    }
    if (this.#random.below(3) === 0) link.flush()
    link.poll()
  }
}

const rough: SimulationOptions = {
  advanceOnPoll: true,
  network: { jitterNs: 3000, tail: 0.05, tailNs: 20_000, loss: 0.01, duplicate: 0.05, reorder: 0.05 },
  adapter: { tear: 0.5, earlyAcknowledge: 0.5, completionNs: 3000 },
}

for (const [seed, options] of [
  [1, { advanceOnPoll: true }],
  [2, rough],
  [3, rough],
] as const) {
  test(`over a simulated network, seed ${seed}: packets lost, doubled, overtaken and torn; messages are not`, () => {
    using cluster = openSimulatedCluster(seed, options)
    const players = simulatedLinks(cluster.device).map((link, side) => new Player(link, 10 * seed + side))
    const [one, two] = players as [Player, Player]
    const count = 400
    for (let steps = 0; one.received < count || two.received < count; steps += 1) {
      assert.ok(steps < 2_000_000, `${one.received} and ${two.received} messages have come`)
      one.step(count)
      two.step(count)
      assert.ok(one.link.open && two.link.open)
    }
    const ends: (Error | undefined)[] = []
    for (const { link } of players) {
      link.resume()
      link.onEnd = (error) => ends.push(error)
    }
    void one.link.close()
    for (let steps = 0; ends.length < 2; steps += 1) {
      assert.ok(steps < 1_000_000)
      for (const { link } of players) link.poll()
    }
    assert.deepEqual(ends, [undefined, undefined])
  })
}

test('links that share receives, over a rough network: none waits for ever, and no message finds the queue empty', async () => {
  using cluster = openSimulatedCluster(4, rough)
  const server = openLinkHost(cluster.device)
  const pool = shareReceives(server, 16, { connectionsMax: 4, receives: 4 * 8 + 10 })
  const players: Player[] = []
  for (let client = 0; client < 4; client += 1) {
    const options = { ringBytes: 2048, receives: 6, sends: 16, keepAliveMs: 0 }
    const links = connectSimulated(openLinkHost(cluster.device), server, options, await pool.join())
    players.push(...links.map((link, side) => new Player(link, 100 + 10 * client + side)))
  }
  assert.equal(await pool.join(), undefined)
  const count = 200
  let mostLent = 0
  for (let steps = 0; players.some(({ received }) => received < count); steps += 1) {
    assert.ok(steps < 500_000, players.map(({ received }) => received).join(' '))
    pool.advance()
    for (const player of players) player.step(count)
    assert.ok(players.every(({ link }) => link.open))
    mostLent = Math.max(mostLent, pool.shares.lent)
    if (steps % 5000 === 0) pool.recallIdle()
  }
  assert.ok(mostLent > 0 && mostLent <= 10)
  for (let steps = 0; pool.shares.lent > 0; steps += 1) {
    assert.ok(steps < 10_000)
    if (steps % 100 === 0) pool.recallIdle()
    pool.advance()
    for (const { link } of players) link.poll()
  }
  const [first] = players as [Player]
  first.link.destroy()
  // The other end learns of it by what it sends; then its share goes back, in real time.
  const [, other] = players as [Player, Player]
  other.link.destroy()
  while (pool.shares.connections > 3) await new Promise((resolve) => setTimeout(resolve, 1))
})

test('an end that closes takes what the other still sends, and both end in order', () => {
  using cluster = openSimulatedCluster(5, { advanceOnPoll: true })
  const [one, two] = simulatedLinks(cluster.device)
  const ends: unknown[] = []
  let received = 0
  one.onMessage = () => {
    received += 1
  }
  for (const link of [one, two]) link.onEnd = (error) => ends.push(error)
  void one.close()
  one.poll()
  // It has said that it closes. Long enough for credit to go back.
  for (let message = 0; message < 3; message += 1) {
    assert.ok(two.reserve(300) >= 0)
    two.commit(300)
    two.flush()
  }
  for (let steps = 0; ends.length < 2; steps += 1) {
    assert.ok(steps < 100_000, `${received} messages have come, and ${ends.length} ends`)
    for (const link of [one, two]) link.poll()
  }
  assert.deepEqual(ends, [undefined, undefined])
  assert.equal(received, 3)
})

test('over a simulated network that is cut, the sender learns of it by the retries of its device', () => {
  using cluster = openSimulatedCluster(7, { advanceOnPoll: true, network: { loss: 0 } })
  const [one, two] = simulatedLinks(cluster.device)
  two.onMessage = () => {}
  const ends: unknown[] = []
  one.onEnd = (error) => ends.push(error)
  cluster.inject({ kind: 'cut', atNs: cluster.nowNs, from: 0, to: 1 })
  assert.ok(one.reserve(8) >= 0)
  one.commit(8)
  one.flush()
  for (let steps = 0; ends.length === 0; steps += 1) {
    assert.ok(steps < 1_000_000)
    one.poll()
  }
  const [error] = ends
  assert.ok(error instanceof LinkError)
  assert.equal(error.reason, 'lost')
  assert.equal(error.outcome, 'unknown')
  assert.match(error.message, /RetryExceeded/)
})
