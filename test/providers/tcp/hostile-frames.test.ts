/** Peers that have proved themselves, and then break the protocol: their stream ends, and nothing else. */
import { strict as assert } from 'node:assert'
import process from 'node:process'
import { test } from 'node:test'
import { CompletionStatus, type QueuePair, QueuePairState } from '../../../src/verbs/index.ts'
import { until } from '../../cluster/support.ts'
import {
  ControlKind,
  control,
  encodeSegment,
  fetchAdd,
  Op,
  Queue,
  type Remote,
  readRequest,
  type Segment,
} from '../../support/iwarp.ts'
import { CALLER, IwarpPeer } from '../../support/iwarp-peer.ts'
import { ALL_ACCESS } from '../../verbs/loopback.ts'
import { NO_KEY, VictimDevice } from './victim-device.ts'

const MEGABYTE = 1 << 20
/** Segments of a mutated conversation, and how many of these there are for each seed. */
const MUTANTS = Number(process.env['AETHER_TEST_MUTANTS'] ?? 150)

const bytes = (length: number): Buffer => Buffer.alloc(length, 0x77)
const send = (fields: Partial<Segment> = {}): Segment => ({ op: Op.Send, payload: bytes(16), ...fields })
const write = ({ address, key }: Remote, fields: Partial<Segment> = {}): Segment => ({
  op: Op.Write,
  stag: key,
  offset: address,
  payload: bytes(16),
  ...fields,
})

/** What the device cannot understand, or was not asked for. */
function violations(memory: Remote): Readonly<Record<string, readonly Segment[]>> {
  return {
    'a length below any header': [send({ length: 5 })],
    'a length of nothing': [send({ length: 0 })],
    'an untagged header cut short': [send({ length: 16 })],
    'another version of DDP': [send({ ddpVersion: 2 })],
    'another version of RDMAP': [send({ rdmapVersion: 0 })],
    'an unknown opcode': [send({ op: 15 })],
    'an unknown opcode, tagged': [send({ op: 15, tagged: true })],
    'a TERMINATE': [send({ op: Op.Terminate, queue: Queue.Terminate })],
    'a tagged SEND': [send({ tagged: true, stag: memory.key, offset: memory.address })],
    'an untagged WRITE': [write(memory, { tagged: false })],
    'an untagged READ response': [send({ op: Op.ReadResponse, tagged: false })],
    'a tagged READ request': [{ ...readRequest(1, 8, memory), tagged: true }],
    'a tagged atomic': [{ ...fetchAdd(1, memory, 1n), tagged: true }],
    'a tagged control message': [{ ...control(ControlKind.Taken, 0), tagged: true }],
    'a SEND on a queue of others': [send({ queue: Queue.Request })],
    'a READ request that is too short': [{ ...readRequest(1, 8, memory), payload: bytes(27) }],
    'a READ request that is too long': [{ ...readRequest(1, 8, memory), payload: bytes(60) }],
    'an atomic that is too short': [{ ...fetchAdd(1, memory, 1n), payload: bytes(51) }],
    'an immediate without its value': [{ op: Op.Immediate, payload: bytes(0) }],
    'a control message that is too long': [{ ...control(ControlKind.Taken, 0), payload: bytes(17) }],
    'a control message of no kind': [control(9, 0)],
    'a second proof': [control(ControlKind.Proof, 0)],
    'a READ response that nobody asked for': [{ op: Op.ReadResponse, stag: 0, payload: bytes(8) }],
    'an atomic response that nobody asked for': [{ op: Op.AtomicResponse, queue: Queue.Atomic, payload: bytes(12) }],
    'more requests carried out than were sent': [control(ControlKind.Taken, 1)],
    'requests carried out that are long past': [control(ControlKind.Taken, -1)],
    'a request to wait for one that was not sent': [control(ControlKind.Wait, 5)],
    'a request to wait for one that is long past': [control(ControlKind.Wait, -5)],
    'a refusal of what was not sent': [control(ControlKind.Refuse, 0, BigInt(CompletionStatus.RemoteAccessError))],
    'a resumption where nobody waited': [control(ControlKind.Resume, 0)],
    'a SEND that begins in its middle': [send({ offset: 8 })],
    'a SEND whose offset jumps': [send({ last: false }), send({ offset: 17 })],
    'a SEND whose offset goes back': [send({ last: false }), send({ offset: 8 })],
    'a SEND in the middle of another': [send({ last: false }), send()],
    'a WRITE in the middle of a SEND': [send({ last: false }), write(memory)],
    'a SEND in the middle of a WRITE': [write(memory, { last: false }), send()],
  }
}

/** What is understood and not allowed: the queue pair fails, and the peer is told why. */
function refusals(memory: Remote, closed: Remote): Readonly<Record<string, readonly [Segment[], number]>> {
  const { RemoteAccessError: access, RemoteInvalidRequest: invalid } = CompletionStatus
  const beyond = { address: Number(memory.address) + 65_536 - 8, key: memory.key }
  return {
    'a WRITE with a key that there is not': [[write({ address: memory.address, key: NO_KEY })], access],
    'a WRITE with a key that was withdrawn': [[write(closed)], access],
    'a WRITE beyond the end': [[write(beyond)], access],
    'a WRITE whose address wraps': [[write({ address: -8n, key: memory.key })], access],
    'a READ beyond the end': [[readRequest(1, 16, beyond)], access],
    'a READ of 4 GiB': [[readRequest(1, 0xffff_ffff, memory)], access],
    'an atomic beyond the end': [[fetchAdd(1, { ...beyond, address: beyond.address + 8 }, 1n)], access],
    'an atomic that is not aligned': [[fetchAdd(1, { ...memory, address: Number(memory.address) + 1 }, 1n)], invalid],
    'an atomic of no kind': [[{ ...fetchAdd(1, memory, 1n), payload: bytes(52) }], invalid],
    'a SEND longer than its receive': [[send({ payload: bytes(65) })], invalid],
    'a SEND that grows longer than its receive': [
      [send({ payload: bytes(60), last: false }), send({ payload: bytes(5), offset: 60 })],
      invalid,
    ],
    'a SEND that withdraws a key that it may not': [
      [send({ op: Op.SendInvalidate, stag: memory.key })],
      CompletionStatus.RemoteAccessError,
    ],
    'READ requests by the thousand, whose answers it does not read': [
      Array.from({ length: 3000 }, (_, index) => readRequest(index, 65_536, memory)),
      invalid,
    ],
  }
}

const isRefusal = ({ op, payload }: Segment): boolean =>
  op === Op.Control && Buffer.from(payload!).readUInt32BE(0) === ControlKind.Refuse

for (const crc of [false, true]) {
  const how = crc ? 'with CRC' : 'without CRC'

  test(`a peer that breaks the protocol loses its stream, and nobody else does (${how})`, async () => {
    using victim = new VictimDevice()
    for (const [what, segments] of Object.entries(violations(victim.memory.token))) {
      const pair = victim.target()
      using peer = await IwarpPeer.connect(pair.endpoint, { crc })
      peer.send(...segments)
      await peer.ended().catch(() => assert.fail(`the stream survived ${what}`))
      victim.checkAlive()
      pair.close()
    }
  })

  test(`a peer that asks for what it may not is refused, and told why (${how})`, async () => {
    using victim = new VictimDevice()
    const closed = victim.domain.allocate(4096, ALL_ACCESS)
    const withdrawn = { address: closed.address, key: closed.remoteKey }
    closed.close()
    for (const [what, [segments, status]] of Object.entries(refusals(victim.memory.token, withdrawn))) {
      const pair = victim.target()
      using peer = await IwarpPeer.connect(pair.endpoint, { crc })
      if (what.includes('does not read')) peer.socket.pause()
      peer.send(...segments)
      await until(() => pair.state === QueuePairState.Error, what)
      peer.socket.resume()
      await peer.ended()
      const refusal = peer.segments.find(isRefusal)
      // One that does not read may not be told.
      if (refusal !== undefined) assert.equal(Number(Buffer.from(refusal.payload!).readBigUInt64BE(8)), status, what)
      else assert.match(what, /does not read/)
      victim.checkAlive()
      pair.close()
    }
  })
}

test('a segment whose CRC is wrong ends its stream', async () => {
  using victim = new VictimDevice()
  const pair = victim.target()
  using peer = await IwarpPeer.connect(pair.endpoint, { crc: true })
  const segment = encodeSegment(send(), true)
  segment[25]! ^= 1
  peer.write(segment)
  await peer.ended()
  victim.checkAlive()
})

test('a peer that ends in the middle of a segment ends its stream', async () => {
  using victim = new VictimDevice()
  for (let length = 1; length < 40; length += 3) {
    const pair = victim.target()
    using peer = await IwarpPeer.connect(pair.endpoint)
    peer.socket.end(encodeSegment(send(), false).subarray(0, length))
    await peer.ended()
    pair.close()
  }
  victim.checkAlive()
})

/** A queue pair that has a WRITE, a READ, an atomic and a SEND under way towards a peer that saw them. */
async function asking(victim: VictimDevice, segments: readonly Segment[]): Promise<readonly [QueuePair, IwarpPeer]> {
  const pair = victim.target()
  const peer = await IwarpPeer.connect({ ...pair.endpoint })
  const remote = { address: 4096, key: 1 }
  const local = victim.memory.subarray(1024, 1032)
  for (const request of [
    pair.prepareWrite({ local, remote }),
    pair.prepareRead({ local, remote }),
    pair.prepareFetchAdd({ local, remote, add: 1n }),
    pair.prepareSend({ local }),
  ])
    request.post(1)
  await peer.until(() => peer.segments.some(({ op }) => op === Op.Send), 'the requests arrive')
  peer.send(...segments)
  return [pair, peer]
}

/** Answers to the requests of {@link asking}; the READ has the name 1, the atomic 2. */
const wrongAnswers: Readonly<Record<string, readonly Segment[]>> = {
  'a READ response longer than the READ': [{ op: Op.ReadResponse, stag: 1, payload: bytes(9) }],
  'a READ response that begins in its middle': [{ op: Op.ReadResponse, stag: 1, offset: 4, payload: bytes(4) }],
  'two READ responses for one READ': [1, 2].map(() => ({ op: Op.ReadResponse, stag: 1, payload: bytes(8) })),
  'an atomic response for the READ': [{ op: Op.AtomicResponse, queue: Queue.Atomic, payload: named(1) }],
  'a READ response for the atomic': [{ op: Op.ReadResponse, stag: 2, payload: bytes(8) }],
  'a READ response for the WRITE': [{ op: Op.ReadResponse, stag: 0, payload: bytes(8) }],
  'more requests carried out than were sent': [control(ControlKind.Taken, 5)],
  'a refusal with a status of its own': [control(ControlKind.Refuse, 0, 4n)],
  'a refusal with success': [control(ControlKind.Refuse, 1, 0n)],
  'a refusal of what was not sent': [control(ControlKind.Refuse, 77, 10n)],
  'a request to wait for what was carried out': [control(ControlKind.Taken, 2), control(ControlKind.Wait, 1)],
}

function named(name: number): Buffer {
  const payload = Buffer.alloc(12)
  payload.writeUInt32BE(name, 0)
  return payload
}

test('answers that do not fit the requests end the stream: what waited fails, and only that', async () => {
  using victim = new VictimDevice()
  for (const [what, segments] of Object.entries(wrongAnswers)) {
    const [pair, peer] = await asking(victim, segments)
    await peer.ended().catch(() => assert.fail(`the stream survived ${what}`))
    const statuses: number[] = []
    await until(() => statuses.push(...victim.statuses()) >= 4, what)
    assert.ok(statuses.includes(CompletionStatus.RetryExceeded), `${what}: ${statuses}`)
    assert.equal(statuses.at(-1), CompletionStatus.WorkRequestFlushed, what)
    assert.equal(pair.state, QueuePairState.Error, what)
    victim.checkAlive()
    peer.socket.destroy()
    pair.close()
  }
})

test('a peer that has everything sent again and again only keeps its own queue pair busy', async () => {
  using victim = new VictimDevice()
  const [pair, peer] = await asking(victim, [])
  for (let round = 0; round < 200; round += 1) {
    const count = peer.segments.length
    peer.send(control(ControlKind.Wait, 0, 1n))
    await peer.until(() => peer.segments.length > count, 'it is sent again')
  }
  victim.checkAlive()
  peer.socket.destroy()
  await until(() => victim.statuses().length > 0, 'it fails')
  pair.close()
})

const sanitized = process.env['ASAN_OPTIONS'] !== undefined && 'AddressSanitizer keeps what was freed for a while'

test('what comes of a peer that reads nothing is not kept: memory stays bounded', { skip: sanitized }, async () => {
  using victim = new VictimDevice()
  const remote = { address: victim.memory.address, key: victim.memory.remoteKey }
  const floods = {
    atomics: fetchAdd(1, remote, 1n),
    'empty READs': readRequest(1, 0, remote),
    'small READs': readRequest(1, 4096, remote),
    WRITEs: write(remote, { payload: bytes(0) }),
  }
  for (const [what, segment] of Object.entries(floods)) {
    const pair = victim.target()
    using peer = await IwarpPeer.connect(pair.endpoint)
    peer.socket.pause()
    const before = process.memoryUsage.rss()
    const chunk = Buffer.concat(Array.from({ length: 10_000 }, () => encodeSegment(segment, false)))
    for (let round = 0; round < 60 && !peer.closed; round += 1)
      await new Promise<void>((resolve) => peer.socket.write(chunk, () => resolve()))
    const grown = process.memoryUsage.rss() - before
    assert.ok(grown < 16 * MEGABYTE, `${what}: ${(grown / MEGABYTE).toFixed(1)} MB more`)
    victim.checkAlive()
    peer.socket.destroy()
    pair.close()
  }
})

// ---- mutations

function seeded(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** A conversation in which a few bytes are wrong, cut off or sent twice. */
function mutated(right: readonly Segment[], random: (below: number) => number): Buffer {
  const chosen = Array.from({ length: 1 + random(6) }, () => encodeSegment(right[random(right.length)]!, false))
  const whole = Buffer.concat(chosen)
  for (let change = random(4); change > 0; change -= 1) {
    const at = random(Math.min(whole.length, random(2) === 0 ? 20 : whole.length))
    whole[at] = random(3) === 0 ? [0, 1, 0x7f, 0x80, 0xff][random(5)]! : random(256)
  }
  const cut = random(4) === 0 ? random(whole.length) : whole.length
  return random(8) === 0 ? Buffer.concat([whole.subarray(0, cut), whole]) : whole.subarray(0, cut)
}

for (const seed of [1, 2]) {
  test(`${MUTANTS} conversations with mistakes crash nothing and touch no other memory (seed ${seed})`, async () => {
    using victim = new VictimDevice()
    const secret = victim.domain.allocate(65_536, ALL_ACCESS)
    const { token } = victim.memory
    const right = [
      send(),
      send({ last: false }),
      send({ op: Op.SendImmediate, stag: 5 }),
      write(token),
      write(token, { last: false, payload: bytes(200) }),
      { op: Op.Immediate, payload: bytes(8) },
      readRequest(1, 5000, token),
      fetchAdd(1, token, 1n),
      control(ControlKind.Taken, 1),
      control(ControlKind.Wait, 0, 1n),
      control(ControlKind.Resume, 0),
      control(ControlKind.Refuse, 1, 10n),
      { op: Op.ReadResponse, stag: 1, payload: bytes(8) },
      { op: Op.AtomicResponse, queue: Queue.Atomic, payload: named(2) },
    ]
    const random = seeded(seed)
    for (let index = 0; index < MUTANTS; index += 1) {
      const [pair, peer] = await asking(victim, [])
      peer.write(mutated(right, random))
      if (random(2) === 0) peer.socket.destroy()
      else peer.socket.end()
      if (index % 10 === 0) victim.checkAlive()
      victim.statuses()
      pair.close()
    }
    victim.checkAlive()
    assert.ok(secret.bytes.every((byte) => byte === 0))
  })
}

test('the peer of the tests is a right one', async () => {
  using victim = new VictimDevice()
  const pair = victim.target()
  using peer = await IwarpPeer.connect(pair.endpoint, { crc: true, number: CALLER })
  peer.send(
    write(victim.memory.token),
    send(),
    fetchAdd(9, victim.memory.token, 1n),
    readRequest(8, 16, victim.memory.token),
  )
  await peer.until(() => peer.segments.some(({ op }) => op === Op.ReadResponse), 'it is answered')
  const found = peer.segments.find(({ op }) => op === Op.ReadResponse)!
  assert.equal(found.stag, 8)
  assert.deepEqual([...found.payload!], [0x78, ...bytes(15)])
})
