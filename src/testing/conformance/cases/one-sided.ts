import { Access, CompletionOpcode, CompletionStatus } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { assert, Opcode, Success } from '../context.ts'

const POST = 'ibv_post_send(3)'
const LARGE = 100_000

/** RDMA READ and WRITE, and the fields of a send queue's completions. */
export const oneSidedCases: readonly ConformanceCase[] = [
  rule('WRITE moves the bytes and nothing beside them', `${POST}; IB specification 9.4.3`, async (context) => {
    const [a, b] = await context.connected()
    await a.fill(0, [1, 2, 3, 4, 5, 6, 7, 8])
    await b.fill(96, new Array<number>(32).fill(255))
    await a.post({ id: 7, opcode: Opcode.Write, local: [a.segment(0, 8)], remote: b.target(104) })
    const completion = await a.sentWith(Success, 7)
    assert.equal(completion.opcode, CompletionOpcode.Write)
    assert.equal(completion.queuePairNumber, a.pair.number)
    assert.deepEqual(await b.bytes(103, 10), [255, 1, 2, 3, 4, 5, 6, 7, 8, 255])
    await b.expectNothing()
  }),
  rule('READ fetches the bytes and nothing beside them', `${POST}; IB specification 9.4.4`, async (context) => {
    const [a, b] = await context.connected()
    await b.fill(200, [9, 8, 7, 6, 5])
    await a.fill(0, new Array<number>(32).fill(255))
    await a.post({ id: 8, opcode: Opcode.Read, local: [a.segment(9, 5)], remote: b.target(200) })
    const completion = await a.sentWith(Success, 8)
    assert.equal(completion.opcode, CompletionOpcode.Read)
    assert.equal(completion.byteLength, 5)
    assert.deepEqual(await a.bytes(8, 7), [255, 9, 8, 7, 6, 5, 255])
  }),
  rule(
    'every small length and alignment arrives whole',
    'IB specification 9.7: message lengths are arbitrary',
    async (context) => {
      const [a, b] = await context.connected()
      await a.fill(
        0,
        Array.from({ length: 128 }, (_, index) => index + 1),
      )
      for (const length of [1, 2, 3, 7, 8, 9, 15, 16, 24, 31, 63, 64, 65, 72, 100]) {
        for (const shift of [0, 1, 4]) {
          await b.fill(0, new Array<number>(160).fill(0))
          await a.post({
            id: length,
            opcode: Opcode.Write,
            local: [a.segment(shift, length)],
            remote: b.target(16 + 3 * shift),
          })
          await a.sentWith(Success, length)
          const expected = Array.from({ length }, (_, index) => index + shift + 1)
          assert.deepEqual(
            await b.bytes(15 + 3 * shift, length + 2),
            [0, ...expected, 0],
            `length ${length}, shift ${shift}`,
          )
        }
      }
    },
  ),
  rule('a large WRITE and READ arrive whole', POST, async (context) => {
    const [a, b] = await context.connected()
    const from = await a.player.allocate(a.domain, LARGE, 1)
    const to = await b.player.allocate(b.domain, LARGE, 15)
    const bytes = Uint8Array.from({ length: LARGE }, (_, index) => (index * 31) % 251)
    await a.player.fill(from.handle, 0, bytes)
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, LARGE, from)], remote: b.target(0, to) })
    await a.sentWith(Success)
    assert.deepEqual(await b.player.read(to.handle, 0, LARGE), bytes)
    await a.player.fill(from.handle, 0, new Uint8Array(LARGE))
    await a.post({ id: 2, opcode: Opcode.Read, local: [a.segment(0, LARGE, from)], remote: b.target(0, to) })
    await a.sentWith(Success)
    assert.deepEqual(await a.player.read(from.handle, 0, LARGE), bytes)
  }),
  rule('WRITE gathers segments in order', `${POST} sg_list`, async (context) => {
    const [a, b] = await context.connected()
    await a.fill(0, [1, 2, 3, 4, 5, 6, 7, 8, 9])
    await a.post({
      id: 1,
      opcode: Opcode.Write,
      local: [a.segment(6, 3), a.segment(0, 2), a.segment(4, 1)],
      remote: b.target(0),
    })
    await a.sentWith(Success)
    assert.deepEqual(await b.bytes(0, 7), [7, 8, 9, 1, 2, 5, 0])
  }),
  rule('READ scatters into segments in order', `${POST} sg_list`, async (context) => {
    const [a, b] = await context.connected()
    await b.fill(0, [1, 2, 3, 4, 5, 6])
    await a.post({
      id: 1,
      opcode: Opcode.Read,
      local: [a.segment(50, 2), a.segment(10, 3), a.segment(30, 1)],
      remote: b.target(0),
    })
    await a.sentWith(Success)
    assert.deepEqual(await a.bytes(50, 3), [1, 2, 0])
    assert.deepEqual(await a.bytes(10, 4), [3, 4, 5, 0])
    assert.deepEqual(await a.bytes(30, 2), [6, 0])
  }),
  rule(
    'a WRITE without bytes succeeds and looks at no key',
    'IB specification C9-88: no key check for zero length; pyverbs zero-size tests',
    async (context) => {
      const [a] = await context.connected()
      await a.post({ id: 3, opcode: Opcode.Write, local: [], remote: { address: 0, key: 1 } })
      await a.sentWith(Success, 3)
    },
  ),
  rule(
    'a READ without bytes succeeds and looks at no key',
    'IB specification C9-88; pyverbs zero-size tests',
    async (context) => {
      const [a] = await context.connected()
      await a.post({ id: 3, opcode: Opcode.Read, local: [], remote: { address: 0, key: 1 } })
      await a.sentWith(Success, 3)
    },
  ),
  rule(
    'requests of one queue pair complete in the order of their posts',
    'IB specification 10.8.3.3: ordering',
    async (context) => {
      const [a, b] = await context.connected()
      for (let id = 1; id <= 10; id += 1)
        await a.post({
          id,
          opcode: id % 2 === 0 ? Opcode.Read : Opcode.Write,
          local: [a.segment(8 * id, 8)],
          remote: b.target(8 * id),
        })
      const ids = (await a.sent(10)).map((completion) => completion.id)
      assert.deepEqual(ids, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    },
  ),
  rule(
    'a READ behind a WRITE sees what was written',
    'IB specification 10.8.3.3, table of ordering rules',
    async (context) => {
      const [a, b] = await context.connected()
      await a.setWord(0, 0x1122334455667788n)
      await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 8)], remote: b.target(512), signaled: false })
      await a.post({ id: 2, opcode: Opcode.Read, local: [a.segment(64, 8)], remote: b.target(512) })
      await a.sentWith(Success, 2)
      assert.equal(await a.word(64), 0x1122334455667788n)
    },
  ),
  rule(
    'WRITE works towards the first and up to the last byte',
    'ibv_reg_mr(3): the registered range is usable whole',
    async (context) => {
      const [a, b] = await context.connected()
      await a.fill(0, [5])
      await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 1)], remote: b.target(0) })
      await a.post({ id: 2, opcode: Opcode.Write, local: [a.segment(0, 1)], remote: b.target(b.memory.length - 1) })
      await a.sent(2)
      assert.deepEqual([...(await b.bytes(0, 1)), ...(await b.bytes(b.memory.length - 1, 1))], [5, 5])
    },
  ),
  rule('memory with RemoteRead alone can be read', 'ibv_reg_mr(3)', async (context) => {
    const [a, b] = await context.connected()
    const memory = await b.player.allocate(b.domain, 4096, Access.RemoteRead)
    await a.post({ id: 1, opcode: Opcode.Read, local: [a.segment(0, 8)], remote: b.target(0, memory) })
    await a.sentWith(Success)
  }),
  rule(
    'WRITE with immediate writes, and completes a receive with length and value',
    `${POST} IBV_WR_RDMA_WRITE_WITH_IMM; ibv_poll_cq(3)`,
    async (context) => {
      const [a, b] = await context.connected()
      await b.receiveInto({ id: 21, local: [] })
      await a.fill(0, [1, 2, 3])
      await a.post({
        id: 1,
        opcode: Opcode.WriteWithImmediate,
        local: [a.segment(0, 3)],
        remote: b.target(700),
        immediate: 0xfedcba98,
      })
      await a.sentWith(Success, 1)
      const completion = await b.receivedWith(Success, 21)
      assert.equal(completion.opcode, CompletionOpcode.ReceiveWriteWithImmediate)
      assert.equal(completion.byteLength, 3)
      assert.equal(completion.immediate, 0xfedcba98)
      assert.equal(completion.flags & 2, 2)
      assert.deepEqual(await b.bytes(700, 3), [1, 2, 3])
    },
  ),
  rule(
    "WRITE with immediate does not touch the receive request's buffer",
    `${POST}; IB specification 9.4.3`,
    async (context) => {
      const [a, b] = await context.connected()
      await b.fill(800, [77])
      await b.receive(22, 800, 8)
      await a.post({
        id: 1,
        opcode: Opcode.WriteWithImmediate,
        local: [a.segment(0, 3)],
        remote: b.target(900),
        immediate: 1,
      })
      await b.receivedWith(Success, 22)
      assert.deepEqual(await b.bytes(800, 1), [77])
    },
  ),
  rule(
    'inline bytes are the ones at the post, and need no registration',
    `${POST} IBV_SEND_INLINE`,
    async (context) => {
      const [a, b] = await context.connected()
      await a.post({ id: 1, opcode: Opcode.Write, bytes: Uint8Array.of(4, 5, 6), remote: b.target(0) })
      await a.sentWith(Success, 1)
      assert.deepEqual(await b.bytes(0, 4), [4, 5, 6, 0])
    },
  ),
  rule(
    'two connections carry their own traffic',
    'IB specification 9.2: a queue pair pair is a connection',
    async (context) => {
      const [a, b] = await context.connected()
      const [c, d] = await context.connected()
      await a.fill(0, [1])
      await c.fill(0, [2])
      await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 1)], remote: b.target(0) })
      await c.post({ id: 2, opcode: Opcode.Write, local: [c.segment(0, 1)], remote: d.target(0) })
      await a.sentWith(Success, 1)
      await c.sentWith(Success, 2)
      assert.deepEqual([...(await b.bytes(0, 1)), ...(await d.bytes(0, 1))], [1, 2])
    },
  ),
  rule('a queue pair connected to itself carries traffic', 'rust-ibverbs tests: self-loop', async (context) => {
    const a = await context.end(0)
    await a.connect(a.pair.endpoint)
    await a.fill(0, [3, 1, 4])
    await a.receive(1, 64, 16)
    await a.post({ id: 2, opcode: Opcode.Send, local: [a.segment(0, 3)] })
    await a.sentWith(Success, 2)
    const completion = await a.receivedWith(Success, 1)
    assert.equal(completion.byteLength, 3)
    assert.deepEqual(await a.bytes(64, 3), [3, 1, 4])
  }),
  rule('both directions of one connection work', 'IB specification 9.2', async (context) => {
    const [a, b] = await context.connected()
    await a.fill(0, [1])
    await b.fill(8, [2])
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 1)], remote: b.target(0) })
    await b.post({ id: 2, opcode: Opcode.Write, local: [b.segment(8, 1)], remote: a.target(8) })
    await a.sentWith(Success, 1)
    await b.sentWith(Success, 2)
    assert.deepEqual([...(await b.bytes(0, 1)), ...(await a.bytes(8, 1))], [1, 2])
  }),
  rule(
    'a bad local key fails at the requester and leaves the responder alone',
    'IB specification 9.9.2; rxe_req.c; pyverbs invalid_lkey',
    async (context) => {
      const [a, b] = await context.connected()
      await a.post({
        id: 1,
        opcode: Opcode.Write,
        local: [{ ...a.segment(0, 8), key: (a.memory.localKey ^ 1) >>> 0 }],
        remote: b.target(0),
      })
      await a.sentWith(CompletionStatus.LocalProtectionError, 1)
      assert.equal(await a.player.state(a.pair.handle), 6)
      assert.equal(await b.player.state(b.pair.handle), 3)
    },
  ),
]
