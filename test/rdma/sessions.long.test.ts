import assert from 'node:assert/strict'
import test from 'node:test'
import { connectLink, LinkError } from '../../src/messaging/index.ts'
import { type Channel, createServer, openChannel } from '../../src/rpc/index.ts'
import { station } from '../rpc/fixtures/contract.ts'

const where = { device: 'rxe0', address: process.env['AETHER_RDMA_ADDRESS'] ?? '' }
const SESSIONS = 12
/** A guest without hardware for it is slow. */
const timeoutMs = 120_000

test('over a real device: sessions of one server share its receives, and what one leaves behind another gets', async () => {
  await using server = createServer().serve(station, {
    mark: (n) => n + 1,
    stall: () => new Promise<number>(() => {}),
    echo: (bytes) => bytes.slice(),
    async *count(n) {
      for (let next = 0; next < n; next += 1) yield next
    },
    pid: () => process.pid,
  })
  const listener = await server.listen({
    ...where,
    connectTimeoutMs: timeoutMs,
    // A message that met no receive would end its session.
    rnrRetry: 0,
    sharedReceiveQueue: { connectionsMax: SESSIONS, receives: SESSIONS * 8 + 24 },
  })
  const options = { ringBytes: 4096, sends: 16, receives: 16, connectTimeoutMs: timeoutMs, port: listener.port }
  const open = (): Channel => openChannel({ ...where, ...options }, { timeoutMs, helloMsMax: timeoutMs })
  let channels = Array.from({ length: SESSIONS }, open)
  await Promise.all(channels.map((channel) => channel.ready({ timeoutMs })))
  await assert.rejects(connectLink({ ...where, ...options }), (error) => {
    assert.ok(error instanceof LinkError, String(error))
    assert.equal(error.reason, 'full')
    return true
  })
  for (let round = 0; round < 2; round += 1) {
    const answers = await Promise.all(
      channels.flatMap((channel) => {
        const client = channel.client(station)
        return Array.from({ length: 20 }, (_, n) => client.mark(n))
      }),
    )
    assert.deepEqual(
      answers,
      answers.map((_, index) => (index % 20) + 1),
    )
    // Half of them go in the middle of calls.
    for (const channel of channels.slice(0, SESSIONS / 2)) {
      channel
        .client(station)
        .stall(1)
        .catch(() => {})
      await channel.close()
    }
    while (server.sessions > SESSIONS / 2) await new Promise((resolve) => setTimeout(resolve, 20))
    channels = [...channels.slice(SESSIONS / 2), ...Array.from({ length: SESSIONS / 2 }, open)]
    await Promise.all(channels.map((channel) => channel.ready({ timeoutMs })))
  }
  const [use] = listener.sharedReceives
  assert.ok(use !== undefined && use.connections === SESSIONS && use.lent <= use.surplus)
  await Promise.all(channels.map((channel) => channel.close()))
})
