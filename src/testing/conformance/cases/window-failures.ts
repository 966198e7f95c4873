import { Access } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { ALL_ACCESS, Flushed, Opcode, Success } from '../context.ts'
import { bound, CHECKS, ends, failsToBind, read, WINDOW, write } from './window-support.ts'

/** Binds that must fail, for both types. */
export const bindFailureCases: readonly ConformanceCase[] = [
  rule('memory without MemoryWindowBind cannot be bound to', `${CHECKS} C10-73`, async (context) => {
    const [, b] = await ends(context, ALL_ACCESS)
    await failsToBind(b, {})
  }),
  rule('a writable window on memory without LocalWrite is refused', `${CHECKS} C10-74`, async (context) => {
    const [, b] = await ends(context, Access.MemoryWindowBind)
    await failsToBind(b, { access: Access.RemoteWrite })
  }),
  rule('a window with atomics on memory without LocalWrite is refused', `${CHECKS} C10-74`, async (context) => {
    const [, b] = await ends(context, Access.MemoryWindowBind)
    await failsToBind(b, { access: Access.RemoteAtomic })
  }),
  rule('a window for reading needs no LocalWrite', `${CHECKS} C10-74`, async (context) => {
    const [a, b] = await ends(context, Access.MemoryWindowBind)
    const { key } = await bound(b, { access: Access.RemoteRead })
    await read(a, b, key, WINDOW.offset)
    await a.sentWith(Success, 1)
  }),
  rule('a window that ends one byte behind its region is refused', `${CHECKS} C10-75`, async (context) => {
    const [, b] = await ends(context)
    await failsToBind(b, { offset: 4096 - 63, length: 64 })
  }),
  rule('a window as long as its region is allowed', `${CHECKS} C10-75`, async (context) => {
    const [a, b] = await ends(context)
    const { key } = await bound(b, { offset: 0, length: 4096 })
    await write(a, b, key, 4095, 1)
    await a.sentWith(Success, 1)
  }),
  rule(
    'after a failed bind the requests behind it are flushed',
    'IB specification 10.3.1; rxe_req.c rxe_do_local_ops',
    async (context) => {
      const [, b] = await ends(context, ALL_ACCESS)
      await failsToBind(b, {})
      await b.post({ id: 5, opcode: Opcode.Send, local: [b.segment(0, 8)] })
      await b.sentWith(Flushed, 5)
    },
  ),
]
