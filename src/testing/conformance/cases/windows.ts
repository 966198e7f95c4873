import { Access, CompletionStatus } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { Opcode, Success } from '../context.ts'
import { bindFailureCases } from './window-failures.ts'
import { invalidationCases } from './window-invalidation.ts'
import { bound, ends, rebound, WINDOW, writes } from './window-support.ts'
import { typeOneCases } from './windows-type-1.ts'
import { typeTwoCases } from './windows-type-2.ts'

const lifetimes: readonly ConformanceCase[] = [
  rule(
    'memory with a bound window stays registered',
    'ibv_dereg_mr(3); rxe_verbs.c: EINVAL, the contract: EBUSY',
    async (context) => {
      const [a, b] = await ends(context)
      const { key } = await bound(b)
      await context.refusedWith(['EBUSY', 'EINVAL'], b.player.close(b.memory.handle))
      await writes(a, b, key, Success)
    },
  ),
  rule('memory can be closed once its window shows nothing', 'ibv_dereg_mr(3)', async (context) => {
    const [, b] = await ends(context)
    const { window } = await bound(b)
    await rebound(b, window, { access: 0 })
    await b.player.close(b.memory.handle)
  }),
  rule(
    'memory can be closed once the peer took its window back',
    'ibv_dereg_mr(3); rxe_mw.c rxe_do_invalidate_mw',
    async (context) => {
      const [a, b] = await ends(context)
      const { key } = await bound(b, { type: 2 })
      const inbox = await b.player.allocate(b.domain, 64, Access.LocalWrite)
      await b.receiveInto({ id: 5, local: [b.segment(0, 16, inbox)] })
      await a.post({ id: 2, opcode: Opcode.SendWithInvalidate, local: [a.segment(0, 4)], invalidate: key })
      await b.receivedWith(Success, 5)
      await b.player.close(b.memory.handle)
    },
  ),
  rule('a window may be of type 1 or 2 only', 'ibv_alloc_mw(3); pyverbs test_reg_mw_wrong_type', async (context) => {
    const player = context.players[0]
    const domain = await player.domain()
    await player.window(domain, 1)
    await context.refused('EINVAL', player.window(domain, 3 as 1))
  }),
  rule("a window's key is not a local key", 'IB specification 10.6.7: a window has an R_Key only', async (context) => {
    const [a, b] = await ends(context)
    const { key } = await bound(b)
    const local = [{ address: b.memory.address + WINDOW.offset, length: 8, key }]
    await b.post({ id: 4, opcode: Opcode.Write, local, remote: a.target(0) })
    await b.sentWith(CompletionStatus.LocalProtectionError, 4)
  }),
]

/** Memory windows of both types, and the two ways to invalidate a key. */
export const windowCases: readonly ConformanceCase[] = [
  ...typeOneCases,
  ...bindFailureCases,
  ...typeTwoCases,
  ...invalidationCases,
  ...lifetimes,
]
