import { CompletionOpcode, CompletionStatus, QueuePairState } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { assert, type Context, type End, Flushed, Opcode, QUEUE_KEY, Success } from '../context.ts'
import type { Handle } from '../player-data.ts'

const SRQ = 'ibv_create_srq(3)'
const POST = 'ibv_post_srq_recv(3)'
const MODIFY = 'ibv_modify_srq(3)'
const SPECIFICATION = 'IB specification 10.2.9 (shared receive queues)'

/** Two senders of player 0, and the two receivers of player 1 that share a queue. */
interface Shared {
  readonly senders: readonly [End, End]
  readonly receivers: readonly [End, End]
  readonly queue: Handle
}

async function share(context: Context, maxRequests = 16, limit = 0): Promise<Shared> {
  const plain = await context.end(1)
  const { handle: queue } = await plain.player.sharedQueue(plain.domain, { maxRequests, maxSegments: 2, limit })
  const make = async (): Promise<readonly [End, End]> => {
    const sender = await context.end(0)
    const receiver = await context.end(1, { sharedReceiveQueue: queue, within: plain })
    await sender.connect(receiver.pair.endpoint)
    await receiver.connect(sender.pair.endpoint)
    return [sender, receiver]
  }
  const [one, other] = [await make(), await make()]
  return { senders: [one[0], other[0]], receivers: [one[1], other[1]], queue }
}

function receive({ receivers: [end], queue }: Shared, id: number, offset: number, length: number): Promise<void> {
  return end.player.receiveShared(queue, { id, local: [end.segment(offset, length)] })
}

function send(end: End, id: number, length = 1): Promise<void> {
  return end.post({ id, opcode: Opcode.Send, local: [end.segment(0, length)] })
}

async function names(end: End): Promise<string[]> {
  return (await end.player.events()).map(({ name }) => name)
}

/** Shared receive queues. */
export const sharedReceiveCases: readonly ConformanceCase[] = [
  rule('queue pairs that share receives take them in turn, and complete where each says', SRQ, async (context) => {
    const shared = await share(context)
    const { senders, receivers } = shared
    await receive(shared, 1, 100, 16)
    await receive(shared, 2, 200, 16)
    await senders[1].fill(0, [11])
    await send(senders[1], 7)
    await senders[1].sentWith(Success, 7)
    await senders[0].fill(0, [22])
    await send(senders[0], 8)
    await senders[0].sentWith(Success, 8)
    const first = await receivers[1].receivedWith(Success, 1)
    const second = await receivers[0].receivedWith(Success, 2)
    assert.equal(first.queuePairNumber, receivers[1].pair.number)
    assert.equal(second.queuePairNumber, receivers[0].pair.number)
    assert.deepEqual([...(await receivers[0].bytes(100, 1)), ...(await receivers[0].bytes(200, 1))], [11, 22])
  }),
  rule('a queue pair that shares receives takes none of its own', 'ibv_post_recv(3) EINVAL', async (context) => {
    const { receivers } = await share(context)
    await context.refused('EINVAL', receivers[0].receive(1, 0, 8))
  }),
  rule('a shared queue takes as many requests as it says and refuses the next', `${POST} ENOMEM`, async (context) => {
    const shared = await share(context, 4)
    const { maxRequests } = await shared.receivers[0].player.querySharedQueue(shared.queue)
    for (let id = 0; id < maxRequests; id += 1) await receive(shared, id, 0, 8)
    await context.refused('ENOMEM', receive(shared, 99, 0, 8))
  }),
  rule('a shared queue gives at least what was asked for', 'ibv_query_srq(3); pyverbs test_srq', async (context) => {
    const { receivers, queue } = await share(context, 10)
    const { maxRequests, maxSegments, limit } = await receivers[0].player.querySharedQueue(queue)
    assert.ok(maxRequests >= 10 && maxSegments >= 2)
    assert.equal(limit, 0)
  }),
  rule('shared receives may be posted before any queue pair is connected', POST, async (context) => {
    const end = await context.end(1)
    const { handle } = await end.player.sharedQueue(end.domain, { maxRequests: 4 })
    await end.player.receiveShared(handle, { id: 1, local: [end.segment(0, 8)] })
  }),
  rule('a shared queue that is used cannot be destroyed', 'ibv_destroy_srq(3) EBUSY', async (context) => {
    const { receivers, queue } = await share(context)
    await context.refused('EBUSY', receivers[0].player.close(queue))
    for (const end of receivers) await end.player.close(end.pair.handle)
    await receivers[0].player.close(queue)
  }),
  rule('more messages than a shared queue has slots go round', SPECIFICATION, async (context) => {
    const shared = await share(context, 4)
    const { senders, receivers } = shared
    for (let id = 1; id <= 40; id += 1) {
      const lane = (id % 2) as 0 | 1
      await receive(shared, id, 0, 16)
      await senders[lane].fill(0, [id])
      await send(senders[lane], id)
      await senders[lane].sentWith(Success, id)
      await receivers[lane].receivedWith(Success, id)
      assert.deepEqual(await receivers[0].bytes(0, 1), [id])
    }
  }),
  rule('the messages of one sender stay in order on a shared queue', SPECIFICATION, async (context) => {
    const shared = await share(context)
    for (let id = 1; id <= 8; id += 1) await receive(shared, id, id * 16, 16)
    for (let id = 1; id <= 8; id += 1) {
      await shared.senders[0].fill(0, [id])
      await send(shared.senders[0], id)
      // Only now may the sender change its byte again.
      await shared.senders[0].sent(1)
    }
    await shared.receivers[0].received(8)
    for (let id = 1; id <= 8; id += 1) assert.deepEqual(await shared.receivers[0].bytes(id * 16, 1), [id])
  }),
  rule('a SEND waits until a shared queue has a request', 'ibv_modify_qp(3) rnr_retry', async (context) => {
    const shared = await share(context)
    await send(shared.senders[0], 1)
    await shared.senders[0].expectNothing()
    await receive(shared, 2, 0, 16)
    await shared.senders[0].sentWith(Success, 1)
    await shared.receivers[0].receivedWith(Success, 2)
  }),
  rule('WRITE with immediate takes a shared receive', SPECIFICATION, async (context) => {
    const shared = await share(context)
    const [sender] = shared.senders
    const [receiver] = shared.receivers
    await shared.receivers[0].player.receiveShared(shared.queue, { id: 1, local: [] })
    const local = [sender.segment(0, 8)]
    await sender.post({ id: 2, opcode: Opcode.WriteWithImmediate, local, remote: receiver.target(0), immediate: 5 })
    await sender.sentWith(Success, 2)
    const received = await receiver.receivedWith(Success, 1)
    assert.equal(received.opcode, CompletionOpcode.ReceiveWriteWithImmediate)
    assert.equal(received.immediate, 5)
  }),
  rule(
    'a message longer than a shared receive fails on both sides, for that queue pair only',
    SPECIFICATION,
    async (context) => {
      const shared = await share(context)
      const { senders, receivers } = shared
      await receive(shared, 1, 0, 4)
      await receive(shared, 2, 64, 16)
      await send(senders[0], 5, 8)
      await senders[0].sentWith(CompletionStatus.RemoteInvalidRequest, 5)
      await receivers[0].receivedWith(CompletionStatus.LocalLengthError, 1)
      await receivers[0].untilState(QueuePairState.Error)
      await send(senders[1], 6)
      await senders[1].sentWith(Success, 6)
      await receivers[1].receivedWith(Success, 2)
    },
  ),
  rule(
    'ERR flushes no shared receive: the last request is reported, and others use the rest',
    'ibv_modify_qp(3); IB specification 11.6.3.1',
    async (context) => {
      const shared = await share(context)
      const { senders, receivers } = shared
      await receive(shared, 1, 0, 16)
      await receivers[0].modify({ state: QueuePairState.Error })
      await context.until(async () => (await names(receivers[0])).includes('LastRequestReached'), 10_000)
      await receivers[0].expectNothing()
      await send(senders[1], 6)
      await senders[1].sentWith(Success, 6)
      await receivers[1].receivedWith(Success, 1)
    },
  ),
  rule('fewer requests than the limit raise one event', `${MODIFY}; pyverbs test_srq`, async (context) => {
    const shared = await share(context)
    const { senders, receivers, queue } = shared
    const [receiver] = receivers
    for (let id = 0; id < 10; id += 1) await receive(shared, id, 0, 16)
    await receiver.player.modifySharedQueue(queue, { limit: 7 })
    for (let id = 0; id < 3; id += 1) await send(senders[0], id)
    await senders[0].sent(3)
    await receiver.received(3)
    assert.deepEqual(await names(receiver), [])
    await send(senders[0], 3)
    await senders[0].sent(1)
    await context.until(async () => {
      const events = await receiver.player.events()
      if (events.length === 0) return false
      assert.deepEqual(events, [{ name: 'SharedReceiveQueueLimitReached', about: queue }])
      return true
    }, 10_000)
    assert.equal((await receiver.player.querySharedQueue(queue)).limit, 0)
    await send(senders[0], 4)
    await senders[0].sent(1)
    await receiver.received(2)
    assert.deepEqual(await names(receiver), [])
  }),
  rule('a shared queue that grows keeps its requests and takes more', `${MODIFY} IBV_SRQ_MAX_WR`, async (context) => {
    const shared = await share(context, 4)
    const [receiver] = shared.receivers
    for (let id = 0; id < 4; id += 1) await receive(shared, id, id * 16, 16)
    await receiver.player.modifySharedQueue(shared.queue, { maxRequests: 40 })
    assert.ok((await receiver.player.querySharedQueue(shared.queue)).maxRequests >= 40)
    for (let id = 4; id < 20; id += 1) await receive(shared, id, id * 16, 16)
    for (let id = 0; id < 20; id += 1) {
      await shared.senders[0].fill(0, [id])
      await send(shared.senders[0], id)
      await shared.senders[0].sentWith(Success, id)
      await receiver.receivedWith(Success, id)
      assert.deepEqual(await receiver.bytes(id * 16, 1), [id])
    }
  }),
  rule('a shared queue cannot shrink below what is posted', `${MODIFY} EINVAL`, async (context) => {
    const shared = await share(context, 64)
    const { player } = shared.receivers[0]
    for (let id = 0; id < 40; id += 1) await receive(shared, id, 0, 16)
    await context.refused('EINVAL', player.modifySharedQueue(shared.queue, { maxRequests: 8 }))
    await send(shared.senders[0], 1)
    await shared.receivers[0].receivedWith(Success, 0)
  }),
  rule('a limit beyond the size is refused', `${MODIFY} EINVAL`, async (context) => {
    const { receivers, queue } = await share(context, 4)
    const { maxRequests } = await receivers[0].player.querySharedQueue(queue)
    await context.refused('EINVAL', receivers[0].player.modifySharedQueue(queue, { limit: maxRequests + 1 }))
  }),
  rule('ud: datagrams take shared receives', `${SRQ}: RC and UD`, async (context) => {
    const plain = await context.end(1)
    const { handle } = await plain.player.sharedQueue(plain.domain, { maxRequests: 4, maxSegments: 1 })
    const b = await context.end(1, { type: 'ud', sharedReceiveQueue: handle, within: plain })
    const a = await context.end(0, { type: 'ud' })
    await a.connect(b.pair.endpoint)
    await b.connect(a.pair.endpoint)
    await b.player.receiveShared(handle, { id: 1, local: [b.segment(0, 64)] })
    const addressHandle = await a.player.addressHandle(a.domain, { gid: b.gid, hopLimit: 64 })
    const to = { addressHandle, number: b.pair.number, queueKey: QUEUE_KEY }
    await a.post({ id: 2, opcode: Opcode.Send, local: [a.segment(0, 3)], to })
    await a.sentWith(Success, 2)
    const received = await b.receivedWith(Success, 1)
    assert.equal(received.byteLength, 43)
    assert.equal(received.sourceQueuePair, a.pair.number)
  }),
  rule('RESET of one queue pair leaves the shared receives to the others', 'ibv_modify_qp(3)', async (context) => {
    const shared = await share(context)
    const { senders, receivers } = shared
    await receive(shared, 1, 0, 16)
    await receive(shared, 2, 16, 16)
    await send(senders[0], 5)
    await senders[0].sentWith(Success, 5)
    await receivers[0].modify({ state: QueuePairState.Reset })
    assert.deepEqual(await receivers[0].player.poll(receivers[0].receiveQueue, 1), [])
    await send(senders[1], 6)
    await senders[1].sentWith(Success, 6)
    await receivers[1].receivedWith(Success, 2)
  }),
  rule(
    'sends of a queue pair in ERR are flushed also where it shares receives',
    'IB specification 10.3.1.7',
    async (context) => {
      const { receivers } = await share(context)
      await receivers[0].modify({ state: QueuePairState.Error })
      await send(receivers[0], 3)
      await receivers[0].sentWith(Flushed, 3)
    },
  ),
]
