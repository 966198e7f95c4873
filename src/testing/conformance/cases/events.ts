import { type ConformanceCase, rule } from '../case.ts'
import { assert, type Context, type End, Opcode, PATIENCE_MS, Success } from '../context.ts'
import type { Handle } from '../player-data.ts'

const EVENTS = 'ibv_req_notify_cq(3), ibv_get_cq_event(3)'

interface Listening {
  readonly a: End
  readonly b: End
  readonly channel: Handle
  /** b's completion queue for both directions, on the channel. */
  readonly queue: Handle
}

/** a connected to b, whose completions arrive at a queue with a channel. */
async function listening(context: Context): Promise<Listening> {
  const a = await context.end(0)
  const model = await context.end(1)
  const { player } = model
  const channel = await player.channel()
  const queue = await player.queue(32, channel)
  const pair = await player.pair({
    domain: model.domain,
    sendQueue: queue,
    receiveQueue: queue,
    maxReceiveRequests: 16,
    maxSendRequests: 16,
  })
  const b = model.withPair(pair, queue)
  await a.connect(b.pair.endpoint)
  await b.connect(a.pair.endpoint)
  return { a, b, channel, queue }
}

function untilReadable(context: Context, { b, channel }: Listening): Promise<void> {
  return context.until(() => b.player.readable(channel), PATIENCE_MS)
}

async function message(a: End, id: number, solicited = false): Promise<void> {
  await a.post({ id, opcode: Opcode.Send, local: [a.segment(0, 1)], solicited })
  await a.sentWith(Success, id)
}

/** Completion channels: arm, poll, wait, drain. */
export const eventCases: readonly ConformanceCase[] = [
  rule('without arming there is no event', EVENTS, async (context) => {
    const all = await listening(context)
    await all.b.receive(1, 0, 8)
    await message(all.a, 2)
    assert.equal(await all.b.player.readable(all.channel), false)
    await all.b.receivedWith(Success, 1)
  }),
  rule('an armed queue makes one event at the next receive completion', EVENTS, async (context) => {
    const all = await listening(context)
    await all.b.receive(1, 0, 8)
    await all.b.player.arm(all.queue)
    await message(all.a, 2)
    await untilReadable(context, all)
    assert.deepEqual(await all.b.player.drain(all.channel), [all.queue])
    await all.b.receivedWith(Success, 1)
    assert.equal(await all.b.player.readable(all.channel), false)
  }),
  rule('an armed queue makes an event at the next send completion', EVENTS, async (context) => {
    const all = await listening(context)
    await all.b.player.arm(all.queue)
    await all.b.post({ id: 3, opcode: Opcode.Write, local: [all.b.segment(0, 8)], remote: all.a.target(0) })
    await untilReadable(context, all)
    assert.deepEqual(await all.b.player.drain(all.channel), [all.queue])
    await all.b.sentWith(Success, 3)
  }),
  rule('arming is for one event', `${EVENTS}: one-shot`, async (context) => {
    const all = await listening(context)
    await all.b.receive(1, 0, 8)
    await all.b.receive(2, 0, 8)
    await all.b.player.arm(all.queue)
    await message(all.a, 3)
    await untilReadable(context, all)
    await all.b.player.drain(all.channel)
    await message(all.a, 4)
    assert.equal(await all.b.player.readable(all.channel), false)
    await all.b.received(2)
  }),
  rule(
    'a completion between drain and arm is found by the poll after arming',
    `${EVENTS}: arm, then poll again`,
    async (context) => {
      const all = await listening(context)
      await all.b.receive(1, 0, 8)
      await message(all.a, 2)
      await all.b.player.arm(all.queue)
      const rows = await all.b.player.poll(all.queue, 4)
      assert.deepEqual(
        rows.map((row) => row.id),
        [1],
      )
    },
  ),
  rule('a completion after arming wakes again, round after round', EVENTS, async (context) => {
    const all = await listening(context)
    for (let round = 1; round <= 5; round += 1) {
      await all.b.player.arm(all.queue)
      assert.deepEqual(await all.b.player.poll(all.queue, 4), [])
      await all.b.receive(round, 0, 8)
      await message(all.a, round)
      await untilReadable(context, all)
      assert.deepEqual(await all.b.player.drain(all.channel), [all.queue])
      await all.b.receivedWith(Success, round)
    }
  }),
  rule(
    'armed for solicited messages, an ordinary one makes no event',
    'ibv_req_notify_cq(3) solicited_only',
    async (context) => {
      const all = await listening(context)
      await all.b.receive(1, 0, 8)
      await all.b.player.arm(all.queue, true)
      await message(all.a, 2)
      assert.equal(await all.b.player.readable(all.channel), false)
      await all.b.receivedWith(Success, 1)
    },
  ),
  rule(
    'armed for solicited messages, a solicited one makes an event',
    'ibv_req_notify_cq(3); IBV_SEND_SOLICITED',
    async (context) => {
      const all = await listening(context)
      await all.b.receive(1, 0, 8)
      await all.b.player.arm(all.queue, true)
      await message(all.a, 2, true)
      await untilReadable(context, all)
      await all.b.receivedWith(Success, 1)
    },
  ),
  rule(
    'armed for solicited messages, a failure makes an event',
    'ibv_req_notify_cq(3): or a completion in error',
    async (context) => {
      const all = await listening(context)
      await all.b.receive(1, 0, 8)
      await all.b.player.arm(all.queue, true)
      await all.b.modify({ state: 6 })
      await untilReadable(context, all)
    },
  ),
  rule('two queues on one channel are told apart', `${EVENTS}: a channel is shared`, async (context) => {
    const all = await listening(context)
    const other = await all.b.player.queue(8, all.channel)
    await all.b.player.arm(other)
    await all.b.player.arm(all.queue)
    await all.b.receive(1, 0, 8)
    await message(all.a, 2)
    await untilReadable(context, all)
    assert.deepEqual(await all.b.player.drain(all.channel), [all.queue])
  }),
  rule('drain without an event returns nothing and does not block', 'contract: nothing blocks', async (context) => {
    const all = await listening(context)
    assert.deepEqual(await all.b.player.drain(all.channel), [])
  }),
]
