import assert from 'node:assert/strict'
import test from 'node:test'
import { elementKind } from '../../../src/collectives/element-kind.ts'
import { type Plan, planOf } from '../../../src/collectives/plan.ts'
import type { CollectiveError } from '../../../src/messaging/index.ts'
import { openPeers, type PeerError, type Peers } from '../../../src/messaging/index.ts'
import { FRAME_BYTES, type Frame, FrameKind, FrameView } from '../../../src/messaging/peers/frame.ts'
import { GroupEngine } from '../../../src/messaging/peers/group-engine.ts'
import { IncomingPieces } from '../../../src/messaging/peers/streams.ts'
import { until } from '../../cluster/support.ts'
import { type MemoryLink, memoryLinks } from '../../support/memory-links.ts'

/** What a peer may send that keeps to no rules, and what becomes of it. */

const kind = elementKind('uint8')
const limits = { eagerBytes: 64, requestsMax: 4 }
const engineOf = (): GroupEngine => new GroupEngine(1, [0, 1], 0, limits, () => undefined)
/** Rank 0 is sent 100 bytes by rank 1. */
const plan: Plan = planOf('broadcast', kind, {
  rounds: [
    { exchanges: [{ kind: 'receive', peer: 1, range: { buffer: 'output', offset: 0, count: 100 } }], steps: [] },
  ],
  scratchCount: 0,
})

function frameOf(overrides: Partial<Frame>): Frame {
  return { kind: FrameKind.Data, sequence: 1, signature: plan.signature, group: 1, amount: 100, done: 0, ...overrides }
}

function begin(engine: GroupEngine): Promise<Uint8Array> {
  const output = new Uint8Array(100)
  return new Promise((resolve, reject) => {
    engine.begin(plan, { input: output, output, kernel: undefined }, 0, () => resolve(output), reject)
  })
}

const came = (engine: GroupEngine, frame: Partial<Frame>, length: number): void =>
  engine.cameFrame(1, frameOf(frame), new Uint8Array(length).fill(7), 0, length)

function failureOf(engine: GroupEngine): string | undefined {
  return (engine.failure as CollectiveError | undefined)?.code
}

test('bytes that come early: as many as were agreed upon are kept, more end the group', async () => {
  const engine = engineOf()
  came(engine, {}, 60)
  came(engine, {}, 4)
  const call = begin(engine)
  came(engine, {}, 36)
  assert.deepEqual(await call, new Uint8Array(100).fill(7))

  const other = engineOf()
  came(other, {}, 60)
  came(other, {}, 5)
  assert.equal(failureOf(other), 'ERR_AETHER_COLLECTIVE_MISMATCH')
})

test('bytes of collectives further ahead than may be under way end the group', () => {
  const engine = engineOf()
  came(engine, { sequence: 1 + 2 * limits.requestsMax }, 1)
  assert.equal(failureOf(engine), undefined)
  came(engine, { sequence: 2 + 2 * limits.requestsMax }, 1)
  assert.equal(failureOf(engine), 'ERR_AETHER_COLLECTIVE_MISMATCH')
})

test('bytes that come early and are none end the group: they would take room without end', () => {
  const engine = engineOf()
  came(engine, {}, 0)
  assert.equal(failureOf(engine), 'ERR_AETHER_COLLECTIVE_MISMATCH')
})

test('room in more collectives ahead than may be under way ends the group; announcements are of the last one alone', () => {
  const engine = engineOf()
  for (let call = 1; call <= 1000; call += 1) came(engine, { kind: FrameKind.Announce, sequence: 1000 * call }, 0)
  for (let call = 1; call <= limits.requestsMax; call += 1)
    for (const amount of [80, 100]) came(engine, { kind: FrameKind.Grant, sequence: 1000 * call, amount }, 0)
  assert.equal(failureOf(engine), undefined)
  came(engine, { kind: FrameKind.Grant, sequence: 2 }, 0)
  assert.equal(failureOf(engine), 'ERR_AETHER_COLLECTIVE_MISMATCH')
  assert.match(String(engine.failure), /less than that so far/)
})

test('more bytes than the call has, or than there was room for, end the group', async () => {
  const engine = engineOf()
  const call = begin(engine)
  came(engine, {}, 99)
  came(engine, {}, 2)
  await assert.rejects(call, { code: 'ERR_AETHER_COLLECTIVE_MISMATCH' })

  const stream = new IncomingPieces(100, 10)
  assert.equal(stream.take(new Uint8Array(10), 0, 10), 0)
  assert.equal(stream.take(new Uint8Array(1), 0, 1), -1)
})

test('an announcement of a call that is over here tells whether it was the same', async () => {
  const engine = engineOf()
  const call = begin(engine)
  came(engine, {}, 100)
  await call
  came(engine, { kind: FrameKind.Announce }, 0)
  assert.equal(failureOf(engine), undefined)
  came(engine, { kind: FrameKind.Announce, signature: plan.signature + 1 }, 0)
  assert.equal(failureOf(engine), 'ERR_AETHER_COLLECTIVE_MISMATCH')
})

test('room for bytes that the call does not send ends the group: while it is under way, before, and when it is over', async () => {
  const during = engineOf()
  const call = assert.rejects(begin(during), { code: 'ERR_AETHER_COLLECTIVE_MISMATCH' })
  came(during, { kind: FrameKind.Grant, amount: 1 }, 0)
  await call

  const before = engineOf()
  came(before, { kind: FrameKind.Grant, amount: 1 }, 0)
  await assert.rejects(begin(before), { code: 'ERR_AETHER_COLLECTIVE_MISMATCH' })

  const after = engineOf()
  const done = begin(after)
  came(after, {}, 100)
  await done
  came(after, { kind: FrameKind.Grant, amount: 1 }, 0)
  assert.equal(failureOf(after), 'ERR_AETHER_COLLECTIVE_MISMATCH')
})

test('who is done with a call and has not sent all of it has called something else', async () => {
  const during = engineOf()
  const call = begin(during)
  came(during, {}, 64)
  came(during, { kind: FrameKind.Progress, sequence: 0, done: 1 }, 0)
  await assert.rejects(call, { code: 'ERR_AETHER_COLLECTIVE_MISMATCH', rank: 1 })

  const before = engineOf()
  came(before, {}, 63)
  came(before, { kind: FrameKind.Progress, sequence: 0, done: 1 }, 0)
  assert.equal(failureOf(before), undefined)
  await assert.rejects(begin(before), { code: 'ERR_AETHER_COLLECTIVE_MISMATCH', rank: 1 })
})

test('a note that makes no sense still ends the group', () => {
  for (const note of ['', '{}', '{"reason":"lost","rank":9,"sequence":0,"call":""}', '{"reason":"lost","rank":-1}']) {
    const engine = engineOf()
    const bytes = new TextEncoder().encode(note)
    engine.cameFrame(1, frameOf({ kind: FrameKind.Abort }), bytes, 0, bytes.length)
    assert.equal(failureOf(engine), 'ERR_AETHER_COLLECTIVE_ABANDONED', note)
  }
})

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate)
}

// ---- over a link
// ---------------------------------------------------------------------------------------------------------------------

/** The other end of a link, which says what the test wants. */
class Rogue {
  readonly link: MemoryLink
  /** What was said to it. */
  readonly heard: Frame[] = []

  constructor(link: MemoryLink) {
    this.link = link
    link.onMessage = (bytes, at, _, immediate, frameKind) =>
      void this.heard.push(new FrameView(bytes).read(at, frameKind, immediate))
    link.onEnd = () => {}
  }

  async say(kind: number, frame: Partial<Frame>, payload: Uint8Array = new Uint8Array(0)): Promise<void> {
    const { sequence = 0, signature = 0, group = 0, amount = 0, done = 0 } = frame
    const length = FRAME_BYTES + payload.length
    for (;;) {
      const at = this.link.reserve(length)
      if (at < 0) {
        await this.link.writable(length)
        continue
      }
      new FrameView(this.link.outgoing).write(at, sequence, signature, group, amount)
      this.link.outgoing.set(payload, at + FRAME_BYTES)
      this.link.commit(length, done, kind)
      return
    }
  }

  /** As peer 1, with the limits of `peers`. */
  hello({ limits: { requestsMax, eagerBytes } }: Peers, version = 2, amount = 65_536): Promise<void> {
    const payload = new Uint8Array(Float64Array.of(requestsMax, eagerBytes, 1234).buffer)
    return this.say(FrameKind.Hello, { sequence: 1, signature: version, amount }, payload)
  }
}

async function meet(ringBytes = 65_536): Promise<{ readonly peers: Peers; readonly rogue: Rogue }> {
  const peers = openPeers({ number: 0, messageBytesMax: 1000 })
  const [here, there] = memoryLinks({ delayTurnsMax: 0, ringBytes })
  const attached = peers.attach(here)
  const rogue = new Rogue(there)
  await rogue.hello(peers)
  await rogue.say(FrameKind.Welcome, {})
  await attached
  return { peers, rogue }
}

test('another version, or a window of nothing, is turned away', async () => {
  for (const [version, amount] of [
    [3, 65_536],
    [2, 0],
  ] as const) {
    const peers = openPeers({ number: 0 })
    const [here, there] = memoryLinks()
    const attached = peers.attach(here)
    await new Rogue(there).hello(peers, version, amount)
    await assert.rejects(attached, { code: 'ERR_AETHER_PEER_PROTOCOL', message: /speaks another version/ })
    await peers.close()
  }
})

test('who sends without end to groups of which nothing is known here is turned away', async () => {
  const { peers, rogue } = await meet()
  const gone = peers.get(1)!.gone
  const flood = async (): Promise<void> => {
    for (let group = 0; group < 20_000 && rogue.link.open; group += 1)
      await rogue.say(FrameKind.Data, { group, amount: 8 }, new Uint8Array(8))
  }
  await flood().catch(() => {})
  await gone
  assert.match(String(peers.lastError), /more than 64 groups that are not made here/)
  await peers.close()
})

for (const [what, why, say] of [
  [
    'more of a collective than eagerBytes',
    /more of a collective than eagerBytes/,
    (rogue: Rogue, turn: number) =>
      rogue.say(FrameKind.Data, { group: 5, sequence: 1, amount: 1 << 20 }, new Uint8Array(turn > 0 ? 16 : 16_380)),
  ],
  [
    'more of a collective than it said',
    /or than it said/,
    (rogue: Rogue) => rogue.say(FrameKind.Data, { group: 5, sequence: 1, amount: 12 }, new Uint8Array(8)),
  ],
  [
    'a stream of no length that there is',
    /or than it said/,
    (rogue: Rogue) => rogue.say(FrameKind.Data, { group: 5, sequence: 1, amount: Number.NaN }, new Uint8Array(8)),
  ],
  [
    'one collective under two names',
    /two names/,
    (rogue: Rogue, turn: number) =>
      rogue.say(FrameKind.Data, { group: 5, sequence: 1, amount: 64, signature: turn }, new Uint8Array(8)),
  ],
  [
    'more collectives than may be under way',
    /more than requestsMax collectives/,
    (rogue: Rogue, turn: number) =>
      rogue.say(FrameKind.Data, { group: 5, sequence: turn, amount: 8 }, new Uint8Array(8)),
  ],
] as const) {
  test(`who sends ${what} to a group that is not made here is turned away`, async () => {
    const { peers, rogue } = await meet()
    const { gone } = peers.get(1)!
    const flood = async (): Promise<void> => {
      for (let turn = 0; turn < 1000 && rogue.link.open; turn += 1) await say(rogue, turn)
    }
    await flood().catch(() => {})
    await gone
    assert.match(String(peers.lastError), why)
    assert.equal((peers.lastError!.cause as PeerError).code, 'ERR_AETHER_PEER_PROTOCOL')
    await peers.close()
  })
}

test('what still comes for a group that is closed here is no reason to turn anybody away', async () => {
  const { peers, rogue } = await meet()
  peers.group([0, 1]).close()
  await turns(10)
  const group = rogue.heard.find((frame) => frame.kind === FrameKind.Leave)!.group
  for (let count = 0; count < 10_000; count += 1)
    await rogue.say(FrameKind.Data, { group, amount: 8 }, new Uint8Array(8))
  await turns(10)
  assert.equal(peers.get(1)?.connected, true)
  rogue.link.destroy()
  await peers.close()
})

test("who gives up sends nothing more of the call: its memory is the program's again", async () => {
  const { peers, rogue } = await meet(4096)
  rogue.link.pause()
  const controller = new AbortController()
  const call = peers.group([0, 1]).broadcast(new Uint8Array(100_000), { signal: controller.signal })
  await turns(10)
  controller.abort(new Error('enough'))
  await assert.rejects(call, /enough/)
  rogue.link.resume()
  await turns(50)
  const kinds = rogue.heard.map((frame) => frame.kind)
  const abort = kinds.indexOf(FrameKind.Abort)
  assert.ok(kinds.includes(FrameKind.Data) && abort > 0, String(kinds))
  assert.deepEqual(kinds.slice(abort + 1), [])
  rogue.link.destroy()
  await peers.close()
})

test('who waits for a rank to take its bytes tells it what was called, as who waits for bytes does', async () => {
  const { peers, rogue } = await meet()
  const group = peers.group([0, 1])
  const call = group.broadcast(new Uint8Array(100_000))
  await until(() => rogue.heard.some((frame) => frame.kind === FrameKind.Announce), 'an announcement')
  const announced = rogue.heard.find((frame) => frame.kind === FrameKind.Announce)!
  // It expects nothing back.
  assert.deepEqual([announced.sequence, announced.amount], [1, 0])
  group.close()
  await assert.rejects(call, { code: 'ERR_AETHER_CLOSED' })
  rogue.link.destroy()
  await peers.close()
})

test('messages that break the rules end the connection: too long, more than announced, less room than before', async () => {
  for (const [frameKind, amount, bytes] of [
    [FrameKind.Message, 1001, 8],
    [FrameKind.Message, 4, 8],
    [FrameKind.Message, 1.5, 0],
    [FrameKind.MessageGrant, 5, 0],
  ] as const) {
    const { peers, rogue } = await meet()
    const gone = peers.get(1)!.gone
    await rogue.say(frameKind, { amount }, new Uint8Array(bytes))
    await gone
    assert.match(String(peers.lastError), /it sent a message that is invalid or longer than messageBytesMax/)
    await peers.close()
  }
})
