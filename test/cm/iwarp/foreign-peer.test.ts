/** Connections of a tcp device with peers of iWARP that are no Aether: sockets of this test, and our own two ends. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import process from 'node:process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { type Connection, type ConnectionOptions, connect, listen } from '../../../src/cm/index.ts'
import { Random } from '../../../src/runtime/index.ts'
import { Access, CompletionStatus, deviceNames, type MemoryRegion, QueuePairState } from '../../../src/verbs/index.ts'
import { RpingEnd } from '../../rdma/support/rping.ts'
import { encodeFrame, ForeignListener, ForeignPeer, type Frame, Mpa } from '../../support/foreign-peer.ts'
import { ControlKind, control, encodeSegment, Op, Queue, readRequest, type Segment } from '../../support/iwarp.ts'

const DEVICE = 'tcp-lo'
const HOST = '127.0.0.1'
const PATIENCE = { timeoutMs: 20_000 }
const options = { skip: deviceNames().includes(DEVICE) ? false : `there is no device ${DEVICE} here` }
const to = { ...PATIENCE, device: DEVICE, address: HOST, iwarpPeer: true }
const REPLY = encodeFrame('Rep', { depths: [4, 4] })
const ALL_RIGHTS = Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite

/** A caller with this request, and our end of its connection, with memory that the caller may use. */
class Called implements Disposable {
  readonly peer: ForeignPeer
  readonly connection: Connection
  readonly memory: MemoryRegion

  private constructor(peer: ForeignPeer, connection: Connection) {
    this.peer = peer
    this.connection = connection
    this.memory = connection.domain.allocate(4096, ALL_RIGHTS)
  }

  static async by(request: Frame, answer: ConnectionOptions = {}, stays = false): Promise<Called> {
    using listener = await listen({ device: DEVICE, address: HOST, iwarpPeer: true })
    const peer = await ForeignPeer.call(listener.port, encodeFrame('Req', request), stays)
    const asked = await listener.next(PATIENCE)
    return new Called(peer, await asked!.accept({ ...PATIENCE, ...answer }))
  }

  get remote(): { readonly address: number; readonly key: number } {
    return { address: this.memory.address, key: this.memory.remoteKey }
  }

  [Symbol.dispose](): void {
    this.connection.close()
    this.peer[Symbol.dispose]()
  }
}

/** Our end of a connection to a socket that has replied so, and the request that it got. */
async function calling(
  reply: Buffer,
): Promise<{ peer: ForeignPeer; connection: Connection; request: Required<Frame> }> {
  using listener = await ForeignListener.open()
  const connecting = connect({ ...to, port: listener.port, maxReadAtomic: 8, privateData: Uint8Array.of(7) })
  const peer = await listener.next()
  const request = await peer.framed()
  peer.write(reply)
  return { peer, connection: await connecting, request }
}

const message = (text: string, fields: Partial<Segment> = {}): Segment => ({
  op: Op.Send,
  payload: Buffer.from(text),
  ...fields,
})

test('two ends of ours talk by the standards alone', options, async () => {
  const listener = await listen({ device: DEVICE, address: HOST, iwarpPeer: true })
  let [one, other]: RpingEnd[] = []
  const accepting = listener.next(PATIENCE).then((request) => {
    assert.deepEqual([...request!.privateData], [1, 2, 3])
    assert.equal(request!.remote?.address, HOST)
    return request!.accept({
      ...PATIENCE,
      privateData: Uint8Array.of(4),
      prepare: (pair) => (one = new RpingEnd(pair)),
    })
  })
  const prepare = { prepare: (pair: Connection['pair']) => (other = new RpingEnd(pair)) }
  using connection = await connect({ ...to, port: listener.port, privateData: Uint8Array.of(1, 2, 3), ...prepare })
  using accepted = await accepting
  assert.deepEqual([...connection.privateData], [4])
  assert.deepEqual([connection.pair.state, accepted.pair.state], [3, 3])
  const serving = one!.serve(3)
  await other!.ping(3)
  assert.deepEqual(await serving, ['aether-ping-0', 'aether-ping-1', 'aether-ping-2'])
  await connection.disconnect()
  assert.equal(await accepted.closed, 'peer')
  listener.close()
})

test('a refusal arrives with its data, and where nothing listens that is said', options, async () => {
  const listener = await listen({ device: DEVICE, address: HOST, iwarpPeer: true })
  const refusing = listener.next(PATIENCE).then((request) => request!.reject(Uint8Array.of(9)))
  const { port } = listener
  await assert.rejects(connect({ ...to, port }), { reason: 'consumer', privateData: Uint8Array.of(9) })
  await refusing
  listener.close()
  await assert.rejects(connect({ ...to, port }), { reason: 'no-listener' })
})

test('the option needs a tcp device, and connects queue pairs only', options, async () => {
  for (const device of ['shm0', undefined])
    await assert.rejects(listen({ ...(device === undefined ? {} : { device }), iwarpPeer: true }), /a tcp device/)
  await assert.rejects(listen({ device: DEVICE, portSpace: 'udp', iwarpPeer: true }), /port space 'tcp'/)
  await assert.rejects(listen({ device: DEVICE, iwarpPeer: 'yes' as never }), { argument: 'iwarpPeer' })
})

test('our request says what we take, and a caller that is told so says that it is ready', options, async () => {
  for (const [ofIrd, ofOrd, op] of [
    [0, Mpa.ByWrite, Op.Write],
    [0, Mpa.ByRead, Op.ReadRequest],
    [Mpa.BySend, 0, Op.Send],
  ] as const) {
    const reply = encodeFrame('Rep', { depths: [2 | Mpa.PeerToPeer | ofIrd, 5 | ofOrd], data: [6] })
    const { peer, connection, request } = await calling(reply)
    using _ = peer
    assert.deepEqual(request.data, [7])
    assert.equal(request.flags & ~Mpa.Enhanced, 0, 'no CRC within a machine')
    assert.equal(request.depths[1], 8 | Mpa.ByWrite | Mpa.ByRead)
    assert.equal(request.depths[0], 128 | Mpa.PeerToPeer | Mpa.BySend)
    assert.deepEqual([...connection.privateData], [6])
    const [first] = await peer.take()
    assert.equal(first!.op, op)
    assert.equal(first!.payload!.length, op === Op.ReadRequest ? 28 : 0)
    const memory = connection.domain.allocate(64, Access.LocalWrite)
    const remote = { address: 4096, key: 1 }
    const reads = [1, 2, 3].map((length) => connection.pair.read({ local: memory.subarray(0, length), remote }))
    for (const each of reads) each.catch(() => undefined)
    // No more than it said are under way; a READ that says that we are ready is one of them.
    const taken = await peer.take(op === Op.ReadRequest ? 1 : 2)
    await sleep(20)
    assert.equal(peer.segments.length, 0)
    for (const { payload } of op === Op.ReadRequest ? [first!] : taken.slice(0, 1)) {
      const [name, length] = [0, 12].map((at) => Buffer.from(payload!).readUInt32BE(at))
      peer.send({ op: Op.ReadResponse, stag: name!, payload: Buffer.alloc(length!) })
    }
    taken.push(...(await peer.take()))
    assert.ok(taken.every((each) => each.op === Op.ReadRequest))
    await sleep(20)
    assert.equal(peer.segments.length, 0)
    connection.close()
  }
})

test('with a peer that says no depths we fall back to what it has', options, async () => {
  for (const own of [1, 2]) {
    using called = await Called.by({ revision: own, data: [1] })
    const { flags, revision, data } = await called.peer.framed()
    assert.deepEqual([flags, revision, data], [0, own, []])
  }
})

test('our reply keeps within what the caller wants and takes', options, async () => {
  const depths = [3, 2 | Mpa.ByRead] as const
  using called = await Called.by({ depths, flags: Mpa.Crc }, { privateData: Uint8Array.of(5) })
  const reply = await called.peer.framed()
  assert.deepEqual(reply, { flags: Mpa.Crc | Mpa.Enhanced, revision: 2, depths: [2, 3], data: [5] })
})

test('the responder lets the caller speak first, if both have agreed so', options, async () => {
  using called = await Called.by({ depths: [4 | Mpa.PeerToPeer, 4 | Mpa.ByRead | Mpa.ByWrite] })
  const { depths } = await called.peer.framed()
  assert.deepEqual(depths, [4 | Mpa.PeerToPeer, 4 | Mpa.ByWrite])
  const sending = called.connection.pair.send({ local: called.memory.subarray(0, 5) })
  await sleep(200)
  assert.equal(called.peer.segments.length, 0)
  called.peer.send({ op: Op.Write })
  const [first] = await called.peer.take()
  assert.equal(first!.op, Op.Send)
  await sending
})

test('a caller may show that it is ready by a SEND of no bytes, which takes no receive', options, async () => {
  using called = await Called.by({ depths: [4 | Mpa.PeerToPeer | Mpa.BySend, 4] })
  assert.deepEqual((await called.peer.framed()).depths, [4 | Mpa.PeerToPeer | Mpa.BySend, 4])
  const arriving = called.connection.pair.receive({ local: called.memory.subarray(0, 16) })
  const sending = called.connection.pair.send({ local: called.memory.subarray(0, 5) })
  called.peer.send(message(''))
  await sending
  // Only the first one is none.
  called.peer.send(message('', { message: 2 }))
  assert.equal((await arriving).byteLength, 0)
  assert.equal(called.connection.pair.state, QueuePairState.ReadyToSend)
})

/** What our end says to a reply before it hangs up. */
async function refused(reply: Frame): Promise<number> {
  using listener = await ForeignListener.open()
  const connecting = connect({ ...to, port: listener.port, maxDestinationReadAtomic: 4 })
  const failing = assert.rejects(connecting, { name: 'ConnectionError' })
  using peer = await listener.next()
  await peer.framed()
  peer.write(encodeFrame('Rep', reply))
  const [terminate] = await peer.take()
  await failing
  await peer.until(() => peer.closed, 'it hangs up')
  return fault(terminate).word
}

test(
  'a reply that wants more READs than we take, or a first message that we do not send, is refused',
  options,
  async () => {
    assert.equal(await refused({ depths: [4, 5] }), 0x2006)
    assert.equal(await refused({ depths: [4 | Mpa.PeerToPeer, 4] }), 0x2007)
  },
)

test('a peer that has more READs under way than it was told is ended: its queue has no buffer', options, async () => {
  using called = await Called.by({ depths: [4, 4] }, { maxDestinationReadAtomic: 2 })
  assert.equal((await called.peer.framed()).depths[0], 2)
  const big = called.connection.domain.allocate(1 << 20, ALL_RIGHTS)
  const remote = { address: big.address, key: big.remoteKey }
  called.peer.send(...[1, 2, 3].map((name) => readRequest(name, 1 << 20, remote)))
  await called.peer.until(() => called.peer.segments.some(({ op }) => op === Op.Terminate), 'it ends')
  const terminate = called.peer.segments.find(({ op }) => op === Op.Terminate)
  assert.deepEqual(fault(terminate), { word: 0x1202, headers: 0xe0, length: 4 + 2 + 18 + 28 })
  assert.equal(called.connection.pair.state, QueuePairState.Error)
})

test(
  'a peer that knows revision 1 only can be called: it hangs up once, and is asked again in its own',
  options,
  async () => {
    using listener = await ForeignListener.open()
    const connecting = connect({ ...to, port: listener.port, privateData: Uint8Array.of(7) })
    using first = await listener.next()
    assert.equal((await first.framed()).revision, 2)
    first.end()
    using peer = await listener.next()
    assert.deepEqual(await peer.framed(), { flags: 0, revision: 1, depths: [0, 0], data: [7] })
    peer.write(encodeFrame('Rep', { revision: 1, data: [8] }))
    using connection = await connecting
    assert.deepEqual([...connection.privateData], [8])
    // What it does not say how many it takes of, it takes one of.
    assert.equal(connection.maxReadAtomic, 1)
    const memory = connection.domain.allocate(64, ALL_RIGHTS)
    const remote = { address: 4096, key: 1 }
    for (const length of [8, 16])
      connection.pair.read({ local: memory.subarray(0, length), remote }).catch(() => undefined)
    const [read] = await peer.take()
    await sleep(20)
    assert.equal(peer.segments.length, 0)
    const name = Buffer.from(read!.payload!).readUInt32BE(0)
    peer.send({ op: Op.ReadResponse, stag: name, payload: Buffer.alloc(8) })
    assert.equal((await peer.take())[0]!.op, Op.ReadRequest)
  },
)

test('a peer that hangs up on both revisions is asked twice, and no more', options, async () => {
  using listener = await ForeignListener.open()
  const connecting = connect({ ...to, port: listener.port })
  const failing = assert.rejects(connecting, { name: 'ConnectionError' })
  for (const revision of [2, 1]) {
    using peer = await listener.next()
    assert.equal((await peer.framed()).revision, revision)
    peer.end()
  }
  await failing
})

test('a caller that never speaks first gets the message all the same', options, async () => {
  using called = await Called.by({ depths: [4, 4] })
  await called.connection.pair.send({ local: called.memory.subarray(0, 5) })
  const [first] = await called.peer.take()
  assert.deepEqual([first!.op, first!.payload?.length], [Op.Send, 5])
})

test('every message of the standards arrives, with CRC and without', options, async () => {
  for (const flags of [0, Mpa.Crc]) {
    using called = await Called.by({ depths: [4, 4], flags })
    const { peer, connection, memory, remote } = called
    await peer.framed()
    peer.crc = flags !== 0
    const arriving = connection.pair.receive({ local: memory.subarray(2048, 2112) })
    peer.send({ op: Op.Write, stag: remote.key, offset: remote.address, payload: Buffer.from('written') })
    peer.send(readRequest(0xabcd, 7, remote), message('hello'))
    assert.equal((await arriving).byteLength, 5)
    assert.equal(Buffer.from(memory.bytes.subarray(2048, 2053)).toString(), 'hello')
    const [answer] = await peer.take()
    assert.deepEqual(
      [answer!.op, answer!.stag, Buffer.from(answer!.payload!).toString()],
      [Op.ReadResponse, 0xabcd, 'written'],
    )
    // Nothing of ours is said: no acknowledgement follows.
    await sleep(50)
    assert.equal(peer.segments.length, 0)
  }
})

test('segments are no longer than a packet', options, async () => {
  using called = await Called.by({ depths: [4, 4] })
  called.peer.send({ op: Op.Write })
  const memory = called.connection.domain.allocate(200_000, Access.LocalWrite)
  await called.connection.pair.send({ local: memory.subarray(0, 200_000) })
  await called.peer.until(() => called.peer.segments.some(({ last }) => last), 'the last segment')
  const lengths = called.peer.segments.map(({ payload }) => payload!.length)
  assert.equal(
    lengths.reduce((sum, each) => sum + each, 0),
    200_000,
  )
  assert.ok(Math.max(...lengths) < 65_483, 'that of the loopback interface')
})

test('immediate values and atomics are refused: no standard says that the peer knows them', options, async () => {
  using called = await Called.by({ depths: [4, 4] })
  const { connection, memory, remote } = called
  const local = memory.subarray(0, 8)
  const refused = { name: 'UnsupportedError' }
  await assert.rejects(async () => connection.pair.send({ local, immediate: 1 }), refused)
  await assert.rejects(async () => connection.pair.write({ local, remote, immediate: 1 }), refused)
  await assert.rejects(async () => connection.pair.fetchAdd({ remote, add: 1n }), refused)
  assert.equal(connection.pair.state, QueuePairState.ReadyToSend)
  const { atomics, immediate, remoteCompletion, permissions, ordered } = connection.pair.capabilities
  assert.deepEqual([atomics, immediate, remoteCompletion], [false, false, false])
  assert.deepEqual([permissions, ordered], [true, true])
})

/** Layer, type and code of a TERMINATE, and which headers of the segment to blame it has. */
function fault(segment: Segment | undefined): { readonly word: number; readonly headers: number; length: number } {
  assert.equal(segment?.op, Op.Terminate)
  assert.equal(segment.queue, Queue.Terminate)
  const payload = Buffer.from(segment.payload!)
  return { word: payload.readUInt16BE(0), headers: payload[2]!, length: payload.length }
}

test('what cannot be carried out ends the stream with a TERMINATE that says why', options, async () => {
  const bytes = Buffer.alloc(16)
  const none = (address: number): { address: number; key: number } => ({ address, key: 0x1234 })
  type Wrong = readonly [segment: (called: Called) => Segment, word: number, headers: number, length: number]
  const cases: Readonly<Record<string, Wrong>> = {
    'a SEND without a receive': [() => message('hello'), 0x1202, 0xc0, 4 + 2 + 18],
    'a WRITE to no memory': [() => ({ op: Op.Write, stag: 0x1234, offset: 4096, payload: bytes }), 0x1100, 0xc0, 20],
    'a READ of no memory': [() => readRequest(1, 8, none(4096)), 0x0100, 0xe0, 4 + 2 + 18 + 28],
    'a READ behind the memory': [({ remote }) => readRequest(1, 5000, remote), 0x0100, 0xe0, 4 + 2 + 18 + 28],
  }
  for (const [what, [segment, word, headers, length]] of Object.entries(cases)) {
    using called = await Called.by({ depths: [4, 4] })
    called.peer.send(segment(called))
    const [terminate] = await called.peer.take()
    assert.deepEqual(fault(terminate), { word, headers, length }, what)
    await called.peer.until(() => called.connection.pair.state === QueuePairState.Error, 'the queue pair fails')
    called.peer.end()
    assert.equal(await called.connection.closed, 'peer', what)
  }
})

test('a message that is too long, a right that is missing and a wrong CRC are told, too', options, async () => {
  using called = await Called.by({ depths: [4, 4] })
  const short = called.connection.pair.receive({ local: called.memory.subarray(0, 4) })
  const isTooShort = assert.rejects(short, { status: CompletionStatus.LocalLengthError })
  called.peer.send(message('longer than that'))
  assert.equal(fault((await called.peer.take())[0]).word, 0x1205)
  await isTooShort

  using kept = await Called.by({ depths: [4, 4] }, { access: Access.RemoteRead })
  kept.peer.send({ op: Op.Write, stag: kept.remote.key, offset: kept.remote.address, payload: Buffer.alloc(4) })
  assert.equal(fault((await kept.peer.take())[0]).word, 0x0102)

  using checked = await Called.by({ depths: [4, 4], flags: Mpa.Crc })
  checked.peer.send(message('without one'))
  assert.equal(fault((await checked.peer.take())[0]).word, 0x2002)
})

test('a TERMINATE of the peer fails the oldest request, with the status that fits', options, async () => {
  const cases = [
    [0x0100, CompletionStatus.RemoteAccessError],
    [0x1101, CompletionStatus.RemoteAccessError],
    [0x0206, CompletionStatus.RemoteOperationError],
    [0x1202, CompletionStatus.ReceiverNotReadyRetryExceeded],
    [0x1205, CompletionStatus.RemoteInvalidRequest],
  ] as const
  for (const [word, status] of cases) {
    const { peer, connection } = await calling(REPLY)
    using _ = peer
    const memory = connection.domain.allocate(64, Access.LocalWrite)
    const reading = connection.pair.read({ local: memory.subarray(0, 8), remote: { address: 4096, key: 1 } })
    await peer.take()
    const payload = Buffer.alloc(4)
    payload.writeUInt16BE(word)
    peer.send({ op: Op.Terminate, queue: Queue.Terminate, payload })
    await assert.rejects(reading, { status })
    assert.equal(connection.pair.state, QueuePairState.Error)
    connection.close()
  }
})

test('what the peer sent last is received, though it ended at once', options, async () => {
  for (let round = 0; round < 20; round += 1) {
    using called = await Called.by({ depths: [4, 4] })
    const arriving = called.connection.pair.receive({ local: called.memory.subarray(0, 64) })
    called.peer.send(message('the last'))
    called.peer.end()
    assert.equal((await arriving).byteLength, 8)
    assert.equal(await called.connection.closed, 'peer')
  }
})

test('the messages that Aether adds are none to a foreign peer', options, async () => {
  using called = await Called.by({ depths: [4, 4] })
  const receiving = called.connection.pair.receive({ local: called.memory.subarray(0, 64) })
  called.peer.send(control(ControlKind.Taken, 0))
  await assert.rejects(receiving)
  assert.notEqual(await called.connection.closed, 'local')
})

test('callers that are none are hung up on, and the others do not notice', options, async () => {
  using listener = await listen({ device: DEVICE, address: HOST, iwarpPeer: true })
  const wrong = [
    Buffer.from('GET / HTTP/1.1\r\n\r\n'),
    encodeFrame('Rep', { depths: [1, 1] }),
    encodeFrame('Req', { flags: Mpa.Markers, depths: [1, 1] }),
    encodeFrame('Req', { depths: [1, 1], data: Array(600).fill(0) }),
    Buffer.concat([encodeFrame('Req', { depths: [1, 1] }), Buffer.alloc(8)]),
  ]
  for (const bytes of wrong) {
    using peer = await ForeignPeer.call(listener.port, bytes)
    await peer.until(() => peer.closed, 'it is hung up on')
  }
  using quiet = await ForeignPeer.call(listener.port)
  using peer = await ForeignPeer.call(listener.port, encodeFrame('Req', { depths: [1, 1] }))
  using connection = await (await listener.next(PATIENCE))!.accept(PATIENCE)
  await peer.framed()
  assert.equal(connection.pair.state, QueuePairState.ReadyToSend)
  assert.equal(quiet.closed, false)
  listener.close()
  await quiet.until(() => quiet.closed, 'the listener takes its callers with it')
})

/** Conversations with some bits turned over, of which one in this many frames ends nothing. */
const MUTANTS = Number(process.env['AETHER_TEST_MUTANTS'] ?? 100)

test(
  `${MUTANTS} conversations with wrong bytes end, and nothing but their own memory is touched`,
  options,
  async () => {
    const seed = Number(process.env['AETHER_TEST_SEED'] ?? Date.now() % 1_000_000)
    const random = new Random(seed)
    using bystander = await Called.by({ depths: [4, 4] })
    const guarded = bystander.connection.domain.allocate(4096, Access.LocalWrite)
    guarded.bytes.fill(0x5a)
    for (let mutant = 0; mutant < MUTANTS; mutant += 1) {
      using called = await Called.by({ depths: [4, 4], flags: mutant % 2 === 0 ? 0 : Mpa.Crc })
      const { peer, connection, memory, remote } = called
      for (let index = 0; index < 4; index += 1)
        connection.pair.receive({ local: memory.subarray(2048, 2112) }).catch(() => undefined)
      const right = [
        { op: Op.Write, stag: remote.key, offset: remote.address, payload: Buffer.alloc(random.below(200)) },
        readRequest(1, 100, remote),
        message('some text'),
        message('half', { last: false }),
        message('whole', { offset: 4 }),
        { op: Op.Terminate, queue: Queue.Terminate, payload: Buffer.alloc(4) },
      ]
      const bytes = Buffer.concat(right.map((segment) => encodeSegment(segment, false)))
      for (let count = 1 + random.below(4); count > 0; count -= 1) {
        const at = random.below(bytes.length)
        bytes[at] = bytes[at]! ^ (1 << random.below(8))
      }
      peer.write(bytes)
      peer.end()
      const reason = await connection.closed
      assert.ok(reason === 'peer' || reason === 'lost', `seed ${seed}: ${reason}`)
    }
    assert.ok(
      guarded.bytes.every((byte) => byte === 0x5a),
      `seed ${seed}`,
    )
  },
)

test(
  'a peer whose stream has failed is heard to end behind bytes that no one takes, and one that never ends is cut off',
  options,
  async () => {
    const wrong = message('no receive is posted for it')
    const megabytes = Buffer.alloc(16 << 20)
    using ending = await Called.by({ depths: [4, 4] })
    ending.peer.send(wrong)
    ending.peer.write(megabytes)
    ending.peer.end()
    assert.equal(await ending.connection.closed, 'peer')
    using staying = await Called.by({ depths: [4, 4] }, {}, true)
    staying.peer.send(wrong)
    staying.peer.write(megabytes)
    const [terminate] = await staying.peer.take()
    assert.equal(fault(terminate).word, 0x1202)
    assert.ok(['peer', 'lost'].includes(await staying.connection.closed))
    staying.peer.write(megabytes)
    await staying.peer.until(() => staying.peer.closed, 'it is cut off')
  },
)

test('a reply that is none ends the attempt', options, async () => {
  for (const bytes of [Buffer.from('220 mail.example ESMTP\r\n'), Buffer.concat([REPLY, Buffer.alloc(4)])])
    await assert.rejects(calling(bytes), { name: 'ConnectionError' })
})

test('a thread that ends takes its listener and its connections with it', options, async () => {
  const program = `import(process.env.PROGRAM).then(async ({ listen }) => {
    const listener = await listen(JSON.parse(process.env.OPTIONS))
    require('node:worker_threads').parentPort.postMessage(listener.port)
    globalThis.connection = await (await listener.next()).accept()
  })`
  const PROGRAM = import.meta.resolve('../../../src/cm/index.js')
  const OPTIONS = JSON.stringify({ device: DEVICE, address: HOST, iwarpPeer: true })
  const worker = new Worker(program, { eval: true, env: { ...process.env, PROGRAM, OPTIONS } })
  const [port] = (await once(worker, 'message')) as [number]
  using connection = await connect({ ...to, port })
  await worker.terminate()
  assert.equal(await connection.closed, 'peer')
  await assert.rejects(connect({ ...to, port }), { reason: 'no-listener' })
})

test('a request cannot be handed to another thread', options, async () => {
  using listener = await listen({ device: DEVICE, address: HOST, iwarpPeer: true })
  using _ = await ForeignPeer.call(listener.port, encodeFrame('Req', { depths: [1, 1] }))
  const request = await listener.next(PATIENCE)
  assert.throws(() => request!.handOver(), { argument: 'iwarpPeer' })
  request!.reject()
})
