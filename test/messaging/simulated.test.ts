import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeHello } from '../../src/messaging/hello.ts'
import { LinkError, VerbsLink } from '../../src/messaging/index.ts'
import { LinkEnd } from '../../src/messaging/link-end.ts'
import { linkSettings } from '../../src/messaging/link-options.ts'
import { openSimulatedCluster, type SimulationOptions } from '../../src/providers/index.ts'
import { Random } from '../../src/runtime/index.ts'
import { openDevice } from '../../src/verbs/index.ts'

/** Two links over a simulated network, without a connection manager: time passes where they poll. */
function simulatedLinks(device: string): [VerbsLink, VerbsLink] {
  const settings = linkSettings({ ringBytes: 2048, receives: 6, sends: 16, keepAliveMs: 0 })
  const ends = [0, 1].map(() => {
    const opened = openDevice(device)
    const domain = opened.createProtectionDomain()
    const end = new LinkEnd({ domain, channel: opened.createCompletionChannel() }, settings)
    return { end, pair: domain.createQueuePair({ type: 'rc', ...end.pairOptions }) }
  })
  const [one, two] = ends as [(typeof ends)[0], (typeof ends)[0]]
  const join = (mine: typeof one, other: typeof one): VerbsLink => {
    mine.pair.toInit()
    mine.end.prepare(mine.pair)
    mine.pair.toReadyToReceive({ remote: other.pair.endpoint })
    mine.pair.toReadyToSend({ remote: other.pair.endpoint })
    const carrier = { wakeSoon: () => {}, release: () => mine.pair.close() }
    return new VerbsLink(mine.end, mine.pair, decodeHello(other.end.hello), carrier, new Uint8Array(0))
  }
  return [join(one, two), join(two, one)]
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
