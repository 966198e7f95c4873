import { randomBytes } from 'node:crypto'
import { CompletionStatus, QueuePairState } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { assert, type Context, type End, Flushed, Opcode, QUEUE_KEY, Success } from '../context.ts'
import type { RequestSpecification } from '../player-data.ts'

const SERVICE = 'IB specification 9.8.3 (unreliable datagram)'
const MULTICAST = 'ibv_attach_mcast(3)'
/** Length of the global route header in front of every datagram: ibv_post_recv(3), IB specification 8.3. */
const ROUTE = 40
const GLOBAL_ROUTE = 1
/** The queue pair number of multicast messages: IB specification 10.5.2. */
const EVERYBODY = 0xffffff

async function ready(context: Context): Promise<readonly [End, End]> {
  const [a, b] = [await context.end(0, { type: 'ud' }), await context.end(1, { type: 'ud' })]
  await a.connect(b.pair.endpoint)
  await b.connect(a.pair.endpoint)
  return [a, b]
}

type Extra = Partial<RequestSpecification> & { readonly queueKey?: number }

/** One datagram of `length` bytes from the start of `a`'s memory. */
async function sendTo(a: End, b: End, id: number, length: number, extra: Extra = {}): Promise<void> {
  const { queueKey = QUEUE_KEY, ...rest } = extra
  const addressHandle = await a.player.addressHandle(a.domain, { gid: b.gid, hopLimit: 64 })
  const to = { addressHandle, number: b.pair.number, queueKey }
  await a.post({ id, opcode: Opcode.Send, local: [a.segment(0, length)], to, ...rest })
}

/** How often it is tried to send what finds no receive. */
const ATTEMPTS = 3

async function expectNextOnly(a: End, b: End): Promise<void> {
  assert.deepEqual(await nextOf(a, b), [99])
}

/** What arrives when 99 is sent, and a receive is posted for it. */
async function nextOf(a: End, b: End): Promise<readonly number[]> {
  await b.receive(1000, 512, ROUTE + 8)
  await a.fill(0, [99])
  await sendTo(a, b, 1001, 1)
  await a.sentWith(Success, 1001)
  await b.receivedWith(Success, 1000)
  return await b.bytes(512 + ROUTE, 1)
}

/** A new group of local scope, and transient, that has no other members. */
function freshGroup(): bigint {
  return (0xff12n << 112n) | BigInt(`0x${randomBytes(8).toString('hex')}`)
}

/** Datagrams: any queue pair sends to any other, and there are no answers. */
export const datagramCases: readonly ConformanceCase[] = [
  rule('ud: a datagram lands behind forty bytes of header', `${SERVICE}; ibv_post_recv(3)`, async (context) => {
    const [a, b] = await ready(context)
    await b.receive(5, 100, 200)
    await a.fill(0, [1, 2, 3])
    await sendTo(a, b, 6, 3)
    await a.sentWith(Success, 6)
    const received = await b.receivedWith(Success, 5)
    assert.equal(received.byteLength, ROUTE + 3)
    assert.equal(received.sourceQueuePair, a.pair.number)
    assert.equal(received.queuePairNumber, b.pair.number)
    assert.equal(received.flags & GLOBAL_ROUTE, GLOBAL_ROUTE)
    assert.deepEqual(await b.bytes(100 + ROUTE, 4), [1, 2, 3, 0])
  }),
  rule('ud: the header says who sent it to whom', 'IB specification 8.3; RoCEv2 annex A17.4.5.2', async (context) => {
    const [a, b] = await ready(context)
    await b.receive(5, 0, 64)
    await sendTo(a, b, 6, 1)
    await b.receivedWith(Success, 5)
    const header = Buffer.from(await b.bytes(0, ROUTE))
    const sixteen = (at: number): bigint => BigInt(`0x${header.subarray(at, at + 16).toString('hex')}`)
    const four = (at: number): bigint => BigInt(header.readUInt32BE(at))
    // RoCEv2 over IPv4 puts an IPv4 header into the last twenty bytes.
    const addresses = header.readUInt8(0) >> 4 === 6 ? [sixteen(8), sixteen(24)] : [four(32), four(36)]
    const mask = header.readUInt8(0) >> 4 === 6 ? (1n << 128n) - 1n : 0xffffffffn
    assert.deepEqual(addresses, [a.gid & mask, b.gid & mask])
  }),
  rule('ud: a datagram with immediate', SERVICE, async (context) => {
    const [a, b] = await ready(context)
    await b.receive(5, 0, 64)
    await sendTo(a, b, 6, 1, { opcode: Opcode.SendWithImmediate, immediate: 0xfedcba98 })
    const received = await b.receivedWith(Success, 5)
    assert.equal(received.immediate, 0xfedcba98)
    assert.equal(received.flags & 2, 2)
  }),
  rule('ud: a datagram without bytes is a header', `${SERVICE}; pyverbs zero-size tests`, async (context) => {
    const [a, b] = await ready(context)
    await b.receive(5, 0, ROUTE)
    await sendTo(a, b, 6, 0, { local: [] })
    assert.equal((await b.receivedWith(Success, 5)).byteLength, ROUTE)
  }),
  rule('ud: header and payload are scattered across segments', `${SERVICE} sg_list`, async (context) => {
    const [a, b] = await ready(context)
    await b.receiveInto({ id: 5, local: [b.segment(0, ROUTE), b.segment(100, 2), b.segment(200, 50)] })
    await a.fill(0, [1, 2, 3, 4, 5])
    await sendTo(a, b, 6, 5)
    assert.equal((await b.receivedWith(Success, 5)).byteLength, ROUTE + 5)
    assert.deepEqual([...(await b.bytes(100, 3)), ...(await b.bytes(200, 4))], [1, 2, 0, 3, 4, 5, 0])
  }),
  rule('ud: inline bytes', 'ibv_post_send(3) IBV_SEND_INLINE', async (context) => {
    const [a, b] = await ready(context)
    await b.receive(5, 0, 64)
    await sendTo(a, b, 6, 0, { local: [], bytes: Uint8Array.of(5, 6) })
    await a.sentWith(Success, 6)
    await b.receivedWith(Success, 5)
    assert.deepEqual(await b.bytes(ROUTE, 2), [5, 6])
  }),
  rule('ud: a datagram with another queue key is dropped', 'IB specification 9.6.1.4 (Q_Key)', async (context) => {
    const [a, b] = await ready(context)
    await b.receive(5, 0, 64)
    await a.fill(0, [1])
    await sendTo(a, b, 6, 1, { queueKey: QUEUE_KEY + 1 })
    await a.sentWith(Success, 6)
    await a.fill(0, [2])
    await sendTo(a, b, 7, 1)
    await a.sentWith(Success, 7)
    await b.receivedWith(Success, 5)
    assert.deepEqual(await b.bytes(ROUTE, 1), [2])
  }),
  rule(
    'ud: a queue key with the high bit set sends that of the queue pair',
    'IB specification 10.2.5',
    async (context) => {
      const [a, b] = await ready(context)
      await b.receive(5, 0, 64)
      await sendTo(a, b, 6, 1, { queueKey: 0x80000000 })
      await a.sentWith(Success, 6)
      await b.receivedWith(Success, 5)
    },
  ),
  rule('ud: a datagram for which no receive is posted is lost', `${SERVICE}; rxe_resp.c, class D`, async (context) => {
    const [a, b] = await ready(context)
    let arrived: readonly number[] = []
    // That it has left does not mean that it has arrived: on a slow machine it may find the next receive.
    for (let attempt = 0; attempt < ATTEMPTS && arrived[0] !== 99; attempt += 1) {
      await a.fill(0, [attempt])
      await sendTo(a, b, 1, 1)
      await a.sentWith(Success, 1)
      await b.expectNothing()
      arrived = await nextOf(a, b)
    }
    assert.deepEqual(arrived, [99])
  }),
  rule('ud: a datagram longer than the receive does not arrive', `${SERVICE}; rxe_resp.c, class D`, async (context) => {
    const [a, b] = await ready(context)
    await b.receive(5, 0, ROUTE + 3)
    await sendTo(a, b, 6, 4)
    await a.sentWith(Success, 6)
    const rows = await b.player.poll(b.receiveQueue, 1)
    assert.ok(rows.every((row) => row.status === CompletionStatus.LocalLengthError))
    assert.deepEqual(await b.bytes(ROUTE + 3, 1), [0])
  }),
  rule(
    'ud: more than a packet holds is not sent, and is not an error',
    'IB specification C10-93.1.1',
    async (context) => {
      const [a, b] = await ready(context)
      await b.receive(5, 0, 8192)
      await sendTo(a, b, 6, 4097)
      await a.sentWith(Success, 6)
      await b.expectNothing()
    },
  ),
  rule('ud: datagrams to a queue pair that does not exist are lost', SERVICE, async (context) => {
    const [a, b] = await ready(context)
    const addressHandle = await a.player.addressHandle(a.domain, { gid: b.gid, hopLimit: 64 })
    const to = { addressHandle, number: b.pair.number ^ 0xfff000, queueKey: QUEUE_KEY }
    await a.post({ id: 1, opcode: Opcode.Send, local: [a.segment(0, 1)], to })
    await a.sentWith(Success, 1)
    await expectNextOnly(a, b)
  }),
  rule('ud: WRITE is refused', 'IB specification table 35; rxe wr_opcode_mask', async (context) => {
    const [a, b] = await ready(context)
    await context.refused('EINVAL', sendTo(a, b, 1, 1, { opcode: Opcode.Write, remote: b.target(0) }))
  }),
  rule('ud: several send to one, and one to several', SERVICE, async (context) => {
    const [a, b] = await ready(context)
    const c = await context.end(0, { type: 'ud' })
    await c.connect(b.pair.endpoint)
    for (let id = 0; id < 6; id += 1) await b.receive(id, 64 * id, 64)
    await c.receive(50, 0, 64)
    for (let round = 0; round < 3; round += 1) {
      await sendTo(a, b, round, 1)
      await sendTo(c, b, round, 1)
    }
    await sendTo(b, c, 9, 1)
    const sources = (await b.received(6)).map((completion) => completion.sourceQueuePair)
    assert.deepEqual(sources.sort(), [...Array(3).fill(a.pair.number), ...Array(3).fill(c.pair.number)].sort())
    assert.equal((await c.receivedWith(Success, 50)).sourceQueuePair, b.pair.number)
  }),
  rule('ud: a queue pair sends to itself', SERVICE, async (context) => {
    const [a] = await ready(context)
    await a.receive(1, 0, 64)
    await sendTo(a, a, 2, 1)
    await a.sentWith(Success, 2)
    assert.equal((await a.receivedWith(Success, 1)).sourceQueuePair, a.pair.number)
  }),
  rule(
    'ud: receives are used in the order of their posts, round after round',
    'IB specification 10.8.3.3',
    async (context) => {
      const [a, b] = await ready(context)
      const { maxReceiveRequests } = b.pair.capacities
      let id = 0
      for (let round = 0; round < 3; round += 1) {
        const first = id
        for (let index = 0; index < maxReceiveRequests; index += 1, id += 1) await b.receive(id, 0, 64)
        await context.refused('ENOMEM', b.receive(999, 0, 64))
        for (let index = 0; index < maxReceiveRequests; index += 1) {
          await sendTo(a, b, index, 1)
          await a.sentWith(Success, index)
        }
        const received = (await b.received(maxReceiveRequests)).map((completion) => completion.id)
        assert.deepEqual(
          received,
          Array.from({ length: maxReceiveRequests }, (_, index) => first + index),
        )
      }
    },
  ),
  rule('ud: ERR flushes receives in the order of their posts', 'IB specification 10.3.1.7', async (context) => {
    const [a, b] = await ready(context)
    for (let id = 1; id <= 4; id += 1) await b.receive(id, 0, 64)
    await sendTo(a, b, 9, 1)
    await a.sentWith(Success, 9)
    await b.receivedWith(Success, 1)
    await b.modify({ state: QueuePairState.Error })
    const rows = await b.received(3)
    assert.deepEqual(
      rows.map(({ id, status }) => [id, status]),
      [2, 3, 4].map((id) => [id, Flushed]),
    )
    await b.receive(5, 0, 64)
    await b.receivedWith(Flushed, 5)
  }),
  rule('ud: RESET forgets receives and completions', 'ibv_modify_qp(3); IB specification 10.3.1.1', async (context) => {
    const [a, b] = await ready(context)
    await b.receive(1, 0, 64)
    await b.receive(2, 0, 64)
    await sendTo(a, b, 9, 1)
    await a.sentWith(Success, 9)
    await b.modify({ state: QueuePairState.Reset })
    await b.expectNothing()
    await b.connect(a.pair.endpoint)
    await b.expectNothing()
    await expectNextOnly(a, b)
  }),
  rule(
    'an address handle without a global route is refused off InfiniBand',
    'RoCE annex A16.4.3; pyverbs test_addr',
    async (context) => {
      const a = await context.end(0)
      const { linkLayer } = await a.player.port(1)
      const made = a.player.addressHandle(a.domain, { gid: a.gid, global: false, localIdentifier: 1 })
      if (linkLayer === 'infiniband') await made
      else await context.refused('EINVAL', made)
    },
  ),
  rule('an address handle for a port that does not exist is refused', 'ibv_create_ah(3)', async (context) => {
    const a = await context.end(0)
    await context.refused('EINVAL', a.player.addressHandle(a.domain, { gid: a.gid, port: 99 }))
  }),
  rule('ud: what is sent to a group reaches every attached queue pair', MULTICAST, async (context) => {
    const [a, b] = await ready(context)
    const group = freshGroup()
    for (const end of [a, b]) {
      await end.player.attachMulticast(end.pair.handle, group)
      await end.receive(1, 0, 64)
    }
    const addressHandle = await a.player.addressHandle(a.domain, { gid: group, hopLimit: 1 })
    await a.fill(2000, [42])
    const to = { addressHandle, number: EVERYBODY, queueKey: QUEUE_KEY }
    await a.post({ id: 1, opcode: Opcode.Send, local: [a.segment(2000, 1)], to })
    await a.sentWith(Success, 1)
    await b.receivedWith(Success, 1)
    assert.deepEqual(await b.bytes(ROUTE, 1), [42])
    for (const end of [a, b]) await end.player.detachMulticast(end.pair.handle, group)
    await b.receive(2, 0, 64)
    await a.post({ id: 2, opcode: Opcode.Send, local: [a.segment(2000, 1)], to })
    await a.sentWith(Success, 2)
    await b.expectNothing()
  }),
  rule('a queue pair that is attached to a group cannot be destroyed', MULTICAST, async (context) => {
    const [a] = await ready(context)
    const group = freshGroup()
    await a.player.attachMulticast(a.pair.handle, group)
    await context.refused('EBUSY', a.player.close(a.pair.handle))
    await a.player.detachMulticast(a.pair.handle, group)
    await a.player.close(a.pair.handle)
  }),
  rule(
    'only a multicast gid can be attached to, only by ud, and only detached when attached',
    MULTICAST,
    async (context) => {
      const [a] = await ready(context)
      const connected = await context.end(0)
      await context.refused('EINVAL', a.player.attachMulticast(a.pair.handle, a.gid))
      await context.refused('EINVAL', connected.player.attachMulticast(connected.pair.handle, freshGroup()))
      await context.refused('EINVAL', a.player.detachMulticast(a.pair.handle, freshGroup()))
    },
  ),
]
