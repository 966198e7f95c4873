import { Access } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { assert, Opcode, Success } from '../context.ts'
import {
  another,
  bound,
  CHECKS,
  ends,
  LOOKUP,
  MemoryWindowBindError,
  READ_WRITE,
  RemoteAccessError,
  rebound,
  WINDOW,
  write,
  writes,
} from './window-support.ts'

/** Windows of type 2: for the queue pair that bound them. */
export const typeTwoCases: readonly ConformanceCase[] = [
  rule(
    'type 2 may be used through the queue pair that bound it',
    `${LOOKUP}; pyverbs test_mw_type2`,
    async (context) => {
      const [a, b] = await ends(context)
      const { key } = await bound(b, { type: 2 })
      await a.fill(0, [9, 8, 7, 6, 5, 4, 3, 2])
      await writes(a, b, key, Success)
      assert.deepEqual(await b.bytes(WINDOW.offset, 8), [9, 8, 7, 6, 5, 4, 3, 2])
    },
  ),
  rule('type 2 is refused through every other queue pair', LOOKUP, async (context) => {
    const [a, b] = await ends(context)
    const { key } = await bound(b, { type: 2 })
    const [c, d] = await another(context, a, b)
    await write(c, b, key, WINDOW.offset)
    await c.sentWith(RemoteAccessError, 1)
    await d.untilState(6)
    await writes(a, b, key, Success)
  }),
  rule(
    "the low eight bits of a key of type 2 are the consumer's",
    'rxe_mw.c rxe_do_bind_mw; ibv_alloc_mw(3)',
    async (context) => {
      const [a, b] = await ends(context)
      const { handle, remoteKey } = await b.player.window(b.domain, 2)
      const tag = (remoteKey + 100) & 0xff
      const bind = { access: READ_WRITE, memory: b.memory.handle, ...WINDOW, keyTag: tag }
      const key = await rebound(b, handle, bind)
      assert.equal(key, ((remoteKey & 0xffffff00) | tag) >>> 0)
      await writes(a, b, key, Success)
      await writes(a, b, ((key & 0xffffff00) | ((tag + 1) & 0xff)) >>> 0, RemoteAccessError)
    },
  ),
  rule('one byte behind a window of type 2 is refused', LOOKUP, async (context) => {
    const [a, b] = await ends(context)
    const { key } = await bound(b, { type: 2 })
    await write(a, b, key, WINDOW.offset, WINDOW.length)
    await a.sentWith(Success, 1)
    await write(a, b, key, WINDOW.offset + WINDOW.length, 1, 2)
    await a.sentWith(RemoteAccessError, 2)
  }),
  rule('a bound window of type 2 cannot be bound again', `${CHECKS} o10-37.2.30`, async (context) => {
    const [, b] = await ends(context)
    const { window } = await bound(b, { type: 2 })
    const bind = { id: 91, window, memory: b.memory.handle, access: READ_WRITE, ...WINDOW }
    await b.player.bind(b.pair.handle, bind)
    await b.sentWith(MemoryWindowBindError, 91)
  }),
  rule('a bind of length zero does not revoke type 2', `${CHECKS} o10-37.2.40`, async (context) => {
    const [, b] = await ends(context)
    const { handle } = await b.player.window(b.domain, 2)
    await b.player.bind(b.pair.handle, { id: 91, window: handle, access: 0 })
    await b.sentWith(MemoryWindowBindError, 91)
  }),
  rule('a queue pair of another domain cannot bind a window of type 2', `${CHECKS} C10-72`, async (context) => {
    const [, b] = await ends(context)
    const [, d] = await context.connected()
    const { handle } = await b.player.window(b.domain, 2)
    const bind = { id: 91, window: handle, memory: b.memory.handle, access: READ_WRITE, ...WINDOW }
    await d.player.bind(d.pair.handle, bind)
    await d.sentWith(MemoryWindowBindError, 91)
  }),
  rule('a zero-based window of type 2 is addressed from 0', 'ibv_bind_mw(3) IBV_ACCESS_ZERO_BASED', async (context) => {
    const [a, b] = await ends(context)
    const { key } = await bound(b, { type: 2, access: READ_WRITE | Access.ZeroBased })
    await a.fill(0, [5, 6, 7, 8])
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 4)], remote: { address: 60, key } })
    await a.sentWith(Success, 1)
    assert.deepEqual(await b.bytes(WINDOW.offset + 60, 4), [5, 6, 7, 8])
    await a.post({ id: 2, opcode: Opcode.Write, local: [a.segment(0, 4)], remote: { address: 61, key } })
    await a.sentWith(RemoteAccessError, 2)
  }),
]
