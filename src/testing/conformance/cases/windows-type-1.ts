import { Access } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { assert, Opcode, Success } from '../context.ts'
import {
  another,
  BIND,
  BINDABLE,
  bound,
  CHECKS,
  ends,
  LOOKUP,
  READ_WRITE,
  RemoteAccessError,
  read,
  rebound,
  refused,
  WINDOW,
  write,
  writes,
} from './window-support.ts'

/** Windows of type 1: for every queue pair of the domain. */
export const typeOneCases: readonly ConformanceCase[] = [
  rule('a window gives rights that its region has not', `${BIND}; ${CHECKS}`, async (context) => {
    const [a, b] = await ends(context)
    const { key } = await bound(b)
    assert.equal(b.memory.remoteKey, 0)
    await a.fill(0, [1, 2, 3, 4, 5, 6, 7, 8])
    await writes(a, b, key, Success)
    assert.deepEqual(await b.bytes(WINDOW.offset, 8), [1, 2, 3, 4, 5, 6, 7, 8])
    await read(a, b, key, WINDOW.offset)
    await a.sentWith(Success, 1)
    assert.deepEqual(await a.bytes(512, 8), [1, 2, 3, 4, 5, 6, 7, 8])
  }),
  rule('a window that was not bound yet reaches nothing', LOOKUP, async (context) => {
    const [a, b] = await ends(context)
    const { remoteKey } = await b.player.window(b.domain, 1)
    await writes(a, b, remoteKey, RemoteAccessError)
    await b.untilState(6)
  }),
  rule('the whole window can be used', BIND, async (context) => {
    const [a, b] = await ends(context)
    const { key } = await bound(b)
    await write(a, b, key, WINDOW.offset, WINDOW.length)
    await a.sentWith(Success, 1)
    await write(a, b, key, WINDOW.offset + WINDOW.length - 1, 1, 2)
    await a.sentWith(Success, 2)
  }),
  refused('one byte behind the window is refused, though the region goes on', BIND, {}, (a, b, key) =>
    write(a, b, key, WINDOW.offset + 1, WINDOW.length),
  ),
  refused('one byte before the window is refused, though the region begins earlier', BIND, {}, (a, b, key) =>
    write(a, b, key, WINDOW.offset - 1, 1),
  ),
  refused('a window for reading refuses a WRITE', BIND, { access: Access.RemoteRead }, (a, b, key) =>
    write(a, b, key, WINDOW.offset),
  ),
  refused('a window for writing refuses a READ', BIND, { access: Access.RemoteWrite }, (a, b, key) =>
    read(a, b, key, WINDOW.offset),
  ),
  refused('a window without RemoteAtomic refuses atomics', BIND, {}, (a, b, key) =>
    a.post({
      id: 1,
      opcode: Opcode.FetchAdd,
      local: [a.segment(512, 8)],
      remote: { address: b.memory.address + WINDOW.offset, key },
      compareAdd: 1n,
    }),
  ),
  rule('atomics go through a window with RemoteAtomic', BIND, async (context) => {
    const [a, b] = await ends(context)
    const { key } = await bound(b, { access: Access.RemoteAtomic })
    await b.setWord(WINDOW.offset, 40n)
    const remote = { address: b.memory.address + WINDOW.offset, key }
    await a.post({ id: 1, opcode: Opcode.FetchAdd, local: [a.segment(512, 8)], remote, compareAdd: 2n })
    await a.sentWith(Success, 1)
    assert.deepEqual([await a.word(512), await b.word(WINDOW.offset)], [40n, 42n])
  }),
  rule('type 1 may be used through any queue pair of its domain', LOOKUP, async (context) => {
    const [a, b] = await ends(context)
    const { key } = await bound(b)
    const [c] = await another(context, a, b)
    await write(c, b, key, WINDOW.offset)
    await c.sentWith(Success, 1)
  }),
  rule('a queue pair of another domain does not reach a window', LOOKUP, async (context) => {
    const [, b] = await ends(context)
    const { key } = await bound(b)
    const [c, d] = await context.connected()
    await write(c, b, key, WINDOW.offset)
    await c.sentWith(RemoteAccessError, 1)
    await d.untilState(6)
  }),
  rule(
    'each bind gives another key, and the one before reaches nothing',
    `${BIND}; ibv_inc_rkey(3)`,
    async (context) => {
      const [a, b] = await ends(context)
      const { window, key } = await bound(b)
      const access = READ_WRITE
      const second = await rebound(b, window, { access, memory: b.memory.handle, offset: 1024, length: 16 })
      assert.notEqual(second, key)
      assert.equal(second >>> 8, key >>> 8)
      await write(a, b, second, 1024, 16)
      await a.sentWith(Success, 1)
      await write(a, b, key, WINDOW.offset, 8, 2)
      await a.sentWith(RemoteAccessError, 2)
    },
  ),
  rule('what a peer has used is gone after a bind elsewhere', BIND, async (context) => {
    const [a, b] = await ends(context)
    const { window, key } = await bound(b)
    await writes(a, b, key, Success)
    const access = READ_WRITE
    const second = await rebound(b, window, { access, memory: b.memory.handle, offset: 1024, length: 16 })
    await write(a, b, second, WINDOW.offset, 8, 2)
    await a.sentWith(RemoteAccessError, 2)
  }),
  rule('a bind of length zero takes a window of type 1 back', 'pyverbs test_invalidate_mw_type1', async (context) => {
    const [a, b] = await ends(context)
    const { window, key } = await bound(b)
    await writes(a, b, key, Success)
    const empty = await rebound(b, window, { access: 0 })
    await writes(a, b, empty, RemoteAccessError)
    await b.untilState(6)
  }),
  rule(
    'after a bind of length zero the former key reaches nothing',
    'pyverbs test_invalidate_mw_type1',
    async (context) => {
      const [a, b] = await ends(context)
      const { window, key } = await bound(b)
      await writes(a, b, key, Success)
      await rebound(b, window, { access: 0 })
      await writes(a, b, key, RemoteAccessError)
    },
  ),
  rule(
    'a key may go out in a message that is posted right behind its bind',
    `${BIND}, NOTES: they are ordered`,
    async (context) => {
      const [a, b] = await ends(context)
      const { handle } = await b.player.window(b.domain, 1)
      await a.receive(7, 1024, 16)
      const bind = { id: 90, window: handle, memory: b.memory.handle, access: READ_WRITE, ...WINDOW }
      const key = await b.player.bind(b.pair.handle, bind)
      await b.post({ id: 91, opcode: Opcode.Send, bytes: new Uint8Array(new Uint32Array([key]).buffer) })
      await a.receivedWith(Success, 7)
      const told = new Uint32Array(Uint8Array.from(await a.bytes(1024, 4)).buffer)[0]!
      await writes(a, b, told, Success)
    },
  ),
  rule('memory of another domain is refused when the bind is posted', 'providers/rxe/rxe.c: EPERM', async (context) => {
    const [, b] = await ends(context)
    const { handle } = await b.player.window(b.domain, 1)
    const memory = await b.player.allocate(await b.player.domain(), 4096, BINDABLE)
    const bind = { id: 90, window: handle, memory: memory.handle, access: READ_WRITE, ...WINDOW }
    await context.refused('EPERM', b.player.bind(b.pair.handle, bind))
    await b.expectNothing()
  }),
  rule('a zero-based window of type 1 is refused when the bind is posted', `${CHECKS} o10-36.2.2`, async (context) => {
    const [, b] = await ends(context)
    const { handle } = await b.player.window(b.domain, 1)
    const access = READ_WRITE | Access.ZeroBased
    const bind = { id: 90, window: handle, memory: b.memory.handle, access, ...WINDOW }
    await context.refused('EINVAL', b.player.bind(b.pair.handle, bind))
  }),
  rule('closing a window takes its key back', 'ibv_dealloc_mw(3); pyverbs test_mw_type2_dealloc', async (context) => {
    const [a, b] = await ends(context)
    const { window, key } = await bound(b)
    await writes(a, b, key, Success)
    await b.player.close(window)
    await writes(a, b, key, RemoteAccessError)
  }),
]
