import { Access } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { ALL_ACCESS, assert, Opcode, Success } from '../context.ts'

const REGISTER = 'ibv_reg_mr(3)'

/** Memory regions and protection domains. */
export const memoryCases: readonly ConformanceCase[] = [
  rule('remote write without local write is refused', `${REGISTER}; pyverbs test_reg_mr_bad_flags`, async (context) => {
    const domain = await context.players[0].domain()
    await context.refused('EINVAL', context.players[0].allocate(domain, 4096, Access.RemoteWrite))
  }),
  rule(
    'remote atomic without local write is refused',
    `${REGISTER}; pyverbs test_reg_mr_bad_flags`,
    async (context) => {
      const domain = await context.players[0].domain()
      await context.refused('EINVAL', context.players[0].allocate(domain, 4096, Access.RemoteAtomic))
    },
  ),
  rule('remote read without local write is allowed', REGISTER, async (context) => {
    const domain = await context.players[0].domain()
    const memory = await context.players[0].allocate(domain, 4096, Access.RemoteRead)
    assert.notEqual(memory.remoteKey, 0)
  }),
  rule('unknown access bits are refused', REGISTER, async (context) => {
    const domain = await context.players[0].domain()
    await context.refused('EINVAL', context.players[0].allocate(domain, 4096, 1 << 30))
  }),
  rule('allocated memory is zero and as long as asked', 'contract: allocate', async (context) => {
    const a = await context.end(0)
    const memory = await a.player.allocate(a.domain, 5000, ALL_ACCESS)
    assert.equal(memory.length, 5000)
    assert.ok((await a.player.read(memory.handle, 0, 5000)).every((byte) => byte === 0))
  }),
  rule('keys of two regions differ', 'IB specification 10.6.2: a key names one region', async (context) => {
    const a = await context.end(0)
    const other = await a.player.allocate(a.domain, 4096, ALL_ACCESS)
    assert.notEqual(other.localKey, a.memory.localKey)
    assert.notEqual(other.remoteKey, a.memory.remoteKey)
  }),
  rule('a key is not reused at once', 'contract: keys are random', async (context) => {
    const a = await context.end(0)
    const first = await a.player.allocate(a.domain, 4096, ALL_ACCESS)
    await a.player.close(first.handle)
    const second = await a.player.allocate(a.domain, 4096, ALL_ACCESS)
    assert.notEqual(second.remoteKey, first.remoteKey)
  }),
  rule('closing twice is harmless', 'pyverbs base: close is idempotent', async (context) => {
    const a = await context.end(0)
    const memory = await a.player.allocate(a.domain, 4096, ALL_ACCESS)
    await a.player.close(memory.handle)
    await a.player.close(memory.handle)
    await a.player.close(a.pair.handle)
    await a.player.close(a.pair.handle)
  }),
  rule(
    'closing a domain closes its queue pairs and memory',
    'contract: close cascades (pyverbs PD.close)',
    async (context) => {
      const [a, b] = await context.connected()
      await a.player.close(a.domain)
      const refusal = await a
        .post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 8)], remote: b.target(0) })
        .catch((error: unknown) => error)
      assert.equal((refusal as { code?: string }).code, 'ERR_AETHER_CLOSED')
    },
  ),
  rule('memory of a length that is not a multiple of a page is usable to its last byte', REGISTER, async (context) => {
    const [a, b] = await context.connected()
    const memory = await b.player.allocate(b.domain, 4097, ALL_ACCESS)
    await a.fill(0, [42])
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 1)], remote: b.target(4096, memory) })
    await a.sentWith(Success, 1)
    assert.deepEqual([...(await b.player.read(memory.handle, 4096, 1))], [42])
  }),
  rule('registered private memory can be read and written', 'ibv_reg_mr(3); contract: register', async (context) => {
    const [a, b] = await context.connected()
    const memory = await b.player.register(b.domain, 8192, Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite)
    await a.fill(0, [1, 2, 3, 4])
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 4)], remote: b.target(100, memory) })
    await a.sentWith(Success, 1)
    assert.deepEqual([...(await b.player.read(memory.handle, 100, 4))], [1, 2, 3, 4])
    await a.post({ id: 2, opcode: Opcode.Read, local: [a.segment(64, 4)], remote: b.target(100, memory) })
    await a.sentWith(Success, 2)
    assert.deepEqual(await a.bytes(64, 4), [1, 2, 3, 4])
  }),
  rule('registered private memory receives messages', 'ibv_reg_mr(3); contract: register', async (context) => {
    const [a, b] = await context.connected()
    const memory = await b.player.register(b.domain, 4096, Access.LocalWrite)
    await b.receiveInto({ id: 5, local: [b.segment(10, 100, memory)] })
    await a.fill(0, [9, 8, 7])
    await a.post({ id: 1, opcode: Opcode.Send, local: [a.segment(0, 3)] })
    await b.receivedWith(Success, 5)
    assert.deepEqual([...(await b.player.read(memory.handle, 10, 3))], [9, 8, 7])
  }),
]
