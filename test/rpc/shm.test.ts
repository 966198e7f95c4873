import assert from 'node:assert/strict'
import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import test from 'node:test'
import { promisify } from 'node:util'
import { connectLink } from '../../src/messaging/index.ts'
import { openChannel, RpcError } from '../../src/rpc/index.ts'
import { root } from '../repository/checkout.ts'
import { station } from './fixtures/contract.ts'
import { startStation } from './station-process.ts'
import { rejection } from './support.ts'

const device = 'shm0'
const address = '127.0.0.1'
const options = process.platform === 'linux' ? {} : { skip: 'shared memory needs Linux' }

test('calls, blocking calls, long bodies and streams between two processes', options, async () => {
  await using server = await startStation(device, address)
  await using channel = openChannel({ device, address, port: server.port })
  const client = channel.client(station)
  assert.equal(await client.pid(), server.pid)
  assert.deepEqual(await Promise.all(Array.from({ length: 500 }, (_, n) => client.mark(n))), Array(500).fill(1))
  for (let n = 0; n < 200; n += 1) assert.equal(client.markSync(n), 2)
  const body = new Uint8Array(3_000_000).map((_, index) => index * 13)
  assert.deepEqual(await client.echo(body), body)
  const got: number[] = []
  for await (const n of client.count(1000)) got.push(n)
  assert.deepEqual(
    got,
    Array.from({ length: 1000 }, (_, n) => n),
  )
})

test('a blocking call ends with its time', options, async () => {
  await using server = await startStation(device, address)
  await using channel = openChannel({ device, address, port: server.port })
  await channel.ready()
  const client = channel.client(station)
  assert.throws(
    () => client.stallSync(1, { timeoutMs: 30 }),
    (error) => error instanceof RpcError && error.code === 'ERR_AETHER_RPC_DEADLINE' && error.outcome === 'unknown',
  )
  assert.equal(client.markSync(1), 1)
})

test('a blocking call naps while it waits for long, but not over a connection that polls', options, async (t) => {
  await using server = await startStation(device, address)
  const naps = t.mock.method(Atomics, 'wait').mock
  const taken: number[] = []
  for (const completion of ['adaptive', 'polling'] as const) {
    await using channel = openChannel({ device, address, port: server.port, completion })
    await channel.ready()
    const before = naps.callCount()
    const client = channel.client(station)
    assert.throws(() => client.stallSync(1, { timeoutMs: 50 }), { code: 'ERR_AETHER_RPC_DEADLINE' })
    taken.push(naps.callCount() - before)
  }
  assert.ok(taken[0]! > 0, 'the call that may nap did not')
  assert.equal(taken[1], 0)
})

test('a blocking call whose server is killed meanwhile ends then', options, async (t) => {
  await using server = await startStation(device, address)
  await using channel = openChannel({ device, address, port: server.port, keepAliveMs: 50 })
  await channel.ready()
  // Nothing of this process runs from then on but the call.
  const killer = fork(new URL('../support/killer-main.js', import.meta.url), [`${server.pid}`, '300'])
  t.after(() => killer.kill('SIGKILL'))
  await once(killer, 'message')
  assert.throws(() => channel.client(station).stallSync(1, { timeoutMs: 60_000 }), {
    code: 'ERR_AETHER_RPC_CONNECTION_LOST',
    outcome: 'unknown',
  })
})

test('a server that was closed or drained while it began to listen does not listen', options, async () => {
  // A program of its own, which ends by itself: a listener would keep it.
  const script = `
    import { createServer } from ${JSON.stringify(join(root, 'dist/src/rpc/index.js'))}
    for (const end of ['close', 'drain']) {
      const server = createServer()
      const listening = server.listen(${JSON.stringify({ device, address })}).catch((error) => error.code)
      await server[end]()
      console.log(await listening)
    }`
  const run = promisify(execFile)
  const ran = await run(process.execPath, ['--input-type=module', '-e', script], { timeout: 60_000 })
  assert.equal(ran.stdout, 'ERR_AETHER_CLOSED\nERR_AETHER_CLOSED\n')
})

test(
  'kill -9 of a server under 32 clients: every call ends truthfully, and the next server is found',
  options,
  async () => {
    const first = await startStation(device, address)
    let { port } = first
    const channels = Array.from({ length: 32 }, () => openChannel(() => connectLink({ device, address, port })))
    await Promise.all(channels.map((channel) => channel.ready()))
    const clients = channels.map((channel) => channel.client(station))
    const stalled = clients.flatMap((client) => Array.from({ length: 4 }, (_, n) => rejection(client.stall(n))))
    // Marks go on until the server is gone, so that some are under way. One that is asked for when the loss is known
    // already says that it was not sent.
    const lost = new AbortController()
    const marking = clients.map(async (client, index) => {
      for (let n = 0; ; n += 1) {
        if (lost.signal.aborted) return undefined
        const outcome = await client.mark(1000 * index + n, { signal: lost.signal }).catch((error: unknown) => error)
        if (typeof outcome !== 'number') return outcome === lost.signal.reason ? undefined : outcome
        assert.equal(outcome, 1, 'a call ran twice')
      }
    })
    await new Promise((resolve) => setTimeout(resolve, 50))
    await first.kill()
    const losses = await Promise.all(stalled)
    lost.abort()
    for (const error of [...losses, ...(await Promise.all(marking))]) {
      if (error === undefined) continue
      assert.ok(error instanceof RpcError, String(error))
      assert.equal(error.code, 'ERR_AETHER_RPC_CONNECTION_LOST')
      assert.equal(error.outcome, 'unknown')
    }
    await using second = await startStation(device, address)
    port = second.port
    assert.deepEqual(new Set(await Promise.all(clients.map((client) => client.pid()))), new Set([second.pid]))
    await Promise.all(channels.map((channel) => channel.close()))
  },
)
