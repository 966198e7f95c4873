import { Access, CompletionOpcode, CompletionStatus } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { ALL_ACCESS, assert, type Context, type End, Opcode, Success } from '../context.ts'
import type { IndirectKeyFacts } from '../memory-player.ts'
import type { SegmentSpecification } from '../player-data.ts'

const LIST = 'mlx5dv_wr_mr_list(3); pyverbs test_mkey_list'
const INTERLEAVED = 'mlx5dv_wr_mr_interleaved(3); pyverbs test_mkey_interleaved'
const { RemoteAccessError, LocalProtectionError } = CompletionStatus

/** Bytes 0, 1, 2, … and a key over a list of them. */
async function listed(
  end: End,
  pieces: readonly SegmentSpecification[],
  access: number = ALL_ACCESS,
): Promise<IndirectKeyFacts> {
  await end.fill(
    0,
    Array.from({ length: 256 }, (_, index) => index),
  )
  const key = await end.player.indirectKey(end.domain, 4)
  await configure(end, key, { access, pieces })
  return key
}

async function configure(
  end: End,
  key: IndirectKeyFacts,
  layout: { access: number; pieces: readonly SegmentSpecification[] },
): Promise<void> {
  await end.player.configure(end.pair.handle, { id: 80, key: key.handle, ...layout })
  const completion = await end.sentWith(Success, 80)
  assert.equal(completion.opcode, CompletionOpcode.ConfigureIndirectKey)
}

async function interleaved(end: End, repeat: number): Promise<IndirectKeyFacts> {
  await end.fill(
    0,
    Array.from({ length: 256 }, (_, index) => index),
  )
  const key = await end.player.indirectKey(end.domain, 4)
  const pieces = [
    { ...end.segment(0, 2), skip: 6 },
    { ...end.segment(100, 1), skip: 9 },
  ]
  const layout = { id: 80, key: key.handle, access: ALL_ACCESS, interleaved: pieces, repeat }
  await end.player.configure(end.pair.handle, layout)
  await end.sentWith(Success, 80)
  return key
}

function read(a: End, key: number, address: number, length: number, id = 1): Promise<void> {
  return a.post({ id, opcode: Opcode.Read, local: [a.segment(512, length)], remote: { address, key } })
}

async function finds(a: End, key: number, address: number, bytes: readonly number[]): Promise<void> {
  await read(a, key, address, bytes.length)
  await a.sentWith(Success, 1)
  assert.deepEqual(await a.bytes(512, bytes.length), bytes)
}

/** Three pieces, the second one of which lies before the first. */
function threePieces(end: End): readonly SegmentSpecification[] {
  return [end.segment(100, 3), end.segment(10, 2), end.segment(200, 4)]
}

const PIECES = [100, 101, 102, 10, 11, 200, 201, 202, 203]

async function revoked(context: Context, revoke: (b: End, key: IndirectKeyFacts) => Promise<unknown>): Promise<void> {
  const [a, b] = await context.connected()
  const key = await listed(b, threePieces(b))
  await finds(a, key.remoteKey, 0, PIECES)
  await revoke(b, key)
  await read(a, key.remoteKey, 0, 4, 2)
  await a.sentWith(RemoteAccessError, 2)
}

/** Keys that stand for pieces of other regions. */
export const indirectKeyCases: readonly ConformanceCase[] = [
  rule('pieces of a list follow each other from address 0', LIST, async (context) => {
    const [a, b] = await context.connected()
    const key = await listed(b, threePieces(b))
    await finds(a, key.remoteKey, 0, PIECES)
    await finds(a, key.remoteKey, 2, PIECES.slice(2, 7))
  }),
  rule('a WRITE by an indirect key is scattered over its pieces', LIST, async (context) => {
    const [a, b] = await context.connected()
    const key = await listed(b, threePieces(b))
    await a.fill(0, [61, 62, 63, 64])
    const remote = { address: 2, key: key.remoteKey }
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 4)], remote })
    await a.sentWith(Success, 1)
    assert.deepEqual(await b.bytes(101, 3), [101, 61, 103])
    assert.deepEqual(await b.bytes(10, 3), [62, 63, 12])
    assert.deepEqual(await b.bytes(200, 2), [64, 201])
  }),
  rule('one byte behind the last piece is refused', LIST, async (context) => {
    const [a, b] = await context.connected()
    const key = await listed(b, threePieces(b))
    await read(a, key.remoteKey, PIECES.length - 3, 4)
    await a.sentWith(RemoteAccessError, 1)
    await b.untilState(6)
  }),
  rule('pieces of several regions can be one key', LIST, async (context) => {
    const [a, b] = await context.connected()
    const other = await b.player.allocate(b.domain, 4096, Access.LocalWrite)
    await b.player.fill(other.handle, 0, Uint8Array.of(77, 78))
    const key = await listed(b, [b.segment(5, 1), b.segment(0, 2, other)])
    await finds(a, key.remoteKey, 0, [5, 77, 78])
  }),
  rule('a message is gathered by an indirect local key', LIST, async (context) => {
    const [a, b] = await context.connected()
    const key = await listed(a, threePieces(a))
    await b.receive(5, 0, 16)
    await a.post({ id: 1, opcode: Opcode.Send, local: [{ address: 1, length: 5, key: key.localKey }] })
    await b.receivedWith(Success, 5)
    assert.deepEqual(await b.bytes(0, 5), PIECES.slice(1, 6))
  }),
  rule('a message is scattered by an indirect local key', LIST, async (context) => {
    const [a, b] = await context.connected()
    const key = await listed(b, threePieces(b))
    await b.receiveInto({ id: 5, local: [{ address: 0, length: 9, key: key.localKey }] })
    await a.fill(0, [1, 2, 3, 4, 5])
    await a.post({ id: 1, opcode: Opcode.Send, local: [a.segment(0, 5)] })
    await b.receivedWith(Success, 5)
    assert.deepEqual(await b.bytes(100, 4), [1, 2, 3, 103])
    assert.deepEqual(await b.bytes(10, 3), [4, 5, 12])
  }),
  rule('interleaved pieces take turns, each going on behind what it skips', INTERLEAVED, async (context) => {
    const [a, b] = await context.connected()
    const key = await interleaved(b, 3)
    await finds(a, key.remoteKey, 0, [0, 1, 100, 8, 9, 110, 16, 17, 120])
    await finds(a, key.remoteKey, 4, [9, 110, 16])
  }),
  rule('an interleaved key ends after its last turn', INTERLEAVED, async (context) => {
    const [a, b] = await context.connected()
    const key = await interleaved(b, 3)
    await read(a, key.remoteKey, 8, 2)
    await a.sentWith(RemoteAccessError, 1)
  }),
  rule('a key without layout reaches nothing', 'mlx5dv_create_mkey(3)', async (context) => {
    const [a, b] = await context.connected()
    const key = await b.player.indirectKey(b.domain, 4)
    await read(a, key.remoteKey, 0, 1)
    await a.sentWith(RemoteAccessError, 1)
  }),
  rule('a new layout takes the place of the former', LIST, async (context) => {
    const [a, b] = await context.connected()
    const key = await listed(b, threePieces(b))
    await finds(a, key.remoteKey, 0, PIECES)
    await configure(b, key, { access: ALL_ACCESS, pieces: [b.segment(30, 2)] })
    await finds(a, key.remoteKey, 0, [30, 31])
    await read(a, key.remoteKey, 0, 3, 2)
    await a.sentWith(RemoteAccessError, 2)
  }),
  rule('rights of the indirect key hold, whatever its pieces allow', LIST, async (context) => {
    const [a, b] = await context.connected()
    const key = await listed(b, threePieces(b), Access.LocalWrite | Access.RemoteRead)
    await finds(a, key.remoteKey, 0, PIECES)
    const remote = { address: 0, key: key.remoteKey }
    await a.post({ id: 2, opcode: Opcode.Write, local: [a.segment(0, 4)], remote })
    await a.sentWith(RemoteAccessError, 2)
  }),
  rule('an invalidated key reaches nothing', 'ibv_post_send(3) IBV_WR_LOCAL_INV; pyverbs test_mkey', (context) =>
    revoked(context, async (b, key) => {
      await b.post({ id: 81, opcode: Opcode.LocalInvalidate, invalidate: key.remoteKey })
      await b.sentWith(Success, 81)
    }),
  ),
  rule('an invalidated key can be given a layout again', LIST, async (context) => {
    const [a, b] = await context.connected()
    const key = await listed(b, threePieces(b))
    await b.post({ id: 81, opcode: Opcode.LocalInvalidate, invalidate: key.remoteKey })
    await b.sentWith(Success, 81)
    await configure(b, key, { access: ALL_ACCESS, pieces: [b.segment(40, 2)] })
    await finds(a, key.remoteKey, 0, [40, 41])
  }),
  rule('closing an indirect key takes it back', 'mlx5dv_destroy_mkey(3)', (context) =>
    revoked(context, (b, key) => b.player.close(key.handle)),
  ),
  rule('a key ends with the memory of its pieces', 'ibv_dereg_mr(3)', (context) =>
    revoked(context, (b) => b.player.close(b.memory.handle)),
  ),
  rule('an invalidated local key cannot be sent from', 'ibv_post_send(3) IBV_WR_LOCAL_INV', async (context) => {
    const [a, b] = await context.connected()
    const key = await listed(a, threePieces(a))
    await a.post({ id: 81, opcode: Opcode.LocalInvalidate, invalidate: key.localKey })
    await a.sentWith(Success, 81)
    const local = [{ address: 0, length: 4, key: key.localKey }]
    await a.post({ id: 1, opcode: Opcode.Write, local, remote: b.target(0) })
    await a.sentWith(LocalProtectionError, 1)
  }),
  rule(
    'memory of another domain cannot be a piece',
    'IB specification 10.6.3.2: protection domains',
    async (context) => {
      const [a, b] = await context.connected()
      const memory = await b.player.allocate(await b.player.domain(), 4096, ALL_ACCESS)
      const key = await listed(b, [b.segment(0, 8, memory)])
      await read(a, key.remoteKey, 0, 4)
      await a.sentWith(RemoteAccessError, 1)
    },
  ),
]
