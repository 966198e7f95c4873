import { Access, CompletionStatus } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { ALL_ACCESS, assert, Opcode, Success } from '../context.ts'

const IMPLICIT = 'ibv_reg_mr(3) IBV_ACCESS_ON_DEMAND, implicit; pyverbs test_odp implicit'
const ADVISE = 'ibv_advise_mr(3)'
const PHYSICAL = 'MLNX_OFED 4 IBV_EXP_ACCESS_PHYSICAL_ADDR; contract: registerPhysical'
const READ_WRITE = Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite
/** An address where no program has memory (mmap(2), vm.mmap_min_addr). */
const NOWHERE = 4096

const onDemand: readonly ConformanceCase[] = [
  rule('one key reaches whatever the process has', IMPLICIT, async (context) => {
    const [a, b] = await context.connected()
    const all = await b.player.implicit(b.domain, READ_WRITE)
    const other = await b.player.register(b.domain, 4096, Access.LocalWrite)
    await a.fill(0, [1, 2, 3, 4])
    for (const memory of [b.memory, other]) {
      const remote = { address: memory.address + 100, key: all.remoteKey }
      await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 4)], remote })
      await a.sentWith(Success, 1)
      assert.deepEqual([...(await b.player.read(memory.handle, 100, 4))], [1, 2, 3, 4])
    }
  }),
  rule('an address where the process has nothing fails, and no process with it', IMPLICIT, async (context) => {
    const [a, b] = await context.connected()
    const all = await b.player.implicit(b.domain, READ_WRITE)
    const remote = { address: NOWHERE, key: all.remoteKey }
    await a.post({ id: 1, opcode: Opcode.Read, local: [a.segment(0, 4)], remote })
    const [completion] = await a.sent()
    const { RemoteOperationError, RemoteAccessError } = CompletionStatus
    assert.ok([RemoteOperationError as number, RemoteAccessError].includes(completion!.status))
    await b.untilState(6)
  }),
  rule('rights of an implicit region hold', IMPLICIT, async (context) => {
    const [a, b] = await context.connected()
    const all = await b.player.implicit(b.domain, Access.LocalWrite | Access.RemoteRead)
    const remote = { address: b.memory.address, key: all.remoteKey }
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 4)], remote })
    await a.sentWith(CompletionStatus.RemoteAccessError, 1)
  }),
  rule('an implicit local key sends from and receives into anything', IMPLICIT, async (context) => {
    const [a, b] = await context.connected()
    const [from, to] = [await a.player.implicit(a.domain, 1), await b.player.implicit(b.domain, 1)]
    await a.fill(0, [5, 4, 3, 2])
    await b.receiveInto({ id: 5, local: [{ address: b.memory.address + 64, length: 16, key: to.localKey }] })
    const local = [{ address: a.memory.address, length: 4, key: from.localKey }]
    await a.post({ id: 1, opcode: Opcode.Send, local })
    await b.receivedWith(Success, 5)
    assert.deepEqual(await b.bytes(64, 4), [5, 4, 3, 2])
  }),
  rule('a local address where the process has nothing fails at the requester', IMPLICIT, async (context) => {
    const [a, b] = await context.connected()
    const all = await a.player.implicit(a.domain, 1)
    const local = [{ address: NOWHERE, length: 4, key: all.localKey }]
    await a.post({ id: 1, opcode: Opcode.Write, local, remote: b.target(0) })
    await a.sentWith(CompletionStatus.LocalProtectionError, 1)
  }),
  rule('the key of a closed implicit region reaches nothing', IMPLICIT, async (context) => {
    const [a, b] = await context.connected()
    const all = await b.player.implicit(b.domain, READ_WRITE)
    const remote = { address: b.memory.address, key: all.remoteKey }
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 4)], remote })
    await a.sentWith(Success, 1)
    await b.player.close(all.handle)
    await a.post({ id: 2, opcode: Opcode.Write, local: [a.segment(0, 4)], remote })
    await a.sentWith(CompletionStatus.RemoteAccessError, 2)
  }),
  rule('an on-demand region is used as any other', 'ibv_reg_mr(3) IBV_ACCESS_ON_DEMAND', async (context) => {
    const [a, b] = await context.connected()
    const memory = await b.player.allocate(b.domain, 8192, READ_WRITE | Access.OnDemand)
    await a.fill(0, [6, 7, 8, 9])
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 4)], remote: b.target(8188, memory) })
    await a.sentWith(Success, 1)
    assert.deepEqual([...(await b.player.read(memory.handle, 8188, 4))], [6, 7, 8, 9])
    await b.player.advise(b.domain, 'prefetch-write', [b.segment(0, 8192, memory)])
  }),
]

const advice: readonly ConformanceCase[] = [
  rule('a range of an implicit region is prefetched', ADVISE, async (context) => {
    const a = await context.end(0)
    const all = await a.player.implicit(a.domain, 1)
    const range = { address: a.memory.address, length: 4096, key: all.localKey }
    await a.player.advise(a.domain, 'prefetch', [range])
    await a.player.advise(a.domain, 'prefetch-write', [range, range])
  }),
  rule('a range where the process has nothing is refused', `${ADVISE} EFAULT`, async (context) => {
    const a = await context.end(0)
    const all = await a.player.implicit(a.domain, 1)
    const range = { address: NOWHERE, length: 4096, key: all.localKey }
    await context.refused('EFAULT', a.player.advise(a.domain, 'prefetch', [range]))
  }),
  rule('a range beyond its region is refused', `${ADVISE} EFAULT`, async (context) => {
    const a = await context.end(0)
    const memory = await a.player.allocate(a.domain, 8192, Access.LocalWrite | Access.OnDemand)
    await context.refused('EFAULT', a.player.advise(a.domain, 'prefetch', [a.segment(4096, 4097, memory)]))
  }),
  rule(
    'a key of a region that is not on demand is refused',
    'drivers/infiniband/hw/mlx5/odp.c get_prefetchable_mr',
    async (context) => {
      const a = await context.end(0)
      await context.refused('ENOENT', a.player.advise(a.domain, 'prefetch', [a.segment(0, 4096)]))
    },
  ),
  rule('a range of another domain is refused', `${ADVISE} EPERM`, async (context) => {
    const a = await context.end(0)
    const all = await a.player.implicit(a.domain, 1)
    const range = { address: a.memory.address, length: 4096, key: all.localKey }
    await context.refused('EPERM', a.player.advise(await a.player.domain(), 'prefetch', [range]))
  }),
  rule('a range that may not be written is not prefetched for writing', `${ADVISE} EPERM`, async (context) => {
    const a = await context.end(0)
    const all = await a.player.implicit(a.domain, 0)
    const range = { address: a.memory.address, length: 4096, key: all.localKey }
    await context.refused('EPERM', a.player.advise(a.domain, 'prefetch-write', [range]))
  }),
]

const physical: readonly ConformanceCase[] = [
  rule('physical memory is written and read by its own addresses', PHYSICAL, async (context) => {
    const [a, b] = await context.connected()
    const { remoteKey: key } = await b.player.physical(b.domain, ALL_ACCESS)
    await a.fill(0, [2, 7, 1, 8])
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 4)], remote: { address: 4096, key } })
    await a.sentWith(Success, 1)
    await a.post({ id: 2, opcode: Opcode.Read, local: [a.segment(64, 4)], remote: { address: 4096, key } })
    await a.sentWith(Success, 2)
    assert.deepEqual(await a.bytes(64, 4), [2, 7, 1, 8])
  }),
  rule('regions over physical memory show the same bytes', PHYSICAL, async (context) => {
    const [a, b] = await context.connected()
    const first = await b.player.physical(b.domain, ALL_ACCESS)
    const second = await b.player.physical(b.domain, ALL_ACCESS)
    assert.notEqual(first.remoteKey, second.remoteKey)
    await a.fill(0, [3])
    const target = { address: 77, key: first.remoteKey }
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 1)], remote: target })
    await a.sentWith(Success, 1)
    const source = { address: 77, key: second.remoteKey }
    await a.post({ id: 2, opcode: Opcode.Read, local: [a.segment(64, 1)], remote: source })
    await a.sentWith(Success, 2)
    assert.deepEqual(await a.bytes(64, 1), [3])
  }),
  rule('a physical address beyond what there is fails', PHYSICAL, async (context) => {
    const [a, b] = await context.connected()
    const { remoteKey: key, length } = await b.player.physical(b.domain, ALL_ACCESS)
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 4)], remote: { address: length - 4, key } })
    await a.sentWith(Success, 1)
    await a.post({ id: 2, opcode: Opcode.Write, local: [a.segment(0, 4)], remote: { address: length - 3, key } })
    await a.sentWith(CompletionStatus.RemoteAccessError, 2)
  }),
  rule('rights of a region over physical memory hold', PHYSICAL, async (context) => {
    const [a, b] = await context.connected()
    const { remoteKey: key } = await b.player.physical(b.domain, Access.RemoteRead)
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 4)], remote: { address: 0, key } })
    await a.sentWith(CompletionStatus.RemoteAccessError, 1)
  }),
  rule('atomics work on physical memory', PHYSICAL, async (context) => {
    const [a, b] = await context.connected()
    const { remoteKey: key } = await b.player.physical(b.domain, ALL_ACCESS)
    for (const old of [0n, 5n]) {
      const remote = { address: 128, key }
      await a.post({ id: 1, opcode: Opcode.FetchAdd, local: [a.segment(0, 8)], remote, compareAdd: 5n })
      await a.sentWith(Success, 1)
      assert.equal(await a.word(0), old)
    }
  }),
]

/** Regions over more than the program registered: a whole process, paged on demand, and physical memory. */
export const addressSpaceCases: readonly ConformanceCase[] = [...onDemand, ...advice, ...physical]
