import { CompletionFlag, CompletionOpcode } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { assert, Opcode, Success } from '../context.ts'
import {
  bound,
  CHECKS,
  ends,
  NO_SUCH_OPERATION,
  READ_WRITE,
  RemoteAccessError,
  RemoteInvalidRequest,
  rebound,
  WINDOW,
  write,
  writes,
} from './window-support.ts'

/** Invalidating a key: by its owner, and by the peer. */
export const invalidationCases: readonly ConformanceCase[] = [
  rule(
    'LOCAL_INV revokes a key that was used before',
    'ibv_post_send(3); pyverbs test_mw_type2_invalidate_local',
    async (context) => {
      const [a, b] = await ends(context)
      const { key } = await bound(b, { type: 2 })
      await writes(a, b, key, Success)
      await b.post({ id: 3, opcode: Opcode.LocalInvalidate, invalidate: key })
      const completion = await b.sentWith(Success, 3)
      assert.equal(completion.opcode, CompletionOpcode.LocalInvalidate)
      await writes(a, b, key, RemoteAccessError)
      await b.untilState(6)
    },
  ),
  rule('an invalidated window can be bound again, under another key', `${CHECKS} o10-37.2.30`, async (context) => {
    const [a, b] = await ends(context)
    const { window, key } = await bound(b, { type: 2 })
    await b.post({ id: 3, opcode: Opcode.LocalInvalidate, invalidate: key })
    await b.sentWith(Success, 3)
    const bind = { access: READ_WRITE, memory: b.memory.handle, offset: 512, length: 8 }
    const second = await rebound(b, window, bind)
    await write(a, b, second, 512)
    await a.sentWith(Success, 1)
    await write(a, b, key, 512, 8, 2)
    await a.sentWith(RemoteAccessError, 2)
  }),
  rule('the same key shows what it was bound to last', 'rxe_mw.c rxe_do_bind_mw', async (context) => {
    const [a, b] = await ends(context)
    const { window, key } = await bound(b, { type: 2, keyTag: 7 })
    await writes(a, b, key, Success)
    await b.post({ id: 3, opcode: Opcode.LocalInvalidate, invalidate: key })
    await b.sentWith(Success, 3)
    const between = await rebound(b, window, {
      access: READ_WRITE,
      memory: b.memory.handle,
      offset: 8,
      length: 8,
      keyTag: 8,
    })
    await b.post({ id: 3, opcode: Opcode.LocalInvalidate, invalidate: between })
    await b.sentWith(Success, 3)
    const bind = { access: READ_WRITE, memory: b.memory.handle, offset: 512, length: 8, keyTag: 7 }
    assert.equal(await rebound(b, window, bind), key)
    await write(a, b, key, 512)
    await a.sentWith(Success, 1)
    await write(a, b, key, WINDOW.offset, 8, 2)
    await a.sentWith(RemoteAccessError, 2)
  }),
  rule('LOCAL_INV of a window of type 1 fails', 'rxe_mw.c o10-37.2.26', async (context) => {
    const [a, b] = await ends(context)
    const { key } = await bound(b)
    await b.post({ id: 3, opcode: Opcode.LocalInvalidate, invalidate: key })
    await b.sentWith(NO_SUCH_OPERATION, 3)
    assert.equal(await b.player.state(b.pair.handle), 6)
    await a.player.close(a.pair.handle)
  }),
  rule('LOCAL_INV of a key with other low bits fails', 'rxe_mw.c rxe_invalidate_mw', async (context) => {
    const [, b] = await ends(context)
    const { key } = await bound(b, { type: 2 })
    await b.post({ id: 3, opcode: Opcode.LocalInvalidate, invalidate: (key ^ 1) >>> 0 })
    await b.sentWith(NO_SUCH_OPERATION, 3)
  }),
  rule('LOCAL_INV of an ordinary region fails', 'rxe_mr.c rxe_invalidate_mr', async (context) => {
    const [, b] = await context.connected()
    await b.post({ id: 3, opcode: Opcode.LocalInvalidate, invalidate: b.memory.remoteKey })
    await b.sentWith(NO_SUCH_OPERATION, 3)
  }),
  rule(
    'SEND with invalidate delivers its message, names the key and takes it back',
    'IB specification 9.4.1.1.3; pyverbs test_mw_type2_invalidate_remote',
    async (context) => {
      const [a, b] = await ends(context)
      const { key } = await bound(b, { type: 2 })
      await writes(a, b, key, Success)
      await b.receive(5, 1024, 16)
      await a.fill(0, [4, 3, 2, 1])
      await a.post({ id: 2, opcode: Opcode.SendWithInvalidate, local: [a.segment(0, 4)], invalidate: key })
      await a.sentWith(Success, 2)
      const arrived = await b.receivedWith(Success, 5)
      assert.equal(arrived.opcode, CompletionOpcode.Receive)
      assert.equal(arrived.flags & CompletionFlag.WithInvalidate, CompletionFlag.WithInvalidate)
      assert.equal(arrived.immediate, key)
      assert.equal(arrived.byteLength, 4)
      assert.deepEqual(await b.bytes(1024, 4), [4, 3, 2, 1])
      await writes(a, b, key, RemoteAccessError)
    },
  ),
  rule('a window that the peer took back can be bound again', `${CHECKS} o10-37.2.30`, async (context) => {
    const [a, b] = await ends(context)
    const { window, key } = await bound(b, { type: 2 })
    await b.receive(5, 1024, 16)
    await a.post({ id: 2, opcode: Opcode.SendWithInvalidate, local: [a.segment(0, 4)], invalidate: key })
    await a.sentWith(Success, 2)
    await b.receivedWith(Success, 5)
    const second = await rebound(b, window, { access: READ_WRITE, memory: b.memory.handle, ...WINDOW })
    await writes(a, b, second, Success)
  }),
  rule(
    'SEND with invalidate of a window of type 1 fails the receive',
    'rxe_resp.c RESPST_ERR_INVALIDATE_RKEY',
    async (context) => {
      const [a, b] = await ends(context)
      const { key } = await bound(b)
      await b.receive(5, 1024, 16)
      await a.post({ id: 2, opcode: Opcode.SendWithInvalidate, local: [a.segment(0, 4)], invalidate: key })
      await b.receivedWith(RemoteInvalidRequest, 5)
      await b.untilState(6)
    },
  ),
  rule(
    'SEND with invalidate of an ordinary region fails the receive',
    'rxe_resp.c RESPST_ERR_INVALIDATE_RKEY',
    async (context) => {
      const [a, b] = await context.connected()
      await b.receive(5, 1024, 16)
      await a.post({
        id: 2,
        opcode: Opcode.SendWithInvalidate,
        local: [a.segment(0, 4)],
        invalidate: b.memory.remoteKey,
      })
      await b.receivedWith(RemoteInvalidRequest, 5)
      await b.untilState(6)
    },
  ),
]
