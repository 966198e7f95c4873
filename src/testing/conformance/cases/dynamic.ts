import { CompletionStatus, QueuePairState } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { assert, type Context, type End, Opcode, Success } from '../context.ts'
import type { Handle, RequestSpecification } from '../player-data.ts'

const DC = 'mlx5dv_create_qp(3) MLX5DV_DCTYPE_DCI, MLX5DV_DCTYPE_DCT; pyverbs test_mlx5_dc'
const KEY = 0x1234_5678_9abc_def0n

/** A target, with the shared receive queue behind it. */
interface TargetEnd {
  readonly end: End
  readonly queue: Handle
}

async function target(context: Context): Promise<TargetEnd> {
  const plain = await context.end(1)
  const { handle: queue } = await plain.player.sharedQueue(plain.domain, { maxRequests: 16, maxSegments: 2 })
  const end = await context.end(1, { type: 'dct', sharedReceiveQueue: queue, dcAccessKey: KEY, within: plain })
  await end.init()
  await end.readyToReceive(end.pair.endpoint)
  return { end, queue }
}

async function initiator(context: Context): Promise<End> {
  const end = await context.end(0, { type: 'dci' })
  await end.init()
  await end.readyToReceive(end.pair.endpoint)
  await end.readyToSend({ timeout: 10, retryCount: 1 })
  return end
}

async function post(a: End, to: End, request: RequestSpecification, accessKey: bigint = KEY): Promise<void> {
  const addressHandle = await a.player.addressHandle(a.domain, { gid: to.gid, hopLimit: 64 })
  await a.post({ ...request, to: { addressHandle, number: to.pair.number, accessKey } })
}

async function send(a: End, { end }: TargetEnd, id: number, value: number, accessKey: bigint = KEY): Promise<void> {
  await a.fill(0, [value])
  await post(a, end, { id, opcode: Opcode.Send, local: [a.segment(0, 1)] }, accessKey)
}

function receive({ end, queue }: TargetEnd, id: number, offset: number): Promise<void> {
  return end.player.receiveShared(queue, { id, local: [end.segment(offset, 16)] })
}

/**
 * Dynamically connected transport: each request of an initiator names its target, and is connected to it while it runs.
 */
export const dynamicCases: readonly ConformanceCase[] = [
  rule('dc: an initiator sends to one target after the other', DC, async (context) => {
    const a = await initiator(context)
    const targets = [await target(context), await target(context)]
    for (const [index, each] of targets.entries()) {
      await receive(each, 1, 0)
      await send(a, each, 5, 50 + index)
      await a.sentWith(Success, 5)
      const received = await each.end.receivedWith(Success, 1)
      assert.equal(received.queuePairNumber, each.end.pair.number)
      assert.deepEqual(await each.end.bytes(0, 1), [50 + index])
    }
  }),
  rule('dc: several initiators use one target', DC, async (context) => {
    const [a, b, to] = [await initiator(context), await initiator(context), await target(context)]
    for (let id = 0; id < 4; id += 1) await receive(to, id, 16 * id)
    for (const end of [a, b, a, b]) {
      await send(end, to, 9, 1)
      await end.sentWith(Success, 9)
    }
    assert.deepEqual(
      (await to.end.received(4)).map(({ id }) => id),
      [0, 1, 2, 3],
    )
  }),
  rule('dc: WRITE, READ and atomics reach memory of the target', DC, async (context) => {
    const [a, { end }] = [await initiator(context), await target(context)]
    await a.fill(0, [1, 2, 3, 4, 5, 6, 7, 8])
    await post(a, end, { id: 1, opcode: Opcode.Write, local: [a.segment(0, 8)], remote: end.target(64) })
    await post(a, end, { id: 2, opcode: Opcode.Read, local: [a.segment(100, 8)], remote: end.target(64) })
    await post(a, end, {
      id: 3,
      opcode: Opcode.FetchAdd,
      local: [a.segment(200, 8)],
      remote: end.target(128),
      compareAdd: 7n,
    })
    assert.deepEqual(
      (await a.sent(3)).map(({ status }) => status),
      [Success, Success, Success],
    )
    assert.deepEqual(await a.bytes(100, 8), [1, 2, 3, 4, 5, 6, 7, 8])
    assert.equal(await end.word(128), 7n)
  }),
  rule(
    'dc: a wrong access key fails the initiator, and the target serves on',
    `${DC} dct_access_key`,
    async (context) => {
      const [a, b, to] = [await initiator(context), await initiator(context), await target(context)]
      await receive(to, 1, 0)
      await send(a, to, 5, 1, KEY + 1n)
      const failed = (await a.sent(1))[0]
      assert.notEqual(failed?.status, Success)
      assert.equal(await a.player.state(a.pair.handle), QueuePairState.Error)
      await send(b, to, 6, 2)
      await b.sentWith(Success, 6)
      await to.end.receivedWith(Success, 1)
      assert.equal(await to.end.player.state(to.end.pair.handle), QueuePairState.ReadyToReceive)
    },
  ),
  rule(
    'dc: an error is the initiator’s alone, and it recovers through RESET',
    `${DC} DCI recovery`,
    async (context) => {
      const [a, to] = [await initiator(context), await target(context)]
      const remote = { ...to.end.target(0), key: (to.end.memory.remoteKey ^ 0x100) >>> 0 }
      await post(a, to.end, { id: 1, opcode: Opcode.Write, local: [a.segment(0, 8)], remote })
      await a.sentWith(CompletionStatus.RemoteAccessError, 1)
      await a.modify({ state: QueuePairState.Reset })
      await a.init()
      await a.readyToReceive(a.pair.endpoint)
      await a.readyToSend()
      await receive(to, 2, 0)
      await send(a, to, 3, 1)
      await a.sentWith(Success, 3)
      await to.end.receivedWith(Success, 2)
    },
  ),
  rule(
    'dc: a target that is not there exhausts the retries',
    'ibv_modify_qp(3) timeout, retry_cnt',
    async (context) => {
      const [a, to] = [await initiator(context), await target(context)]
      await to.end.player.close(to.end.pair.handle)
      await send(a, to, 1, 1)
      await a.sentWith(CompletionStatus.RetryExceeded, 1)
    },
  ),
  rule('dc: a message waits until the target has a receive', 'ibv_modify_qp(3) rnr_retry', async (context) => {
    const [a, to] = [await initiator(context), await target(context)]
    await send(a, to, 1, 1)
    assert.deepEqual(await a.player.poll(a.sendQueue, 1), [])
    await receive(to, 2, 0)
    await a.sentWith(Success, 1)
    await to.end.receivedWith(Success, 2)
  }),
  rule('dc: rights of the target are looked at', 'ibv_modify_qp(3) qp_access_flags', async (context) => {
    const [a, to] = [await initiator(context), await target(context)]
    await to.end.modify({ state: QueuePairState.Reset })
    await to.end.init(0)
    await to.end.readyToReceive(to.end.pair.endpoint)
    await post(a, to.end, { id: 1, opcode: Opcode.Write, local: [a.segment(0, 8)], remote: to.end.target(0) })
    const failed = (await a.sent(1))[0]
    assert.notEqual(failed?.status, Success)
    assert.deepEqual(await to.end.bytes(0, 1), [0])
  }),
  rule(
    'dc: a target without a shared receive queue is refused',
    'mlx5dv_create_qp(3); kernel mlx5 create_dct',
    async (context) => {
      await context.refused('EINVAL', context.end(1, { type: 'dct', dcAccessKey: KEY }))
    },
  ),
  rule(
    'dc: nothing is posted to a target, and no receive to an initiator',
    'ibv_post_send(3), ibv_post_recv(3) EINVAL',
    async (context) => {
      const [a, to] = [await initiator(context), await target(context)]
      await context.refused('EINVAL', to.end.post({ id: 1, opcode: Opcode.Send, local: [to.end.segment(0, 1)] }))
      await context.refused('EINVAL', to.end.receive(1, 0, 8))
      await context.refused('EINVAL', a.receive(1, 0, 8))
    },
  ),
]
