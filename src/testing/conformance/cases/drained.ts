import { CompletionStatus, QueuePairState } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { assert, type Context, type End, Flushed, Opcode, Success } from '../context.ts'

const DRAIN = 'IB specification 10.3.1.5 (SQD); ibv_modify_qp(3)'
const S = QueuePairState

function write(a: End, b: End, id: number, fence = false): Promise<void> {
  return a.post({ id, opcode: Opcode.Write, local: [a.segment(0, 8)], remote: b.target(0), fence })
}

async function untilEvent(context: Context, end: End, name: string): Promise<void> {
  await context.until(async () => {
    await end.player.poll(end.receiveQueue, 1)
    return (await end.player.events()).some((event) => event.name === name && event.about === end.pair.handle)
  }, 10_000)
}

/** Draining a send queue, fences, and the way back from the error state. */
export const drainedCases: readonly ConformanceCase[] = [
  rule('what is posted in SQD waits for RTS', DRAIN, async (context) => {
    const [a, b] = await context.connected()
    await a.modify({ state: S.SendQueueDrained })
    await a.fill(0, [5])
    await write(a, b, 1)
    await a.expectNothing()
    assert.deepEqual(await b.bytes(0, 1), [0])
    await a.modify({ state: S.ReadyToSend })
    await a.sentWith(Success, 1)
    assert.deepEqual(await b.bytes(0, 1), [5])
  }),
  rule('a queue pair in SQD goes on receiving', DRAIN, async (context) => {
    const [a, b] = await context.connected()
    await a.receive(1, 0, 8)
    await a.modify({ state: S.SendQueueDrained })
    await b.post({ id: 2, opcode: Opcode.Send, local: [b.segment(0, 1)] })
    await b.sentWith(Success, 2)
    await a.receivedWith(Success, 1)
  }),
  rule(
    'the event of a drained send queue comes where it was asked for',
    `${DRAIN} en_sqd_async_notify`,
    async (context) => {
      const [a, b] = await context.connected()
      await write(a, b, 1)
      await a.sentWith(Success, 1)
      await a.modify({ state: S.SendQueueDrained, sqdNotify: true })
      await untilEvent(context, a, 'SendQueueDrained')
    },
  ),
  rule('a request that has begun is finished in SQD, and only then the queue is drained', DRAIN, async (context) => {
    const [a, b] = await context.connected()
    await a.post({ id: 1, opcode: Opcode.Send, local: [a.segment(0, 1)] })
    await a.expectNothing()
    await a.modify({ state: S.SendQueueDrained, sqdNotify: true })
    assert.deepEqual(await a.player.events(), [])
    await b.receive(2, 0, 8)
    await a.sentWith(Success, 1)
    await b.receivedWith(Success, 2)
    await untilEvent(context, a, 'SendQueueDrained')
  }),
  rule('attributes change in SQD and hold afterwards', `${DRAIN} SQD -> SQD`, async (context) => {
    const [a, b] = await context.connected()
    await a.modify({ state: S.SendQueueDrained })
    await a.modify({ state: S.SendQueueDrained, timeout: 11, retryCount: 3 })
    await a.modify({ state: S.ReadyToSend })
    const { timeout, retryCount } = await a.player.query(a.pair.handle)
    assert.deepEqual([timeout, retryCount], [11, 3])
    await write(a, b, 1)
    await a.sentWith(Success, 1)
  }),
  rule('ERR from SQD flushes what waited there', DRAIN, async (context) => {
    const [a, b] = await context.connected()
    await a.modify({ state: S.SendQueueDrained })
    await write(a, b, 1)
    await a.modify({ state: S.Error })
    await a.sentWith(Flushed, 1)
  }),
  rule(
    'both ends go from ERR through RESET to work again',
    'ibv_modify_qp(3); IB specification 10.3.1',
    async (context) => {
      const [a, b] = await context.connected()
      await b.receive(1, 0, 8)
      const remote = { ...b.target(0), key: (b.memory.remoteKey ^ 0x100) >>> 0 }
      await a.post({ id: 2, opcode: Opcode.Write, local: [a.segment(0, 8)], remote })
      await a.sentWith(CompletionStatus.RemoteAccessError, 2)
      await b.receivedWith(Flushed, 1)
      for (const end of [a, b]) await end.modify({ state: S.Reset })
      await a.connect(b.pair.endpoint)
      await b.connect(a.pair.endpoint)
      await b.receive(3, 0, 8)
      await a.post({ id: 4, opcode: Opcode.Send, local: [a.segment(0, 1)] })
      await a.sentWith(Success, 4)
      await b.receivedWith(Success, 3)
    },
  ),
  rule(
    'a fenced request sees what the READ before it brought',
    'ibv_post_send(3) IBV_SEND_FENCE; IB specification 10.8.3.3',
    async (context) => {
      const [a, b] = await context.connected()
      await b.fill(0, [1, 2, 3, 4, 5, 6, 7, 8])
      await b.receive(1, 100, 8)
      await a.post({ id: 2, opcode: Opcode.Read, local: [a.segment(0, 8)], remote: b.target(0), signaled: false })
      await a.post({ id: 3, opcode: Opcode.Send, local: [a.segment(0, 8)], fence: true })
      await a.sentWith(Success, 3)
      await b.receivedWith(Success, 1)
      assert.deepEqual(await b.bytes(100, 8), [1, 2, 3, 4, 5, 6, 7, 8])
    },
  ),
  rule('a fenced request without anything before it runs', 'ibv_post_send(3) IBV_SEND_FENCE', async (context) => {
    const [a, b] = await context.connected()
    await write(a, b, 1, true)
    await a.sentWith(Success, 1)
  }),
  rule(
    'more READs than maxReadAtomic wait for each other',
    'ibv_modify_qp(3) max_rd_atomic; IB specification 9.7.3.4',
    async (context) => {
      const [a, b] = await context.connected({}, { maxReadAtomic: 1, maxDestinationReadAtomic: 1 })
      await b.fill(0, [1, 2, 3, 4, 5, 6, 7, 8])
      for (let id = 0; id < 8; id += 1)
        await a.post({ id, opcode: Opcode.Read, local: [a.segment(8 * id, 8)], remote: b.target(0) })
      assert.deepEqual(
        (await a.sent(8)).map(({ id, status }) => [id, status]),
        Array.from({ length: 8 }, (_, id) => [id, Success]),
      )
      assert.deepEqual(await a.bytes(56, 8), [1, 2, 3, 4, 5, 6, 7, 8])
    },
  ),
  rule(
    'maxReadAtomic beyond the device is refused',
    'ibv_modify_qp(3) EINVAL; ibv_query_device(3) max_qp_init_rd_atom',
    async (context) => {
      const [a, b] = [await context.end(0), await context.end(1)]
      await a.init()
      await a.readyToReceive(b.pair.endpoint)
      await context.refused('EINVAL', a.readyToSend({ maxReadAtomic: 255 }))
      assert.equal(await a.player.state(a.pair.handle), S.ReadyToReceive)
    },
  ),
  rule(
    'an endpoint says how many READs it has under way and serves',
    'contract: both ends take the smaller',
    async (context) => {
      const a = await context.end(0)
      const { initiatorDepth = 0, responderResources = 0 } = a.pair.endpoint
      assert.ok(initiatorDepth >= 1 && responderResources >= 1)
    },
  ),
]
