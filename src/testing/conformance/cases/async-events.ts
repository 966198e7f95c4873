import { QueuePairState } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { assert, type Context, type End, Opcode, Success } from '../context.ts'

const EVENT = 'ibv_get_async_event(3)'
const RESIZE = 'ibv_resize_cq(3)'

async function untilEvent(context: Context, end: End, name: string, about: number): Promise<void> {
  await context.until(async () => {
    await end.player.poll(end.receiveQueue, 1)
    return (await end.player.events()).some((event) => event.name === name && event.about === about)
  }, 10_000)
}

function write(a: End, b: End, id: number): Promise<void> {
  return a.post({ id, opcode: Opcode.Write, local: [a.segment(0, 8)], remote: b.target(0) })
}

/** One end whose queue is overrun: more completions arrive than it holds, and it is not polled. */
async function overrun(context: Context): Promise<readonly [End, End]> {
  const [a, b] = await context.connected({ depth: 4, maxSendRequests: 64 })
  const depth = await a.player.depth(a.sendQueue)
  for (let id = 0; id <= depth; id += 1) await write(a, b, id)
  return [a, b]
}

/** Asynchronous events, and the size of completion queues. */
export const asyncEventCases: readonly ConformanceCase[] = [
  rule(
    'an overrun completion queue raises an event and ends its queue pairs',
    `${EVENT} IBV_EVENT_CQ_ERR`,
    async (context) => {
      const [a] = await overrun(context)
      await untilEvent(context, a, 'CompletionQueueError', a.sendQueue)
      await a.untilState(QueuePairState.Error)
    },
  ),
  rule('the descriptor of asynchronous events is readable while one waits, and no longer', EVENT, async (context) => {
    const [a, b] = await context.connected()
    assert.equal(await a.player.eventsReadable(), false)
    await a.modify({ state: QueuePairState.SendQueueDrained, sqdNotify: true })
    await context.until(() => a.player.eventsReadable(), 10_000)
    assert.equal((await a.player.events()).length, 1)
    assert.equal(await a.player.eventsReadable(), false)
    assert.deepEqual(await b.player.events(), [])
  }),
  rule(
    'events of an object that was destroyed are not reported',
    'ibv_get_async_event(3): destroying takes them along',
    async (context) => {
      const [a] = await context.connected()
      await a.modify({ state: QueuePairState.SendQueueDrained, sqdNotify: true })
      await a.player.close(a.pair.handle)
      assert.deepEqual(await a.player.events(), [])
    },
  ),
  rule(
    'the first message to a queue pair in RTR says that communication is established',
    `${EVENT} IBV_EVENT_COMM_EST`,
    async (context) => {
      const [a, b] = [await context.end(0), await context.end(1)]
      await a.connect(b.pair.endpoint)
      await b.init()
      await b.receive(1, 0, 8)
      await b.readyToReceive(a.pair.endpoint)
      await a.post({ id: 2, opcode: Opcode.Send, local: [a.segment(0, 1)] })
      await a.sentWith(Success, 2)
      await context.until(async () => {
        await b.player.poll(b.receiveQueue, 1)
        return (await b.player.events()).some(
          ({ name, about }) => name === 'CommunicationEstablished' && about === b.pair.handle,
        )
      }, 10_000)
    },
  ),
  rule('a queue that grows keeps what waits, in order', RESIZE, async (context) => {
    const [a, b] = await context.connected({ depth: 4 })
    for (let id = 0; id < 4; id += 1) await write(a, b, id)
    await a.player.resize(a.sendQueue, 64)
    assert.ok((await a.player.depth(a.sendQueue)) >= 64)
    for (let id = 4; id < 12; id += 1) await write(a, b, id)
    assert.deepEqual(
      (await a.sent(12)).map((completion) => completion.id),
      Array.from({ length: 12 }, (_, id) => id),
    )
  }),
  rule('a queue that shrinks goes on working', RESIZE, async (context) => {
    const [a, b] = await context.connected({ depth: 64 })
    await write(a, b, 1)
    await a.player.resize(a.sendQueue, 8)
    await a.sentWith(Success, 1)
    for (let id = 2; id < 30; id += 1) {
      await write(a, b, id)
      await a.sentWith(Success, id)
    }
  }),
  rule('a queue cannot shrink below what waits in it', `${RESIZE}; pyverbs test_cq`, async (context) => {
    const [a, b] = await context.connected({ depth: 64 })
    for (let id = 0; id < 10; id += 1) await write(a, b, id)
    // A READ that is posted when the answer of one behind the WRITEs was seen is answered behind their acknowledgement.
    await b.fill(8, [1])
    for (const offset of [64, 72]) {
      const remote = b.target(8)
      await a.post({ id: 99, opcode: Opcode.Read, local: [a.segment(offset, 8)], remote, signaled: false })
      await context.until(async () => (await a.bytes(offset, 1))[0] === 1, 10_000)
    }
    await context.refused('EINVAL', a.player.resize(a.sendQueue, 2))
    assert.equal((await a.sent(10)).length, 10)
  }),
  rule('a queue cannot grow beyond the device', `${RESIZE} EINVAL`, async (context) => {
    const a = await context.end(0)
    await context.refused('EINVAL', a.player.resize(a.sendQueue, 2 ** 30))
  }),
  rule('a resized queue still wakes the caller that armed it', `${RESIZE}; ibv_req_notify_cq(3)`, async (context) => {
    const [a, b] = await context.connected()
    const { player } = b
    const channel = await player.channel()
    const queue = await player.queue(4, channel)
    const pair = await player.pair({ domain: b.domain, sendQueue: queue, receiveQueue: queue })
    const c = b.withPair(pair, queue)
    const d = await context.end(0, { within: a })
    await c.connect(d.pair.endpoint)
    await d.connect(c.pair.endpoint)
    await player.resize(queue, 32)
    await c.receive(1, 0, 8)
    await player.arm(queue)
    await d.post({ id: 2, opcode: Opcode.Send, local: [d.segment(0, 1)] })
    await context.until(() => player.readable(channel), 10_000)
    assert.deepEqual(await player.drain(channel), [queue])
    await c.receivedWith(Success, 1)
  }),
  rule('port 1 is up and says what it carries', 'ibv_query_port(3)', async (context) => {
    const a = await context.end(0)
    const port = await a.player.port(1)
    assert.equal(port.state, 'active')
    assert.ok(port.activeMtu >= 256 && port.activeMtu <= port.maxMtu)
    assert.ok(port.gidCount >= 1 && port.maxMessageBytes > 0)
  }),
  rule('a port that does not exist cannot be queried', 'ibv_query_port(3) EINVAL', async (context) => {
    const a = await context.end(0)
    await context.refused('EINVAL', a.player.port(99))
  }),
  rule('the table of gids holds the one that peers are told', 'ibv_query_gid_table(3)', async (context) => {
    const a = await context.end(0)
    const gids = (await a.player.gidTable(1)).map(({ gid }) => gid)
    assert.ok(gids.includes(a.gid))
  }),
]
