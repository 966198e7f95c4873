import { Access, CompletionStatus } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { ALL_ACCESS, assert, type End, Opcode, Success } from '../context.ts'

const REREGISTER = 'ibv_rereg_mr(3); pyverbs test_mr_rereg'
const { RemoteAccessError, RemoteOperationError, LocalProtectionError } = CompletionStatus

async function write(a: End, b: End, status: number, id = 1): Promise<void> {
  await a.post({ id, opcode: Opcode.Write, local: [a.segment(0, 8)], remote: b.target(0) })
  await a.sentWith(status, id)
}

/** ibv_rereg_mr(3): rights, protection domain, the memory itself. */
export const reregisterCases: readonly ConformanceCase[] = [
  rule('rights that were taken away are refused', `${REREGISTER}_access`, async (context) => {
    const [a, b] = await context.connected()
    const narrow = b.withMemory(
      await b.player.reregister(b.memory.handle, { access: Access.LocalWrite | Access.RemoteRead }),
    )
    await a.post({ id: 1, opcode: Opcode.Read, local: [a.segment(0, 8)], remote: narrow.target(0) })
    await a.sentWith(Success, 1)
    await write(a, narrow, RemoteAccessError, 2)
    await b.untilState(6)
  }),
  rule('a key that was used before does not keep its rights', `${REREGISTER}_access`, async (context) => {
    const [a, b] = await context.connected()
    await write(a, b, Success)
    await b.player.reregister(b.memory.handle, { access: Access.LocalWrite | Access.RemoteRead })
    await write(a, b, RemoteAccessError, 2)
  }),
  rule('rights that were given back hold again, and the bytes stayed', `${REREGISTER}_access`, async (context) => {
    const [a, b] = await context.connected()
    await b.fill(8, [7])
    await b.player.reregister(b.memory.handle, { access: 0 })
    const wide = b.withMemory(await b.player.reregister(b.memory.handle, { access: ALL_ACCESS }))
    await write(a, wide, Success)
    assert.deepEqual(await wide.bytes(8, 1), [7])
  }),
  rule(
    'rights that do not go together are refused, and nothing changes',
    `${REREGISTER}_access_bad_flow`,
    async (context) => {
      const [a, b] = await context.connected()
      await context.refused('EINVAL', b.player.reregister(b.memory.handle, { access: Access.RemoteWrite }))
      await write(a, b, Success)
    },
  ),
  rule(
    'memory that moved to another domain is out of reach, and within it when it came back',
    `${REREGISTER}_pd`,
    async (context) => {
      const [a, b] = await context.connected()
      const elsewhere = await b.player.domain()
      await b.player.reregister(b.memory.handle, { domain: elsewhere })
      const back = b.withMemory(await b.player.reregister(b.memory.handle, { domain: b.domain }))
      await write(a, back, Success)
      const away = b.withMemory(await b.player.reregister(b.memory.handle, { domain: elsewhere }))
      await write(a, away, RemoteAccessError, 2)
    },
  ),
  rule('memory of another domain cannot be sent from', `${REREGISTER}_pd`, async (context) => {
    const [a] = await context.connected()
    const elsewhere = await a.player.domain()
    const away = a.withMemory(await a.player.reregister(a.memory.handle, { domain: elsewhere }))
    await away.post({ id: 1, opcode: Opcode.Send, local: [away.segment(0, 8)] })
    await away.sentWith(LocalProtectionError, 1)
  }),
  rule(
    'moved memory ends with the domain that has it, not with the one that had it',
    'ibv_dealloc_pd(3)',
    async (context) => {
      const player = context.players[0]
      const [first, second] = [await player.domain(), await player.domain()]
      const memory = await player.allocate(first, 4096, ALL_ACCESS)
      await player.reregister(memory.handle, { domain: second })
      await player.close(first)
      const { remoteKey } = await player.reregister(memory.handle, { access: ALL_ACCESS })
      assert.notEqual(remoteKey, 0)
      await player.close(second)
      await context.refusedClosed(player.reregister(memory.handle, { access: 0 }))
    },
  ),
  rule(
    'a receive that was posted before the memory moved fails on both sides',
    `${REREGISTER}_addr`,
    async (context) => {
      const [a, b] = await context.connected()
      await b.receive(5, 0, 64)
      await b.player.reregister(b.memory.handle, { bytes: 8192, access: 7 })
      await a.post({ id: 1, opcode: Opcode.Send, local: [a.segment(0, 8)] })
      await a.sentWith(RemoteOperationError, 1)
      await b.untilFailed(5)
    },
  ),
  rule('other memory is reached under the new address, to its own end', `${REREGISTER}_addr`, async (context) => {
    const [a, b] = await context.connected()
    const moved = b.withMemory(await b.player.reregister(b.memory.handle, { bytes: 8192, access: 7 }))
    assert.equal(moved.memory.length, 8192)
    await a.fill(0, [3, 1, 4, 1])
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 4)], remote: moved.target(8188) })
    await a.sentWith(Success, 1)
    assert.deepEqual(await moved.bytes(8188, 4), [3, 1, 4, 1])
    await a.post({ id: 2, opcode: Opcode.Write, local: [a.segment(0, 4)], remote: moved.target(8189) })
    await a.sentWith(RemoteAccessError, 2)
  }),
  rule(
    'memory that a window is bound to is not changed',
    'ibv_dereg_mr(3), whose work it also does',
    async (context) => {
      const [a, b] = await context.connected()
      const memory = await b.player.allocate(b.domain, 4096, ALL_ACCESS | Access.MemoryWindowBind)
      const { handle } = await b.player.window(b.domain, 1)
      const bind = { id: 90, window: handle, memory: memory.handle, access: Access.RemoteRead }
      const key = await b.player.bind(b.pair.handle, bind)
      await b.sentWith(Success, 90)
      await context.refusedWith(['EBUSY', 'EINVAL'], b.player.reregister(memory.handle, { access: ALL_ACCESS }))
      const remote = { address: memory.address, key }
      await a.post({ id: 1, opcode: Opcode.Read, local: [a.segment(0, 8)], remote })
      await a.sentWith(Success, 1)
    },
  ),
]
