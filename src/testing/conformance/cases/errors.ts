import { Access, CompletionStatus, QueuePairState } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { assert, type Context, type End, Flushed, Opcode, Success, sendAttributes } from '../context.ts'

const ERROR = QueuePairState.Error
const RESPONDER = 'IB specification 9.7.5.2; rxe_resp.c'

/** A one-sided request that the responder must refuse with RemoteAccessError, both sides ending in ERR. */
async function accessRefused(
  a: End,
  b: End,
  opcode: 0 | 4,
  remote: { address: number; key: number },
  length = 8,
): Promise<void> {
  await b.receive(90, 8192, 16)
  await a.post({ id: 1, opcode, local: [a.segment(0, length)], remote })
  await a.post({ id: 2, opcode: Opcode.Write, local: [a.segment(0, 8)], remote: b.target(0) })
  await a.sentWith(CompletionStatus.RemoteAccessError, 1)
  await a.sentWith(Flushed, 2)
  await b.receivedWith(Flushed, 90)
  assert.equal(await a.player.state(a.pair.handle), ERROR)
  await b.untilState(ERROR)
}

function refusesKey(
  name: string,
  source: string,
  opcode: 0 | 4,
  remote: (b: End, context: Context) => Promise<{ address: number; key: number }>,
): ConformanceCase {
  return rule(name, source, async (context) => {
    const [a, b] = await context.connected()
    await accessRefused(a, b, opcode, await remote(b, context))
  })
}

async function withAccess(b: End, access: number): Promise<{ address: number; key: number }> {
  const memory = await b.player.allocate(b.domain, 4096, access)
  return { address: memory.address, key: memory.remoteKey === 0 ? memory.localKey : memory.remoteKey }
}

const protection: readonly ConformanceCase[] = [
  refusesKey('WRITE with a key that does not exist', RESPONDER, 0, async (b) => ({
    address: b.memory.address,
    key: (b.memory.remoteKey ^ 0x40) >>> 0,
  })),
  refusesKey('READ with a key that does not exist', RESPONDER, 4, async (b) => ({
    address: b.memory.address,
    key: (b.memory.remoteKey ^ 0x40) >>> 0,
  })),
  refusesKey('WRITE with key 0', RESPONDER, 0, async (b) => ({ address: b.memory.address, key: 0 })),
  refusesKey('WRITE one byte past the end', `${RESPONDER} check_rkey`, 0, async (b) => b.target(b.memory.length - 7)),
  refusesKey('READ one byte past the end', `${RESPONDER} check_rkey`, 4, async (b) => b.target(b.memory.length - 7)),
  refusesKey('WRITE one byte before the start', `${RESPONDER} check_rkey`, 0, async (b) => b.target(-1)),
  refusesKey('WRITE at an address far away', `${RESPONDER} check_rkey`, 0, async (b) => ({
    address: 2 ** 52,
    key: b.memory.remoteKey,
  })),
  refusesKey('WRITE to memory without RemoteWrite', RESPONDER, 0, (b) =>
    withAccess(b, Access.LocalWrite | Access.RemoteRead),
  ),
  refusesKey('READ of memory without RemoteRead', RESPONDER, 4, (b) =>
    withAccess(b, Access.LocalWrite | Access.RemoteWrite),
  ),
  refusesKey('WRITE to memory without any remote right', RESPONDER, 0, (b) => withAccess(b, Access.LocalWrite)),
  refusesKey(
    'WRITE to memory of another protection domain',
    'IB specification 10.2.3: protection domains',
    0,
    async (b) => {
      const memory = await b.player.allocate(await b.player.domain(), 4096, 15)
      return { address: memory.address, key: memory.remoteKey }
    },
  ),
  refusesKey('WRITE to memory that was closed', 'ibv_dereg_mr(3)', 0, async (b) => {
    const memory = await b.player.allocate(b.domain, 4096, 15)
    await b.player.close(memory.handle)
    return { address: memory.address, key: memory.remoteKey }
  }),
  rule('WRITE to memory that was closed after it was used', 'ibv_dereg_mr(3)', async (context) => {
    const [a, b] = await context.connected()
    const memory = await b.player.allocate(b.domain, 4096, 15)
    const remote = { address: memory.address, key: memory.remoteKey }
    await a.post({ id: 9, opcode: Opcode.Write, local: [a.segment(0, 8)], remote })
    await a.sentWith(Success, 9)
    await b.player.close(memory.handle)
    await accessRefused(a, b, 0, remote)
  }),
  rule('READ into memory without LocalWrite fails at the requester', 'ibv_post_send(3); rxe_req.c', async (context) => {
    const [a, b] = await context.connected()
    const memory = await a.player.allocate(a.domain, 4096, Access.RemoteRead)
    await a.post({ id: 1, opcode: Opcode.Read, local: [a.segment(0, 8, memory)], remote: b.target(0) })
    await a.sentWith(CompletionStatus.LocalProtectionError, 1)
  }),
  rule('a local segment past the end fails at the requester', 'ibv_post_send(3)', async (context) => {
    const [a, b] = await context.connected()
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(a.memory.length - 7, 8)], remote: b.target(0) })
    await a.sentWith(CompletionStatus.LocalProtectionError, 1)
  }),
  rule(
    'a local segment of another protection domain fails at the requester',
    'IB specification 10.2.3',
    async (context) => {
      const [a, b] = await context.connected()
      const foreign = await a.player.allocate(await a.player.domain(), 4096, 15)
      await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 8, foreign)], remote: b.target(0) })
      await a.sentWith(CompletionStatus.LocalProtectionError, 1)
    },
  ),
  rule(
    'WRITE over a queue pair without RemoteWrite is an invalid request',
    'rxe_resp.c check_op_valid',
    async (context) => {
      const [a, b] = await context.connected({}, { access: Access.LocalWrite | Access.RemoteRead })
      await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 8)], remote: b.target(0) })
      await a.sentWith(CompletionStatus.RemoteInvalidRequest, 1)
      await b.untilState(ERROR)
    },
  ),
  rule(
    'READ over a queue pair without RemoteRead is an invalid request',
    'rxe_resp.c check_op_valid',
    async (context) => {
      const [a, b] = await context.connected({}, { access: Access.LocalWrite | Access.RemoteWrite })
      await a.post({ id: 1, opcode: Opcode.Read, local: [a.segment(0, 8)], remote: b.target(0) })
      await a.sentWith(CompletionStatus.RemoteInvalidRequest, 1)
      await b.untilState(ERROR)
    },
  ),
  rule('WRITE with immediate and a bad key fails on both sides', RESPONDER, async (context) => {
    const [a, b] = await context.connected()
    await b.receive(5, 0, 16)
    await a.post({
      id: 1,
      opcode: Opcode.WriteWithImmediate,
      local: [a.segment(0, 8)],
      remote: { address: b.memory.address, key: 1 },
      immediate: 1,
    })
    await a.sentWith(CompletionStatus.RemoteAccessError, 1)
    const [completion] = await b.received(1)
    assert.notEqual(completion?.status, Success)
    await b.untilState(ERROR)
  }),
]

const flushing: readonly ConformanceCase[] = [
  rule(
    'to ERR by modify: sends and receives flush in the order of their posts',
    'IB specification 10.3.1; verbs: WR_FLUSH_ERR',
    async (context) => {
      const [a] = await context.connected()
      for (let id = 1; id <= 3; id += 1)
        await a.post({ id, opcode: Opcode.Send, local: [a.segment(0, 1)], signaled: id === 2 })
      for (let id = 11; id <= 13; id += 1) await a.receive(id, 0, 8)
      await a.modify({ state: ERROR })
      assert.deepEqual(
        (await a.sent(3)).map(({ id, status }) => [id, status]),
        [
          [1, Flushed],
          [2, Flushed],
          [3, Flushed],
        ],
      )
      assert.deepEqual(
        (await a.received(3)).map(({ id, status }) => [id, status]),
        [
          [11, Flushed],
          [12, Flushed],
          [13, Flushed],
        ],
      )
      await a.expectNothing()
    },
  ),
  rule(
    'an error flushes unsignaled requests too, behind the failed one',
    'ibv_post_send(3): unsignaled requests complete when they fail',
    async (context) => {
      const [a, b] = await context.connected()
      await a.post({ id: 1, opcode: Opcode.Send, local: [a.segment(0, 1)], signaled: false })
      await a.post({
        id: 2,
        opcode: Opcode.Write,
        local: [a.segment(0, 8)],
        remote: { address: b.memory.address, key: 1 },
        signaled: false,
      })
      await a.post({ id: 3, opcode: Opcode.Write, local: [a.segment(0, 8)], remote: b.target(0), signaled: false })
      await b.receive(4, 0, 8)
      const completions = await a.sent(2)
      assert.deepEqual(
        completions.map(({ id, status }) => [id, status]),
        [
          [2, CompletionStatus.RemoteAccessError],
          [3, Flushed],
        ],
      )
      await b.receivedWith(Success, 4)
      await b.untilState(ERROR)
    },
  ),
  rule('posts in ERR are taken and flushed', 'rdma-core PR 59; IB specification 10.3.1', async (context) => {
    const [a] = await context.connected()
    await a.modify({ state: ERROR })
    await a.post({ id: 1, opcode: Opcode.Send, local: [a.segment(0, 1)], signaled: false })
    await a.receive(2, 0, 8)
    await a.sentWith(Flushed, 1)
    await a.receivedWith(Flushed, 2)
  }),
  rule(
    'a receive that is posted in ERR after others were flushed is flushed, once, and nothing is received twice',
    'IB specification 10.3.1',
    async (context) => {
      const [a, b] = await context.connected()
      for (let id = 1; id <= 3; id += 1) await b.receive(id, 0, 8)
      await a.post({ id: 9, opcode: Opcode.Send, local: [a.segment(0, 1)] })
      await a.sentWith(Success)
      await b.receivedWith(Success, 1)
      await b.modify({ state: ERROR })
      await b.receivedWith(Flushed, 2)
      await b.receivedWith(Flushed, 3)
      await b.receive(4, 0, 8)
      await b.receivedWith(Flushed, 4)
      await b.expectNothing()
    },
  ),
  rule('received messages come before the flushed receives', 'IB specification 10.8.3.3', async (context) => {
    const [a, b] = await context.connected()
    for (let id = 1; id <= 3; id += 1) await b.receive(id, 0, 8)
    await a.post({ id: 9, opcode: Opcode.Send, local: [a.segment(0, 1)] })
    await a.sentWith(Success)
    await b.modify({ state: ERROR })
    assert.deepEqual(
      (await b.received(3)).map(({ id, status }) => [id, status]),
      [
        [1, Success],
        [2, Flushed],
        [3, Flushed],
      ],
    )
  }),
  rule(
    'RESET forgets what is outstanding, without completions',
    'ibv_modify_qp(3); IB specification 10.3.1',
    async (context) => {
      const [a] = await context.connected()
      await a.post({ id: 1, opcode: Opcode.Send, local: [a.segment(0, 1)] })
      await a.receive(2, 0, 8)
      await a.modify({ state: QueuePairState.Reset })
      await a.expectNothing()
    },
  ),
  rule(
    'RESET removes completions that were not polled',
    'ibv_modify_qp(3); libmlx5 cleans the queue',
    async (context) => {
      const [a, b] = await context.connected()
      await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 8)], remote: b.target(0) })
      await a.modify({ state: QueuePairState.Reset })
      await a.expectNothing()
    },
  ),
  rule(
    'after ERR, RESET and a new connection everything works again',
    'IB specification 10.3.1; pyverbs rereg tests',
    async (context) => {
      const [a, b] = await context.connected()
      await a.post({
        id: 1,
        opcode: Opcode.Write,
        local: [a.segment(0, 8)],
        remote: { address: b.memory.address, key: 1 },
      })
      await a.sentWith(CompletionStatus.RemoteAccessError, 1)
      await b.untilState(ERROR)
      for (const end of [a, b]) await end.modify({ state: QueuePairState.Reset })
      await a.connect(b.pair.endpoint)
      await b.connect(a.pair.endpoint)
      await b.receive(4, 0, 16)
      await a.fill(0, [6])
      await a.post({ id: 5, opcode: Opcode.Send, local: [a.segment(0, 1)] })
      await a.sentWith(Success, 5)
      await b.receivedWith(Success, 4)
      assert.deepEqual(await b.bytes(0, 1), [6])
    },
  ),
]

const SHORT = { timeout: 8, retryCount: 1 }
const silence: readonly ConformanceCase[] = [
  rule(
    'a peer that is not ready to receive exhausts the retries',
    'IB specification 9.7.6.1.3; ibv_modify_qp(3) timeout',
    async (context) => {
      const a = await context.end(0)
      const b = await context.end(1)
      await a.connect(b.pair.endpoint, SHORT)
      await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 8)], remote: b.target(0) })
      await a.post({ id: 2, opcode: Opcode.Write, local: [a.segment(0, 8)], remote: b.target(0) })
      await a.sentWith(CompletionStatus.RetryExceeded, 1)
      await a.sentWith(Flushed, 2)
      assert.equal(await a.player.state(a.pair.handle), ERROR)
    },
  ),
  rule('a peer that becomes ready within the timeout is served', 'ibv_modify_qp(3) timeout', async (context) => {
    const a = await context.end(0)
    const b = await context.end(1)
    await a.connect(b.pair.endpoint, { timeout: 21, retryCount: 6 })
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 8)], remote: b.target(0) })
    await a.expectNothing()
    await b.connect(a.pair.endpoint)
    await a.sentWith(Success, 1)
  }),
  rule('timeout 0 waits for ever', 'ibv_modify_qp(3) timeout 0', async (context) => {
    const a = await context.end(0)
    const b = await context.end(1)
    await a.connect(b.pair.endpoint, { timeout: 0, retryCount: 0 })
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 8)], remote: b.target(0) })
    for (let turn = 0; turn < 20; turn += 1) await a.expectNothing()
    // Whether it is sent again when the peer becomes ready is open: without a timer the loss is not noticed.
    await a.modify({ state: ERROR })
    await a.sentWith(Flushed, 1)
  }),
  rule('a destroyed peer exhausts the retries', 'IB specification 9.7.6.1.3', async (context) => {
    const [a, b] = await context.connected({}, SHORT)
    await b.player.close(b.pair.handle)
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 8)], remote: b.target(0) })
    await a.sentWith(CompletionStatus.RetryExceeded, 1)
  }),
  rule('a peer in ERR does not answer', 'IB specification 10.3.1: ERR drops', async (context) => {
    const [a, b] = await context.connected({}, SHORT)
    await b.modify({ state: ERROR })
    await a.post({ id: 1, opcode: Opcode.Read, local: [a.segment(0, 8)], remote: b.target(0) })
    await a.sentWith(CompletionStatus.RetryExceeded, 1)
  }),
  rule('a peer that was reset does not answer', 'IB specification 10.3.1: RESET drops', async (context) => {
    const [a, b] = await context.connected({}, SHORT)
    await b.modify({ state: QueuePairState.Reset })
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 8)], remote: b.target(0) })
    await a.sentWith(CompletionStatus.RetryExceeded, 1)
  }),
  rule(
    'a peer that is connected elsewhere does not answer',
    'IB specification 9.6.1.1.2: destination and source must match',
    async (context) => {
      const [a, b] = await context.connected()
      const stranger = await context.end(0)
      await stranger.init()
      await stranger.readyToReceive(b.pair.endpoint)
      // Its sequence numbers would fit: only its queue pair number differs.
      await stranger.modify(sendAttributes(a.pair.endpoint.psn, SHORT))
      await stranger.post({ id: 1, opcode: Opcode.Write, local: [stranger.segment(0, 8)], remote: b.target(0) })
      await stranger.sentWith(CompletionStatus.RetryExceeded, 1)
      assert.equal(await b.player.state(b.pair.handle), 3)
    },
  ),
  rule('a queue pair number that does not exist does not answer', 'IB specification 9.6.1.1.2', async (context) => {
    const a = await context.end(0)
    const b = await context.end(1)
    await a.connect({ ...b.pair.endpoint, queuePairNumber: b.pair.number ^ 0x1000 }, SHORT)
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 8)], remote: b.target(0) })
    await a.sentWith(CompletionStatus.RetryExceeded, 1)
  }),
  rule(
    'packet sequence numbers that do not match do not answer',
    'IB specification 9.7.5.1.2; rxe check_psn',
    async (context) => {
      const a = await context.end(0)
      const b = await context.end(1)
      await a.connect(b.pair.endpoint, SHORT)
      // Behind what is sent. With a number ahead of it, the request would look like one that was answered before, and
      // would be answered again.
      await b.connect({ ...a.pair.endpoint, psn: (a.pair.endpoint.psn - 1) & 0xffffff })
      await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 8)], remote: b.target(0) })
      await a.sentWith(CompletionStatus.RetryExceeded, 1)
    },
  ),
]

/** What must fail, how, and at which end. */
export const errorCases: readonly ConformanceCase[] = [...protection, ...flushing, ...silence]
