import { CompletionOpcode, CompletionStatus, QueuePairState } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { assert, type Context, type End, Flushed, Opcode, Success } from '../context.ts'

const SERVICE = 'IB specification 9.8.2 (unreliable connection)'
const FAILED: readonly number[] = [QueuePairState.SendQueueError, QueuePairState.Error]

function connected(context: Context): Promise<readonly [End, End]> {
  return context.connected({ type: 'uc' })
}

/** Unreliable connections: requests are not answered, so an error at the peer is not reported. */
export const unreliableCases: readonly ConformanceCase[] = [
  rule('uc: a message lands in the receive request', SERVICE, async (context) => {
    const [a, b] = await connected(context)
    await b.receive(5, 100, 50)
    await a.fill(0, [1, 2, 3])
    await a.post({ id: 6, opcode: Opcode.SendWithImmediate, local: [a.segment(0, 3)], immediate: 77 })
    await a.sentWith(Success, 6)
    const received = await b.receivedWith(Success, 5)
    assert.equal(received.byteLength, 3)
    assert.equal(received.immediate, 77)
    assert.deepEqual(await b.bytes(99, 5), [0, 1, 2, 3, 0])
  }),
  rule('uc: WRITE, and WRITE with immediate, land in remote memory', SERVICE, async (context) => {
    const [a, b] = await connected(context)
    await b.receiveInto({ id: 5, local: [] })
    await a.fill(0, [1, 2, 3, 4])
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 4)], remote: b.target(64) })
    const local = [a.segment(0, 2)]
    await a.post({ id: 2, opcode: Opcode.WriteWithImmediate, local, remote: b.target(96), immediate: 9 })
    await a.sent(2)
    const received = await b.receivedWith(Success, 5)
    assert.equal(received.opcode, CompletionOpcode.ReceiveWriteWithImmediate)
    assert.deepEqual(await b.bytes(64, 5), [1, 2, 3, 4, 0])
    assert.deepEqual(await b.bytes(96, 3), [1, 2, 0])
  }),
  rule('uc: READ is refused', 'IB specification table 35; rxe wr_opcode_mask', async (context) => {
    const [a, b] = await connected(context)
    const read = { id: 1, opcode: Opcode.Read, local: [a.segment(0, 8)], remote: b.target(0) }
    await context.refused('EINVAL', a.post(read))
  }),
  rule('uc: atomics are refused', 'IB specification table 35; rxe wr_opcode_mask', async (context) => {
    const [a, b] = await connected(context)
    for (const opcode of [Opcode.FetchAdd, Opcode.CompareSwap]) {
      const atomic = { id: 1, opcode, local: [a.segment(0, 8)], remote: b.target(0) }
      await context.refused('EINVAL', a.post(atomic))
    }
  }),
  rule(
    'uc: a message for which no receive is posted is lost, and its sender sees success',
    SERVICE,
    async (context) => {
      const [a, b] = await connected(context)
      await a.fill(0, [1])
      await a.post({ id: 1, opcode: Opcode.Send, local: [a.segment(0, 1)] })
      await a.sentWith(Success, 1)
      await b.receive(2, 0, 8)
      await a.fill(0, [2])
      await a.post({ id: 3, opcode: Opcode.Send, local: [a.segment(0, 1)] })
      await a.sentWith(Success, 3)
      await b.receivedWith(Success, 2)
      assert.deepEqual(await b.bytes(0, 1), [2])
    },
  ),
  rule(
    'uc: a message longer than the receive is lost, and the receive waits for the next',
    'rxe_resp.c, class D',
    async (context) => {
      const [a, b] = await connected(context)
      await b.receive(1, 0, 4)
      await a.fill(0, [7, 7, 7, 7, 7])
      await a.post({ id: 2, opcode: Opcode.Send, local: [a.segment(0, 5)] })
      await a.sentWith(Success, 2)
      await a.fill(0, [8])
      await a.post({ id: 3, opcode: Opcode.Send, local: [a.segment(0, 1)] })
      await a.sentWith(Success, 3)
      assert.equal((await b.receivedWith(Success, 1)).byteLength, 1)
      assert.deepEqual(await b.bytes(0, 1), [8])
      assert.equal(await b.player.state(b.pair.handle), QueuePairState.ReadyToSend)
    },
  ),
  rule('uc: a WRITE with a wrong key is lost silently', `${SERVICE}; rxe_resp.c, class D`, async (context) => {
    const [a, b] = await connected(context)
    await a.fill(0, [9])
    const remote = { ...b.target(0), key: (b.memory.remoteKey ^ 0x100) >>> 0 }
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 1)], remote })
    await a.sentWith(Success, 1)
    await a.post({ id: 2, opcode: Opcode.Write, local: [a.segment(0, 1)], remote: b.target(8) })
    await a.sentWith(Success, 2)
    await context.until(async () => (await b.bytes(8, 1))[0] === 9, 10_000)
    assert.deepEqual(await b.bytes(0, 1), [0])
    assert.equal(await b.player.state(b.pair.handle), QueuePairState.ReadyToSend)
  }),
  rule('uc: a peer that is gone is not noticed', SERVICE, async (context) => {
    const [a, b] = await connected(context)
    await b.player.close(b.pair.handle)
    await a.post({ id: 1, opcode: Opcode.Send, local: [a.segment(0, 1)] })
    await a.sentWith(Success, 1)
  }),
  rule(
    'uc: a bad local key fails the request and flushes what follows',
    'IB specification 10.3.1.6',
    async (context) => {
      const [a] = await connected(context)
      const local = [{ ...a.segment(0, 1), key: (a.memory.localKey ^ 1) >>> 0 }]
      await a.post({ id: 1, opcode: Opcode.Send, local })
      await a.sentWith(CompletionStatus.LocalProtectionError, 1)
      assert.ok(FAILED.includes(await a.player.state(a.pair.handle)))
      await a.post({ id: 2, opcode: Opcode.Send, local: [a.segment(0, 1)] })
      await a.sentWith(Flushed, 2)
    },
  ),
  rule(
    'uc: a failed send queue goes on after SQE -> RTS, or after ERR -> RESET',
    'ibv_modify_qp(3)',
    async (context) => {
      const [a, b] = await connected(context)
      await a.post({ id: 1, opcode: Opcode.Send, local: [{ ...a.segment(0, 1), key: (a.memory.localKey ^ 1) >>> 0 }] })
      await a.sentWith(CompletionStatus.LocalProtectionError, 1)
      if ((await a.player.state(a.pair.handle)) === QueuePairState.SendQueueError)
        await a.modify({ state: QueuePairState.ReadyToSend })
      else {
        await a.modify({ state: QueuePairState.Reset })
        await a.connect(b.pair.endpoint)
      }
      await b.receive(2, 0, 8)
      await a.post({ id: 3, opcode: Opcode.Send, local: [a.segment(0, 1)] })
      await a.sentWith(Success, 3)
      await b.receivedWith(Success, 2)
    },
  ),
]
