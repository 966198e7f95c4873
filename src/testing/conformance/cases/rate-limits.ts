import { QueuePairState } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { assert, Opcode, Success } from '../context.ts'

const RATE = 'ibv_modify_qp_rate_limit(3)'
const MEGABYTE = 1 << 20

/** How fast a queue pair may send. That it is slow enough takes a clock, so the providers' own tests show it. */
export const rateLimitCases: readonly ConformanceCase[] = [
  rule('a queue pair has no limit until it gets one, and none after it is taken away', RATE, async (context) => {
    const [a] = await context.connected()
    const { player, pair } = a
    const seen = [await player.rateLimit(pair.handle)]
    for (const limit of [50 * MEGABYTE, 2 * MEGABYTE, Number.POSITIVE_INFINITY]) {
      await player.setRateLimit(pair.handle, limit)
      seen.push(await player.rateLimit(pair.handle))
    }
    assert.deepEqual(seen, [Number.POSITIVE_INFINITY, 50 * MEGABYTE, 2 * MEGABYTE, Number.POSITIVE_INFINITY])
  }),
  rule('what is sent under a limit arrives whole and in order', RATE, async (context) => {
    const [a, b] = await context.connected()
    await a.player.setRateLimit(a.pair.handle, 4 * MEGABYTE)
    await a.fill(0, [1, 2, 3, 4])
    await b.receive(1, 4096, 4096)
    await a.post({ id: 2, opcode: Opcode.Write, local: [a.segment(0, 4096)], remote: b.target(0) })
    await a.post({ id: 3, opcode: Opcode.Send, local: [a.segment(0, 4096)] })
    await b.receivedWith(Success, 1)
    await a.sentWith(Success, 2)
    await a.sentWith(Success, 3)
    assert.deepEqual(await b.bytes(0, 4), [1, 2, 3, 4])
    assert.deepEqual(await b.bytes(4096, 4), [1, 2, 3, 4])
  }),
  rule('only a queue pair in RTS gets a limit, and RESET takes it away', `${RATE} EINVAL`, async (context) => {
    const [a, b] = await context.connected()
    const unconnected = await context.end(0)
    await context.refused('EINVAL', unconnected.player.setRateLimit(unconnected.pair.handle, MEGABYTE))
    await a.player.setRateLimit(a.pair.handle, MEGABYTE)
    for (const end of [a, b]) await end.modify({ state: QueuePairState.Reset })
    await a.connect(b.pair.endpoint)
    await b.connect(a.pair.endpoint)
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 8)], remote: b.target(0) })
    await a.sentWith(Success, 1)
    assert.equal(await a.player.rateLimit(a.pair.handle), Number.POSITIVE_INFINITY)
  }),
]
