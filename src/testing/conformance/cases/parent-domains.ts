import { type ConformanceCase, rule } from '../case.ts'
import { ALL_ACCESS, assert, Opcode, Success } from '../context.ts'

const PARENT = 'ibv_alloc_parent_domain(3)'

/** Thread domains and parent domains. */
export const parentDomainCases: readonly ConformanceCase[] = [
  rule('what is made in a domain and in its parent domain is used together', PARENT, async (context) => {
    const [a, b] = await context.connected()
    const parent = await b.player.parentDomain(b.domain, await b.player.threadDomain())
    const memory = await b.player.allocate(parent, 4096, ALL_ACCESS)
    await a.fill(0, [1, 2, 3])
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 3)], remote: b.target(8, memory) })
    await a.sentWith(Success, 1)
    assert.deepEqual([...(await b.player.read(memory.handle, 8, 3))], [1, 2, 3])
  }),
  rule('a queue pair of a parent domain uses memory of the domain', PARENT, async (context) => {
    const b = await context.end(1)
    const parent = await context.players[0].parentDomain(await context.players[0].domain())
    const a = await context.end(0, { domain: parent })
    await a.connect(b.pair.endpoint)
    await b.connect(a.pair.endpoint)
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 3)], remote: b.target(8) })
    await a.sentWith(Success, 1)
  }),
  rule('a thread domain in use stays', 'ibv_alloc_td(3); ibv_alloc_parent_domain(3)', async (context) => {
    const player = context.players[0]
    const [domain, thread] = [await player.domain(), await player.threadDomain()]
    const parent = await player.parentDomain(domain, thread)
    await context.refused('EBUSY', player.close(thread))
    await player.close(parent)
    await player.close(thread)
  }),
  rule('closing a domain closes its parent domains', 'contract: close cascades', async (context) => {
    const player = context.players[0]
    const domain = await player.domain()
    const parent = await player.parentDomain(domain)
    await player.close(domain)
    await context.refusedClosed(player.allocate(parent, 4096, ALL_ACCESS))
  }),
]
