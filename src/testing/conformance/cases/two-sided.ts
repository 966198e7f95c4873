import { Access, CompletionOpcode, CompletionStatus } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { assert, expectStatus, Flushed, Opcode, Success } from '../context.ts'

const SEND = 'ibv_post_send(3), ibv_post_recv(3)'

/** SEND and RECV. */
export const twoSidedCases: readonly ConformanceCase[] = [
  rule('a message lands in the receive request, with its length on both sides', SEND, async (context) => {
    const [a, b] = await context.connected()
    await b.receive(5, 100, 50)
    await a.fill(0, [1, 2, 3, 4])
    await a.post({ id: 6, opcode: Opcode.Send, local: [a.segment(0, 4)] })
    const sent = await a.sentWith(Success, 6)
    const received = await b.receivedWith(Success, 5)
    assert.equal(sent.opcode, CompletionOpcode.Send)
    assert.equal(received.opcode, CompletionOpcode.Receive)
    assert.equal(received.byteLength, 4)
    assert.equal(received.queuePairNumber, b.pair.number)
    assert.equal(received.flags & 2, 0)
    assert.deepEqual(await b.bytes(99, 6), [0, 1, 2, 3, 4, 0])
  }),
  rule('SEND with immediate carries 32 bits in host order', `${SEND} IBV_WR_SEND_WITH_IMM`, async (context) => {
    const [a, b] = await context.connected()
    await b.receive(5, 100, 50)
    await a.post({ id: 6, opcode: Opcode.SendWithImmediate, local: [a.segment(0, 1)], immediate: 0x89abcdef })
    await a.sentWith(Success, 6)
    const received = await b.receivedWith(Success, 5)
    assert.equal(received.immediate, 0x89abcdef)
    assert.equal(received.flags & 2, 2)
  }),
  rule('a message without bytes uses up a receive', `${SEND}; pyverbs zero-size tests`, async (context) => {
    const [a, b] = await context.connected()
    await b.receiveInto({ id: 5, local: [] })
    await a.post({ id: 6, opcode: Opcode.Send, local: [] })
    await a.sentWith(Success, 6)
    assert.equal((await b.receivedWith(Success, 5)).byteLength, 0)
  }),
  rule('receives are used in the order of their posts', 'IB specification 10.8.3.3', async (context) => {
    const [a, b] = await context.connected()
    for (let id = 1; id <= 8; id += 1) await b.receive(id, id * 16, 16)
    for (let id = 1; id <= 8; id += 1) {
      await a.fill(id, [id])
      await a.post({ id, opcode: Opcode.Send, local: [a.segment(id, 1)] })
    }
    await a.sent(8)
    assert.deepEqual(
      (await b.received(8)).map((completion) => completion.id),
      [1, 2, 3, 4, 5, 6, 7, 8],
    )
    for (let id = 1; id <= 8; id += 1) assert.deepEqual(await b.bytes(id * 16, 1), [id])
  }),
  rule('a message is gathered and scattered across unequal segments', `${SEND} sg_list`, async (context) => {
    const [a, b] = await context.connected()
    await a.fill(0, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    await b.receiveInto({ id: 1, local: [b.segment(0, 1), b.segment(100, 5), b.segment(200, 50)] })
    await a.post({ id: 2, opcode: Opcode.Send, local: [a.segment(0, 4), a.segment(4, 6)] })
    await a.sentWith(Success)
    assert.equal((await b.receivedWith(Success)).byteLength, 10)
    assert.deepEqual(
      [...(await b.bytes(0, 2)), ...(await b.bytes(100, 6)), ...(await b.bytes(200, 5))],
      [1, 0, 2, 3, 4, 5, 6, 0, 7, 8, 9, 10, 0],
    )
  }),
  rule('a message as long as the receive fits', SEND, async (context) => {
    const [a, b] = await context.connected()
    await b.receive(1, 0, 64)
    await a.post({ id: 2, opcode: Opcode.Send, local: [a.segment(0, 64)] })
    await a.sentWith(Success)
    assert.equal((await b.receivedWith(Success)).byteLength, 64)
  }),
  rule(
    'a message longer than the receive fails on both sides',
    'IB specification 9.7.5.1.6, C9-130: local length error, NAK invalid request',
    async (context) => {
      const [a, b] = await context.connected()
      await b.receive(1, 0, 63)
      await a.post({ id: 2, opcode: Opcode.Send, local: [a.segment(0, 64)] })
      await a.sentWith(CompletionStatus.RemoteInvalidRequest, 2)
      await b.receivedWith(CompletionStatus.LocalLengthError, 1)
      await b.untilState(6)
      assert.equal(await a.player.state(a.pair.handle), 6)
      assert.deepEqual(await b.bytes(63, 1), [0])
    },
  ),
  rule(
    'a receive request whose memory is not writable fails on both sides',
    'IB specification C9-131; rxe_resp.c',
    async (context) => {
      const [a, b] = await context.connected()
      const memory = await b.player.allocate(b.domain, 4096, Access.RemoteRead)
      await b.receiveInto({ id: 1, local: [b.segment(0, 64, memory)] })
      await a.post({ id: 2, opcode: Opcode.Send, local: [a.segment(0, 8)] })
      await a.sentWith(CompletionStatus.RemoteOperationError, 2)
      await b.receivedWith(CompletionStatus.LocalProtectionError, 1)
      await b.untilState(6)
    },
  ),
  rule(
    'a receive request with a bad local key fails on both sides',
    'pyverbs test_mr_rereg_addr; rxe_resp.c',
    async (context) => {
      const [a, b] = await context.connected()
      await b.receiveInto({ id: 1, local: [{ ...b.segment(0, 64), key: (b.memory.localKey ^ 1) >>> 0 }] })
      await a.post({ id: 2, opcode: Opcode.Send, local: [a.segment(0, 8)] })
      await a.sentWith(CompletionStatus.RemoteOperationError, 2)
      await b.receivedWith(CompletionStatus.LocalProtectionError, 1)
    },
  ),
  rule(
    'a receive request in memory of another domain fails on both sides',
    'pyverbs test_mr_rereg_pd',
    async (context) => {
      const [a, b] = await context.connected()
      const foreign = await b.player.allocate(await b.player.domain(), 4096, 15)
      await b.receiveInto({ id: 1, local: [b.segment(0, 64, foreign)] })
      await a.post({ id: 2, opcode: Opcode.Send, local: [a.segment(0, 8)] })
      await a.sentWith(CompletionStatus.RemoteOperationError, 2)
      await b.receivedWith(CompletionStatus.LocalProtectionError, 1)
    },
  ),
  rule(
    'a receive request in memory that was closed meanwhile fails on both sides',
    'pyverbs test_mr_rereg_addr',
    async (context) => {
      const [a, b] = await context.connected()
      const memory = await b.player.allocate(b.domain, 4096, 15)
      await b.receiveInto({ id: 1, local: [b.segment(0, 64, memory)] })
      await b.player.close(memory.handle)
      await a.post({ id: 2, opcode: Opcode.Send, local: [a.segment(0, 8)] })
      await a.sentWith(CompletionStatus.RemoteOperationError, 2)
      await b.receivedWith(CompletionStatus.LocalProtectionError, 1)
    },
  ),
  rule(
    'a receive may be posted in INIT and is used after RTR',
    'ibv_post_recv(3); IB specification 10.3.1',
    async (context) => {
      const a = await context.end(0)
      const b = await context.end(1)
      await b.init()
      await b.receive(9, 0, 16)
      await b.readyToReceive(a.pair.endpoint)
      await a.connect(b.pair.endpoint)
      await a.post({ id: 1, opcode: Opcode.Send, local: [a.segment(0, 1)] })
      await a.sentWith(Success)
      await b.receivedWith(Success, 9)
    },
  ),
  rule('a responder in RTR serves requests', 'IB specification 10.3.1: RTR receives', async (context) => {
    const a = await context.end(0)
    const b = await context.end(1)
    await b.init()
    await b.readyToReceive(a.pair.endpoint)
    await a.connect(b.pair.endpoint)
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 8)], remote: b.target(0) })
    await a.sentWith(Success)
  }),
  rule('a receiver that is not ready is waited for', 'ibv_modify_qp(3) min_rnr_timer, rnr_retry 7', async (context) => {
    const [a, b] = await context.connected()
    await a.fill(0, [8])
    await a.post({ id: 1, opcode: Opcode.Send, local: [a.segment(0, 1)] })
    await a.expectNothing()
    await b.receive(2, 0, 16)
    await a.sentWith(Success, 1)
    await b.receivedWith(Success, 2)
    assert.deepEqual(await b.bytes(0, 1), [8])
  }),
  rule(
    'what is posted behind a waiting SEND waits too, and keeps the order',
    'IB specification 10.8.3.3',
    async (context) => {
      const [a, b] = await context.connected()
      await a.post({ id: 1, opcode: Opcode.Send, local: [a.segment(0, 1)] })
      await a.fill(8, [5])
      await a.post({ id: 2, opcode: Opcode.Write, local: [a.segment(8, 1)], remote: b.target(300) })
      await a.expectNothing()
      assert.deepEqual(await b.bytes(300, 1), [0])
      await b.receive(3, 0, 16)
      assert.deepEqual(
        (await a.sent(2)).map((completion) => completion.id),
        [1, 2],
      )
      assert.deepEqual(await b.bytes(300, 1), [5])
    },
  ),
  rule(
    'a waiting SEND takes its bytes when it is carried out, an inline one at the post',
    `${SEND} IBV_SEND_INLINE`,
    async (context) => {
      const [a, b] = await context.connected()
      await a.post({ id: 1, opcode: Opcode.Send, bytes: Uint8Array.of(11, 12) })
      await b.receive(2, 0, 16)
      await a.sentWith(Success, 1)
      await b.receivedWith(Success, 2)
      assert.deepEqual(await b.bytes(0, 3), [11, 12, 0])
    },
  ),
  rule(
    'WRITE with immediate waits for a receive as a SEND does',
    'IB specification 9.7.5.2.8; rxe_resp.c check_resource',
    async (context) => {
      const [a, b] = await context.connected()
      await a.post({
        id: 1,
        opcode: Opcode.WriteWithImmediate,
        local: [a.segment(0, 8)],
        remote: b.target(0),
        immediate: 3,
      })
      await a.expectNothing()
      await b.receiveInto({ id: 2, local: [] })
      await a.sentWith(Success, 1)
      assert.equal((await b.receivedWith(Success, 2)).immediate, 3)
    },
  ),
  rule(
    'a receiver that stays not ready exhausts rnrRetry',
    'ibv_modify_qp(3) rnr_retry; IB specification 9.7.5.2.8',
    async (context) => {
      const [a, b] = await context.connected({}, { rnrRetry: 2, minRnrTimer: 1 })
      await a.post({ id: 1, opcode: Opcode.Send, local: [a.segment(0, 1)] })
      await a.post({ id: 2, opcode: Opcode.Send, local: [a.segment(0, 1)] })
      await a.sentWith(CompletionStatus.ReceiverNotReadyRetryExceeded, 1)
      await a.sentWith(Flushed, 2)
      assert.equal(await a.player.state(a.pair.handle), 6)
      assert.equal(await b.player.state(b.pair.handle), 3)
    },
  ),
  rule('rnrRetry 0 does not wait at all', 'ibv_modify_qp(3) rnr_retry', async (context) => {
    const [a] = await context.connected({}, { rnrRetry: 0 })
    await a.post({ id: 1, opcode: Opcode.Send, local: [a.segment(0, 1)] })
    await a.sentWith(CompletionStatus.ReceiverNotReadyRetryExceeded, 1)
  }),
  rule('more messages than the ring has slots go round', 'contract: rings wrap', async (context) => {
    const [a, b] = await context.connected({ maxReceiveRequests: 4, maxSendRequests: 4 })
    for (let id = 1; id <= 50; id += 1) {
      await b.receive(id, 0, 16)
      await a.fill(0, [id])
      await a.post({ id, opcode: Opcode.Send, local: [a.segment(0, 1)] })
      expectStatus((await a.sent(1))[0] as never, Success, id)
      await b.receivedWith(Success, id)
      assert.deepEqual(await b.bytes(0, 1), [id])
    }
  }),
]
