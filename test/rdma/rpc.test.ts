import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { connectLink } from '../../src/messaging/index.ts'
import { type Channel, openChannel, RpcError } from '../../src/rpc/index.ts'
import { station } from '../rpc/fixtures/contract.ts'
import { type StationProcess, startStation } from '../rpc/station-process.ts'

const device = 'rxe0'
const address = process.env['AETHER_RDMA_ADDRESS'] ?? ''
/** A guest without hardware for it is slow. */
const timeoutMs = 120_000

/** It serves all that do not kill it: emulated, the start of a process takes seconds. */
let server: StationProcess

before(async () => {
  server = await startStation(device, address)
})

after(() => server[Symbol.asyncDispose]())

function channelToServer(): Channel {
  const { port } = server
  return openChannel({ device, address, port, connectTimeoutMs: timeoutMs }, { timeoutMs, helloMsMax: timeoutMs })
}

test('over a real device: calls and blocking calls between two processes', async () => {
  await using channel = channelToServer()
  const client = channel.client(station)
  assert.equal(await client.pid(), server.pid)
  const times = await Promise.all(Array.from({ length: 300 }, (_, n) => client.mark(n)))
  assert.deepEqual(times, Array(300).fill(1))
  for (let n = 0; n < 50; n += 1) assert.equal(client.markSync(n), 2)
})

test('over a real device: a stream, read slowly, comes whole and in order', async () => {
  await using channel = channelToServer()
  const got: number[] = []
  for await (const n of channel.client(station).count(500)) {
    got.push(n)
    if (n % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  assert.deepEqual(
    got,
    Array.from({ length: 500 }, (_, n) => n),
  )
})

test('over a real device: a body of 1 MB goes there and comes back', async () => {
  await using channel = channelToServer()
  const body = new Uint8Array(1_000_000).map((_, index) => index * 13)
  assert.ok(Buffer.from(await channel.client(station).echo(body)).equals(body))
})

test('over a real device: of a server that is killed, calls under way end truthfully, and the next is found', async () => {
  const first = await startStation(device, address)
  let { port } = first
  await using channel = openChannel(() => connectLink({ device, address, port, connectTimeoutMs: timeoutMs }), {
    timeoutMs,
    helloMsMax: timeoutMs,
  })
  const client = channel.client(station)
  assert.equal(await client.mark(7), 1)
  const stalled = Array.from({ length: 4 }, (_, n) => client.stall(n))
  const settled = Promise.allSettled(stalled)
  // Answered behind them, so they have come to the server.
  assert.equal(await client.mark(7), 2)
  await first.kill()
  for (const outcome of await settled) {
    assert.equal(outcome.status, 'rejected')
    const error: unknown = outcome.reason
    assert.ok(error instanceof RpcError, String(error))
    assert.deepEqual([error.code, error.outcome], ['ERR_AETHER_RPC_CONNECTION_LOST', 'unknown'])
  }
  await using second = await startStation(device, address)
  port = second.port
  assert.equal(await client.pid(), second.pid)
  assert.equal(await client.mark(7), 1)
})
