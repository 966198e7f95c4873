import { CompletionStatus, QueuePairState } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { assert, type End, Opcode, PATIENCE_MS, Success } from '../context.ts'

function write(a: End, b: End, id: number, signaled = true): Promise<void> {
  return a.post({ id, opcode: Opcode.Write, local: [a.segment(0, 8)], remote: b.target(0), signaled })
}

/** Posting, capacities, selective signaling, completion queues. */
export const queueCases: readonly ConformanceCase[] = [
  rule('capacities given are at least those asked for', 'ibv_create_qp(3); pyverbs test_qp', async (context) => {
    const a = await context.end(0, {
      maxSendRequests: 10,
      maxReceiveRequests: 9,
      maxSendSegments: 3,
      maxReceiveSegments: 2,
      maxInlineBytes: 33,
    })
    const { capacities } = a.pair
    assert.ok(capacities.maxSendRequests >= 10 && capacities.maxReceiveRequests >= 9 && capacities.maxInlineBytes >= 33)
    assert.ok(capacities.maxSendSegments >= 3 && capacities.maxReceiveSegments >= 2)
  }),
  rule('capacities beyond the device are refused', 'ibv_create_qp(3); pyverbs illegal caps', async (context) => {
    await context.refused('EINVAL', context.end(0, { maxSendRequests: 1 << 24 }))
  }),
  rule('queue pair numbers are unique on a device', 'ibv_create_qp(3)', async (context) => {
    const ends = [await context.end(0), await context.end(0), await context.end(0)]
    assert.equal(new Set(ends.map((end) => end.pair.number)).size, 3)
  }),
  rule('a completion queue holds at least what was asked for', 'ibv_create_cq(3); pyverbs test_cq', async (context) => {
    const queue = await context.players[0].queue(100)
    assert.ok((await context.players[0].depth(queue)) >= 100)
  }),
  rule(
    'a completion queue deeper than the device allows is refused',
    'ibv_create_cq(3); pyverbs test_cq',
    async (context) => {
      await context.refused('EINVAL', context.players[0].queue(2 ** 30))
    },
  ),
  rule('SEND in RESET is refused', 'ibv_post_send(3); pyverbs post_send_qp_state_bad_flow', async (context) => {
    const a = await context.end(0)
    await context.refused('EINVAL', a.post({ id: 1, opcode: Opcode.Send, local: [a.segment(0, 1)] }))
  }),
  rule('SEND in INIT is refused', 'IB specification 10.3.1', async (context) => {
    const a = await context.end(0)
    await a.init()
    await context.refused('EINVAL', a.post({ id: 1, opcode: Opcode.Send, local: [a.segment(0, 1)] }))
  }),
  rule('SEND in RTR is refused', 'IB specification 10.3.1', async (context) => {
    const a = await context.end(0)
    await a.init()
    await a.readyToReceive(a.pair.endpoint)
    await context.refused('EINVAL', a.post({ id: 1, opcode: Opcode.Send, local: [a.segment(0, 1)] }))
  }),
  rule('RECV in RESET is refused', 'ibv_post_recv(3); pyverbs post_receive_qp_state_bad_flow', async (context) => {
    const a = await context.end(0)
    await context.refused('EINVAL', a.receive(1, 0, 8))
  }),
  rule(
    'the send queue takes as many requests as it says and refuses the next',
    'ibv_post_send(3) ENOMEM',
    async (context) => {
      const [a] = await context.connected({ maxSendRequests: 4 })
      const { maxSendRequests } = a.pair.capacities
      for (let id = 0; id < maxSendRequests; id += 1)
        await a.post({ id, opcode: Opcode.Send, local: [a.segment(0, 1)] })
      await context.refused('ENOMEM', a.post({ id: 99, opcode: Opcode.Send, local: [a.segment(0, 1)] }))
    },
  ),
  rule(
    'the receive queue takes as many requests as it says and refuses the next',
    'ibv_post_recv(3) ENOMEM; pyverbs full_rq_bad_flow',
    async (context) => {
      const [a] = await context.connected({ maxReceiveRequests: 4 })
      const { maxReceiveRequests } = a.pair.capacities
      for (let id = 0; id < maxReceiveRequests; id += 1) await a.receive(id, 0, 8)
      await context.refused('ENOMEM', a.receive(99, 0, 8))
    },
  ),
  rule(
    'a slot is free again after its completion was polled, not before',
    'ibv_post_send(3): slots are freed by polling',
    async (context) => {
      const [a, b] = await context.connected({ maxSendRequests: 2 })
      const { maxSendRequests } = a.pair.capacities
      for (let id = 0; id < maxSendRequests; id += 1) await write(a, b, id)
      await context.refused('ENOMEM', write(a, b, 50))
      await a.sentWith(Success, 0)
      await write(a, b, 51)
      await context.refused('ENOMEM', write(a, b, 52))
    },
  ),
  rule('unsignaled requests make no completion', 'ibv_post_send(3) IBV_SEND_SIGNALED', async (context) => {
    const [a, b] = await context.connected()
    await write(a, b, 1, false)
    await write(a, b, 2, false)
    await a.expectNothing()
    await write(a, b, 3)
    await a.sentWith(Success, 3)
    await a.expectNothing()
  }),
  rule(
    'a later signaled completion frees the slots of unsignaled requests',
    'ibv_post_send(3); rdmamojo ibv_post_send: selective signaling',
    async (context) => {
      const [a, b] = await context.connected({ maxSendRequests: 4 })
      const { maxSendRequests } = a.pair.capacities
      for (let round = 0; round < 3; round += 1) {
        for (let id = 1; id < maxSendRequests; id += 1) await write(a, b, id, false)
        await write(a, b, 100 + round)
        await context.refused('ENOMEM', write(a, b, 50))
        await a.sentWith(Success, 100 + round)
      }
    },
  ),
  rule('signalAll makes every request complete', 'ibv_create_qp(3) sq_sig_all', async (context) => {
    const [a, b] = await context.connected({ signalAll: true })
    await write(a, b, 1, false)
    await write(a, b, 2, false)
    assert.deepEqual(
      (await a.sent(2)).map((completion) => completion.id),
      [1, 2],
    )
  }),
  rule(
    'more segments than the queue pair takes are refused',
    'ibv_post_send(3) EINVAL; pyverbs rq_with_larger_sgl',
    async (context) => {
      const [a, b] = await context.connected({ maxSendSegments: 2 })
      const local = Array.from({ length: a.pair.capacities.maxSendSegments + 1 }, () => a.segment(0, 1))
      const refusal = await a
        .post({ id: 1, opcode: Opcode.Write, local, remote: b.target(0) })
        .catch((error: unknown) => error)
      assert.match(String((refusal as { code?: string }).code), /ERR_AETHER_(VERBS|INVALID_ARGUMENT)/)
      await a.expectNothing()
    },
  ),
  rule('inline bytes beyond the capacity are refused', 'ibv_post_send(3) max_inline_data', async (context) => {
    const [a, b] = await context.connected({ maxInlineBytes: 16 })
    const bytes = new Uint8Array(a.pair.capacities.maxInlineBytes + 1)
    await context.refused('EINVAL', a.post({ id: 1, opcode: Opcode.Write, bytes, remote: b.target(0) }))
  }),
  rule('READ cannot be inline', 'ibv_post_send(3): inline is for sends and writes', async (context) => {
    const [a, b] = await context.connected()
    await context.refused(
      'EINVAL',
      a.post({ id: 1, opcode: Opcode.Read, bytes: new Uint8Array(8), remote: b.target(0) }),
    )
  }),
  rule(
    'a list is posted in order, and completes in order',
    'ibv_post_send(3): a chain of requests',
    async (context) => {
      const [a, b] = await context.connected()
      const requests = [1, 2, 3].map((id) => ({
        id,
        opcode: Opcode.Write,
        local: [a.segment(8 * id, 8)],
        remote: b.target(8 * id),
      }))
      await a.player.postList(a.pair.handle, requests)
      assert.deepEqual(
        (await a.sent(3)).map((completion) => completion.id),
        [1, 2, 3],
      )
    },
  ),
  rule(
    'of a list that does not fit, the first ones are taken and complete',
    'ibv_post_send(3) bad_wr',
    async (context) => {
      const [a, b] = await context.connected({ maxSendRequests: 2 })
      const { maxSendRequests } = a.pair.capacities
      const ids = Array.from({ length: maxSendRequests + 2 }, (_, index) => index + 1)
      const requests = ids.map((id) => ({ id, opcode: Opcode.Write, local: [a.segment(0, 8)], remote: b.target(0) }))
      await context.refused('ENOMEM', a.player.postList(a.pair.handle, requests))
      assert.deepEqual(
        (await a.sent(maxSendRequests)).map((completion) => completion.id),
        ids.slice(0, maxSendRequests),
      )
      await a.expectNothing()
    },
  ),
  rule('poll takes at most what the batch holds and leaves the rest', 'ibv_poll_cq(3)', async (context) => {
    const [a, b] = await context.connected()
    for (let id = 1; id <= 5; id += 1) await write(a, b, id)
    const ids: number[] = []
    await context.until(async () => {
      const rows = await a.player.poll(a.sendQueue, 2)
      assert.ok(rows.length <= 2, `${rows.length} rows`)
      ids.push(...rows.map((completion) => completion.id))
      return ids.length >= 5
    }, PATIENCE_MS)
    assert.deepEqual(ids, [1, 2, 3, 4, 5])
  }),
  rule('one completion queue serves sends and receives of several queue pairs', 'ibv_create_qp(3)', async (context) => {
    const player = context.players[0]
    const end = await context.end(0)
    const shared = await player.queue(32)
    const make = () => player.pair({ domain: end.domain, sendQueue: shared, receiveQueue: shared })
    const [first, second] = [await make(), await make()]
    const connect = async (pair: typeof first, remote: typeof first): Promise<void> => {
      await player.modify(pair.handle, { state: QueuePairState.Init, partitionKeyIndex: 0, port: 1, access: 15 })
      await player.modify(pair.handle, {
        state: QueuePairState.ReadyToReceive,
        addressVector: { gid: remote.endpoint.gid },
        pathMtu: 1024,
        destinationQueuePair: remote.number,
        receivePsn: remote.endpoint.psn,
        maxDestinationReadAtomic: 1,
        minRnrTimer: 1,
      })
      await player.modify(pair.handle, {
        state: QueuePairState.ReadyToSend,
        sendPsn: pair.endpoint.psn,
        timeout: 14,
        retryCount: 6,
        rnrRetry: 7,
        maxReadAtomic: 1,
      })
    }
    await connect(first, second)
    await connect(second, first)
    await player.receive(second.handle, { id: 1, local: [end.segment(0, 8)] })
    await player.post(first.handle, { id: 2, opcode: Opcode.Send, local: [end.segment(64, 8)] })
    const completions = await end.completions(shared, 2)
    assert.deepEqual(completions.map(({ id }) => id).sort(), [1, 2])
    assert.deepEqual(
      new Set(completions.map(({ queuePairNumber }) => queuePairNumber)),
      new Set([first.number, second.number]),
    )
  }),
  rule('a completion queue in use cannot be destroyed', 'ibv_destroy_cq(3) EBUSY', async (context) => {
    const a = await context.end(0)
    await context.refused('EBUSY', a.player.close(a.sendQueue))
    await a.player.close(a.pair.handle)
    await a.player.close(a.sendQueue)
  }),
  rule('a completion channel in use cannot be destroyed', 'ibv_destroy_comp_channel(3) EBUSY', async (context) => {
    const player = context.players[0]
    const channel = await player.channel()
    const queue = await player.queue(4, channel)
    await context.refused('EBUSY', player.close(channel))
    await player.close(queue)
    await player.close(channel)
  }),
  rule(
    'an overrun completion queue ends the queue pairs that feed it',
    'ibv_create_cq(3); ibv_get_async_event(3) CQ_ERR',
    async (context) => {
      const [a, b] = await context.connected({ depth: 2, maxSendRequests: 64 })
      const depth = await a.player.depth(a.sendQueue)
      for (let id = 0; id <= depth; id += 1) await write(a, b, id).catch(() => undefined)
      await context.until(() => a.player.overrun(a.sendQueue), PATIENCE_MS)
      assert.equal(await a.player.state(a.pair.handle), QueuePairState.Error)
    },
  ),
  rule(
    'destroying a queue pair removes its completions',
    'ibv_destroy_qp(3); libmlx5 cleans the queue',
    async (context) => {
      const [a, b] = await context.connected()
      await write(a, b, 1)
      await a.player.close(a.pair.handle)
      assert.deepEqual(await a.player.poll(a.sendQueue, 4), [])
    },
  ),
  rule('SQD holds what is posted until RTS', 'ibv_modify_qp(3) SQD; IB specification 10.3.1.5', async (context) => {
    const [a, b] = await context.connected()
    await a.modify({ state: QueuePairState.SendQueueDrained })
    await write(a, b, 1)
    await a.expectNothing()
    await a.modify({ state: QueuePairState.ReadyToSend })
    await a.sentWith(Success, 1)
  }),
  rule('a queue pair in SQD still answers its peer', 'IB specification 10.3.1.5', async (context) => {
    const [a, b] = await context.connected()
    await b.modify({ state: QueuePairState.SendQueueDrained })
    await write(a, b, 1)
    await a.sentWith(Success, 1)
  }),
  rule('a failed completion carries id, status and queue pair', 'ibv_poll_cq(3)', async (context) => {
    const [a, b] = await context.connected()
    await a.post({
      id: 12345678901,
      opcode: Opcode.Write,
      local: [a.segment(0, 8)],
      remote: { address: b.memory.address, key: 3 },
    })
    const completion = await a.sentWith(CompletionStatus.RemoteAccessError, 12345678901)
    assert.equal(completion.queuePairNumber, a.pair.number)
  }),
]
