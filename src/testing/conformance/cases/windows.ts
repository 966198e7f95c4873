import { Access, CompletionFlag, CompletionOpcode, CompletionStatus } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { ALL_ACCESS, assert, type Context, type End, Flushed, Opcode, Success } from '../context.ts'
import type { MemoryFacts } from '../player.ts'

const BINDABLE = ALL_ACCESS | Access.MemoryWindowBind
const READ_WRITE = Access.RemoteRead | Access.RemoteWrite
const BIND = 'ibv_bind_mw(3); pyverbs test_mw'
const CHECKS = 'rxe_mw.c rxe_check_bind_mw, after IB specification 10.6.7'
const LOOKUP = 'rxe_mw.c rxe_lookup_mw, after IB specification 10.6.7'
const { MemoryWindowBindError, RemoteAccessError, RemoteInvalidRequest } = CompletionStatus
const NO_SUCH_OPERATION = CompletionStatus.LocalQueuePairOperationError
const WINDOW = { offset: 256, length: 64 }

interface Bound {
  readonly window: number
  readonly key: number
}

type Bind = {
  readonly type?: 1 | 2
  readonly access?: number
  readonly offset?: number
  readonly length?: number
  readonly keyTag?: number
  readonly memory?: MemoryFacts
}

/** A connection whose second end has memory that windows may be bound to, of which no peer has a key. */
async function ends(
  context: Context,
  access: number = Access.LocalWrite | Access.MemoryWindowBind,
): Promise<[End, End]> {
  const [a, b] = await context.connected()
  const memory = await b.player.allocate(b.domain, 4096, access)
  return [a, b.withMemory(memory)]
}

async function bound(owner: End, bind: Bind = {}): Promise<Bound> {
  const { type = 1, access = READ_WRITE, memory = owner.memory, ...fields } = bind
  const { handle } = await owner.player.window(owner.domain, type)
  const key = await rebound(owner, handle, { ...WINDOW, access, memory: memory.handle, ...fields })
  return { window: handle, key }
}

async function rebound(
  owner: End,
  window: number,
  bind: { access: number; memory?: number; offset?: number; length?: number; keyTag?: number },
): Promise<number> {
  const key = await owner.player.bind(owner.pair.handle, { id: 90, window, ...bind })
  const completion = await owner.sentWith(Success, 90)
  assert.equal(completion.opcode, CompletionOpcode.BindMemoryWindow)
  return key
}

/** A bind that is posted, and fails. */
async function failsToBind(owner: End, bind: Bind): Promise<void> {
  const { type = 1, access = READ_WRITE, memory = owner.memory, ...fields } = bind
  const { handle } = await owner.player.window(owner.domain, type)
  await owner.player.bind(owner.pair.handle, {
    id: 91,
    window: handle,
    access,
    memory: memory.handle,
    ...WINDOW,
    ...fields,
  })
  await owner.sentWith(MemoryWindowBindError, 91)
  assert.equal(await owner.player.state(owner.pair.handle), 6)
}

function write(a: End, b: End, key: number, offset: number, length = 8, id = 1): Promise<void> {
  const remote = { address: b.memory.address + offset, key }
  return a.post({ id, opcode: Opcode.Write, local: [a.segment(0, length)], remote })
}

function read(a: End, b: End, key: number, offset: number, length = 8, id = 1): Promise<void> {
  const remote = { address: b.memory.address + offset, key }
  return a.post({ id, opcode: Opcode.Read, local: [a.segment(512, length)], remote })
}

async function writes(a: End, b: End, key: number, status: number): Promise<void> {
  await write(a, b, key, WINDOW.offset)
  await a.sentWith(status, 1)
}

/** One more connected pair at each end, in the same protection domains. */
async function another(context: Context, a: End, b: End): Promise<[End, End]> {
  const c = await context.end(0, { within: a })
  const d = await context.end(1, { within: b })
  await c.connect(d.pair.endpoint)
  await d.connect(c.pair.endpoint)
  return [c, d]
}

/** An operation by `key` at the edges of what it may, each on a connection of its own where it fails. */
function refused(
  name: string,
  source: string,
  bind: Bind,
  attempt: (a: End, b: End, key: number) => Promise<void>,
): ConformanceCase {
  return rule(name, source, async (context) => {
    const [a, b] = await ends(context)
    const { key } = await bound(b, bind)
    await attempt(a, b, key)
    await a.sentWith(RemoteAccessError, 1)
    await b.untilState(6)
  })
}

const typeOne: readonly ConformanceCase[] = [
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
      const told = new Uint32Array(Uint8Array.from(await a.bytes(1024, 4)).buffer)[0] as number
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

const failures: readonly ConformanceCase[] = [
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

const typeTwo: readonly ConformanceCase[] = [
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
  rule('a bind of length zero is no way to take type 2 back', `${CHECKS} o10-37.2.40`, async (context) => {
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

const invalidation: readonly ConformanceCase[] = [
  rule(
    'LOCAL_INV takes a key that was used before back',
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
  rule("a window's key is no local key", 'IB specification 10.6.7: a window has an R_Key only', async (context) => {
    const [a, b] = await ends(context)
    const { key } = await bound(b)
    const local = [{ address: b.memory.address + WINDOW.offset, length: 8, key }]
    await b.post({ id: 4, opcode: Opcode.Write, local, remote: a.target(0) })
    await b.sentWith(CompletionStatus.LocalProtectionError, 4)
  }),
]

/** Memory windows of both types, and the two ways to take a key back. */
export const windowCases: readonly ConformanceCase[] = [
  ...typeOne,
  ...failures,
  ...typeTwo,
  ...invalidation,
  ...lifetimes,
]
