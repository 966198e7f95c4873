import { QueuePairState } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { ALL_ACCESS, assert, type Context, type End, Opcode, PATIENCE_MS, Success } from '../context.ts'

const CAPABILITIES = 'contract: PairCapabilities'
/** Of a WRITE: so that one that is stopped is in its middle. Within one process none is. */
const LONG_BYTES = 8 << 20
const SHORT_BYTES = 8192
const WRITES = 12

/** The second of two ends WRITEs all of the first one's memory, again and again. Resolves once bytes are there. */
async function writing(context: Context): Promise<readonly [target: End, posted: Promise<void>]> {
  const length = context.hasOther ? LONG_BYTES : SHORT_BYTES
  const plain = await context.end(0)
  const a = plain.withMemory(await plain.player.allocate(plain.domain, length, ALL_ACCESS))
  const b = await context.end(1)
  const source = await b.player.allocate(b.domain, length, ALL_ACCESS)
  await a.connect(b.pair.endpoint)
  await b.connect(a.pair.endpoint)
  await b.player.fill(source.handle, 0, new Uint8Array(length).fill(0x55))
  const requests = Array.from({ length: WRITES }, (_, id) => ({
    id,
    opcode: Opcode.Write,
    local: [b.segment(0, length, source)],
    remote: a.target(0),
  }))
  // It may carry out all of them in this call.
  const posted = b.player.postList(b.pair.handle, requests).then(async () => {
    let ended = 0
    await context.until(async () => {
      ended += (await b.player.poll(b.sendQueue, WRITES)).length
      return ended === WRITES
    }, PATIENCE_MS)
  })
  await context.until(async () => (await a.bytes(0, 1))[0] !== 0, PATIENCE_MS)
  return [a, posted]
}

/** What a queue pair says of itself is so. */
export const capabilityCases: readonly ConformanceCase[] = [
  rule(
    'a queue pair that tells of atomics, immediate values or completion at the peer has them',
    CAPABILITIES,
    async (context) => {
      const [a, b] = await context.connected()
      const { atomics, immediate, remoteCompletion } = await a.player.capabilities(a.pair.handle)
      await a.fill(64, [1, 2, 3])
      if (remoteCompletion) {
        await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(64, 3)], remote: b.target(64) })
        await a.sentWith(Success, 1)
        assert.deepEqual(await b.bytes(64, 3), [1, 2, 3])
      }
      if (atomics) {
        const local = [a.segment(0, 8)]
        await a.post({ id: 2, opcode: Opcode.FetchAdd, local, remote: b.target(0), compareAdd: 5n })
        await a.sentWith(Success, 2)
        assert.equal(await b.word(0), 5n)
      }
      if (!immediate) return
      await b.receive(3, 128, 8)
      await a.post({ id: 4, opcode: Opcode.SendWithImmediate, local: [a.segment(64, 3)], immediate: 77 })
      await a.sentWith(Success, 4)
      assert.equal((await b.receivedWith(Success, 3)).immediate, 77)
    },
  ),
  rule(
    'where permissions are told, nothing lands after they were taken back, not even of one stopped in the middle of a WRITE',
    `${CAPABILITIES}.permissions`,
    async (context) => {
      const [a, posted] = await writing(context)
      await context.stopOther()
      try {
        await a.modify({ state: QueuePairState.Error })
        await a.fill(0, new Uint8Array(a.memory.length))
      } finally {
        context.continueOther()
      }
      await posted
      const { permissions } = await a.player.capabilities(a.pair.handle)
      const bytes = await a.player.read(a.memory.handle, 0, a.memory.length)
      // Where they are not told, it may be that nothing lands.
      if (permissions) assert.ok(bytes.every((byte) => byte === 0))
    },
  ),
]
