import { CompletionOpcode, CompletionStatus } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { assert, type End, Opcode, Success } from '../context.ts'

const ATOMIC = 'IB specification 9.4.5; ibv_post_send(3); pyverbs test_atomic'

function fetchAdd(a: End, b: End, id: number, add: bigint, offset = 0): Promise<void> {
  return a.post({ id, opcode: Opcode.FetchAdd, local: [a.segment(64, 8)], remote: b.target(offset), compareAdd: add })
}

function compareSwap(a: End, b: End, id: number, compareAdd: bigint, swap: bigint): Promise<void> {
  return a.post({ id, opcode: Opcode.CompareSwap, local: [a.segment(64, 8)], remote: b.target(0), compareAdd, swap })
}

/** 64-bit atomics. */
export const atomicCases: readonly ConformanceCase[] = [
  rule('fetch-and-add adds and returns the old value', ATOMIC, async (context) => {
    const [a, b] = await context.connected()
    await b.setWord(0, 40n)
    await fetchAdd(a, b, 1, 2n)
    const completion = await a.sentWith(Success, 1)
    assert.equal(completion.opcode, CompletionOpcode.FetchAdd)
    assert.equal(completion.byteLength, 8)
    assert.deepEqual([await a.word(64), await b.word(0)], [40n, 42n])
  }),
  rule('fetch-and-add wraps at 2^64', ATOMIC, async (context) => {
    const [a, b] = await context.connected()
    await b.setWord(0, 2n ** 64n - 1n)
    await fetchAdd(a, b, 1, 3n)
    await a.sentWith(Success)
    assert.deepEqual([await a.word(64), await b.word(0)], [2n ** 64n - 1n, 2n])
  }),
  rule('a compare-and-swap that matches swaps and returns the old value', ATOMIC, async (context) => {
    const [a, b] = await context.connected()
    await b.setWord(0, 2n ** 63n + 5n)
    await compareSwap(a, b, 1, 2n ** 63n + 5n, 9n)
    const completion = await a.sentWith(Success, 1)
    assert.equal(completion.opcode, CompletionOpcode.CompareSwap)
    assert.deepEqual([await a.word(64), await b.word(0)], [2n ** 63n + 5n, 9n])
  }),
  rule('a compare-and-swap that does not match changes nothing and returns the value', ATOMIC, async (context) => {
    const [a, b] = await context.connected()
    await b.setWord(0, 6n)
    await compareSwap(a, b, 1, 5n, 9n)
    await a.sentWith(Success)
    assert.deepEqual([await a.word(64), await b.word(0)], [6n, 6n])
  }),
  rule(
    'atomics of two requesters on one word lose nothing',
    'IB specification 9.4.5: atomic with respect to the device',
    async (context) => {
      const [a, b] = await context.connected()
      const c = await context.end(0)
      const d = await context.end(1, { within: b })
      await c.connect(d.pair.endpoint)
      await d.connect(c.pair.endpoint)
      for (let round = 0; round < 8; round += 1) {
        await c.post({ id: 1, opcode: Opcode.FetchAdd, local: [c.segment(64, 8)], remote: b.target(0), compareAdd: 1n })
        await c.sentWith(Success)
        await fetchAdd(a, b, 2, 1n)
        await a.sentWith(Success)
      }
      assert.equal(await b.word(0), 16n)
      assert.equal(await c.word(64), 14n)
    },
  ),
  rule(
    'an address that is not a multiple of eight is refused by the responder',
    'IB specification C9-178; rxe_resp.c MISALIGNED_ATOMIC',
    async (context) => {
      const [a, b] = await context.connected()
      await fetchAdd(a, b, 1, 1n, 4)
      await a.sentWith(CompletionStatus.RemoteInvalidRequest, 1)
      await b.untilState(6)
    },
  ),
  rule(
    'memory without RemoteAtomic refuses',
    'ibv_reg_mr(3); pyverbs test_atomic_invalid_mr_access',
    async (context) => {
      const [a, b] = await context.connected()
      const memory = await b.player.allocate(b.domain, 4096, 7)
      await a.post({
        id: 1,
        opcode: Opcode.FetchAdd,
        local: [a.segment(64, 8)],
        remote: b.target(0, memory),
        compareAdd: 1n,
      })
      await a.sentWith(CompletionStatus.RemoteAccessError, 1)
      await b.untilState(6)
    },
  ),
  rule(
    'a queue pair without RemoteAtomic refuses',
    'rxe_resp.c check_op_valid; pyverbs test_atomic_invalid_qp_access',
    async (context) => {
      const [a, b] = await context.connected({}, { access: 7 })
      await fetchAdd(a, b, 1, 1n)
      await a.sentWith(CompletionStatus.RemoteInvalidRequest, 1)
      await b.untilState(6)
    },
  ),
  rule('a bad remote key refuses and changes nothing', 'pyverbs test_atomic_invalid_rkey', async (context) => {
    const [a, b] = await context.connected()
    await b.setWord(0, 6n)
    await a.post({
      id: 1,
      opcode: Opcode.CompareSwap,
      local: [a.segment(64, 8)],
      remote: { address: b.memory.address, key: (b.memory.remoteKey ^ 1) >>> 0 },
      compareAdd: 6n,
      swap: 1n,
    })
    await a.sentWith(CompletionStatus.RemoteAccessError, 1)
    assert.equal(await b.word(0), 6n)
  }),
  rule('a bad local key fails at the requester', 'pyverbs test_atomic_invalid_lkey', async (context) => {
    const [a, b] = await context.connected()
    await a.post({
      id: 1,
      opcode: Opcode.FetchAdd,
      local: [{ ...a.segment(64, 8), key: (a.memory.localKey ^ 1) >>> 0 }],
      remote: b.target(0),
      compareAdd: 1n,
    })
    await a.sentWith(CompletionStatus.LocalProtectionError, 1)
  }),
  rule('the last eight bytes of a region can be changed, not the eight behind', 'ibv_reg_mr(3)', async (context) => {
    const [a, b] = await context.connected()
    await fetchAdd(a, b, 1, 1n, b.memory.length - 8)
    await a.sentWith(Success, 1)
    await fetchAdd(a, b, 2, 1n, b.memory.length)
    await a.sentWith(CompletionStatus.RemoteAccessError, 2)
  }),
  rule(
    'a responder that offers no READ resources refuses',
    'ibv_modify_qp(3) max_dest_rd_atomic; rxe_resp.c TOO_MANY_RDMA_ATM_REQ',
    async (context) => {
      const [a, b] = await context.connected({}, { maxDestinationReadAtomic: 0 })
      await fetchAdd(a, b, 1, 1n)
      await a.sentWith(CompletionStatus.RemoteInvalidRequest, 1)
      await b.untilState(6)
    },
  ),
]
