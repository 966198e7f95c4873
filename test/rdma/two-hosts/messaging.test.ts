/** Endpoints, peers and calls between two hosts, and what becomes of calls when the cable between these is cut. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import test, { after, before } from 'node:test'
import { fileURLToPath } from 'node:url'
import { connectEndpoint, type Endpoint, listenEndpoints, openPeers } from '../../../src/messaging/index.ts'
import { type Channel, openChannel, RpcError } from '../../../src/rpc/index.ts'
import { RUN_PATIENCE_MS } from '../support/hosts-run.ts'
import { PATIENCE_MS, type Program } from '../support/program.ts'
import { REMOTE_ADDRESS, RemoteHost } from '../support/remote-host.ts'
import { collectiveRounds, ROUNDS } from './fixtures/collective-rounds.ts'
import { far } from './fixtures/far-contract.ts'

const device = 'rxe0'
const here = process.env['AETHER_RDMA_ADDRESS'] ?? ''
/** 4.096 µs times two to it: with six repetitions a host is given up after some 4 s. */
const ACK_TIMEOUT = 17
const farSide = fileURLToPath(new URL('./fixtures/far-side.js', import.meta.url))

let remote: RemoteHost
let program: Program
let ports: { readonly endpoints: number; readonly calls: number }

before(async () => {
  remote = await RemoteHost.connect()
  program = remote.start(process.execPath, farSide, device, REMOTE_ADDRESS)
  const [, endpoints, calls] = await program.until(/endpoints (\d+) calls (\d+)/, RUN_PATIENCE_MS)
  ports = { endpoints: Number(endpoints), calls: Number(calls) }
})

after(() => {
  program?.kill('SIGKILL')
  remote[Symbol.dispose]()
})

function openCalls(): Channel {
  const to = { device, address: REMOTE_ADDRESS, port: ports.calls, ackTimeout: ACK_TIMEOUT, keepAliveMs: 500 }
  return openChannel({ ...to, connectTimeoutMs: PATIENCE_MS }, { timeoutMs: PATIENCE_MS, helloMsMax: PATIENCE_MS })
}

/** Nothing that RDMA sends from here arrives, acknowledgements included; the tests' own words do. */
function cutCable(): Disposable {
  const rules = [
    'tc qdisc replace dev eth0 root handle 1: prio',
    'tc qdisc replace dev eth0 parent 1:3 handle 30: netem loss 100%',
    'tc filter replace dev eth0 protocol ip parent 1:0 prio 1 u32 match ip dport 4791 0xffff flowid 1:3',
  ]
  execFileSync('sh', ['-c', rules.join(' && ')])
  return {
    [Symbol.dispose]: () => {
      execFileSync('tc', ['qdisc', 'del', 'dev', 'eth0', 'root'])
    },
  }
}

/**
 * Messages of all lengths to who gives them back: through the ring, at its bound, beyond it, and so long that they are
 * fetched in parts.
 */
async function thereAndBack(endpoint: Endpoint): Promise<void> {
  const most = endpoint.link.messageBytesMax
  const lengths = [0, 1, 7, 31, 32, 1000, 4096, 4097, most, most + 1, 1_000_000, 8]
  const bytesOf = (index: number): Uint8Array =>
    Uint8Array.from({ length: lengths[index]! }, (_, at) => at * 31 + index)
  const sent = Promise.all(lengths.map((_, index) => endpoint.sendWithImmediate(bytesOf(index), index)))
  let came = 0
  for await (const { data, immediate } of endpoint.messages()) {
    assert.equal(immediate, came)
    assert.ok(Buffer.from(data).equals(bytesOf(came)), `the message of ${lengths[came]} bytes`)
    came += 1
    if (came === lengths.length) break
  }
  assert.equal(came, lengths.length)
  await sent
}

/** The end of a call that nobody can answer any more: what is known of it, and nothing else. */
async function assertLost(call: Promise<unknown>): Promise<void> {
  await assert.rejects(call, (error: unknown) => {
    assert.ok(error instanceof RpcError, String(error))
    assert.deepEqual([error.code, error.outcome], ['ERR_AETHER_RPC_CONNECTION_LOST', 'unknown'], error.message)
    return true
  })
}

test('messages of all lengths go to another host and come back, whichever of the two connects', async () => {
  const to = { device, address: REMOTE_ADDRESS, port: ports.endpoints }
  const client = await connectEndpoint({ ...to, connectTimeoutMs: PATIENCE_MS })
  await thereAndBack(client)
  await client.close()
  assert.equal(await client.ended, undefined)

  let arrived!: (endpoint: Endpoint) => void
  const accepted = new Promise<Endpoint>((resolve) => {
    arrived = resolve
  })
  const listener = await listenEndpoints({ device, address: here, accept: arrived })
  await using channel = openCalls()
  await channel.client(far).reach({ address: here, port: listener.port })
  const server = await accepted
  await thereAndBack(server)
  await server.close()
  assert.equal(await server.ended, undefined)
  listener.close()
})

test('peers of two hosts compute together', async () => {
  await using channel = openCalls()
  const peers = openPeers({ number: 0, device })
  try {
    const address = await peers.listen({ address: here })
    const there = channel.client(far).compute(address)
    await peers.accept({ signal: AbortSignal.timeout(PATIENCE_MS) })
    assert.deepEqual(await Promise.all([collectiveRounds(peers.group()), there]), [ROUNDS, ROUNDS])
  } finally {
    await peers.close()
  }
  assert.equal(peers.lastError, undefined)
})

test('calls to another host: small, many, blocking, with long bodies, with memory of the caller, streams, and one that is cancelled', async () => {
  await using channel = openCalls()
  const client = channel.client(far)
  const times = await Promise.all(Array.from({ length: 100 }, () => client.mark(1)))
  assert.deepEqual(
    times,
    Array.from({ length: 100 }, (_, index) => index + 1),
  )
  assert.equal(client.markSync(1), 101)

  const body = new Uint8Array(1_000_000).map((_, index) => index * 13)
  assert.ok(Buffer.from(await client.echo(body)).equals(body))

  await using buffer = await channel.allocate(200_000)
  for (let at = 0; at < buffer.length; at += 1) buffer.bytes[at] = at
  await client.invert(undefined, { source: buffer, target: buffer })
  assert.ok(buffer.bytes.every((byte, at) => byte === 255 - (at & 255)))

  const counted: number[] = []
  for await (const number of client.count(200)) counted.push(number)
  assert.deepEqual(
    counted,
    Array.from({ length: 200 }, (_, index) => index),
  )

  const stopping = new AbortController()
  const stalled = client.stall(undefined, { signal: stopping.signal })
  const reason = new Error('no longer wanted')
  // Answered behind it, so it has come to the server.
  const before = await client.left()
  stopping.abort(reason)
  await assert.rejects(stalled, reason)
  const deadline = performance.now() + PATIENCE_MS
  while ((await client.left()) === before) assert.ok(performance.now() < deadline, 'the handler was never told')
})

test('the cable is cut: every call under way ends with what is known of it, none leaves meanwhile, and once it is back the same channel goes on', async () => {
  await using channel = openCalls()
  await using other = openCalls()
  const client = channel.client(far)
  const blocking = other.client(far)
  await using buffer = await channel.allocate(4096)
  const dripping = client.drip(undefined, { signal: AbortSignal.timeout(PATIENCE_MS) })
  assert.deepEqual(await dripping.next(), { done: false, value: 1 })
  const pending: Promise<unknown>[] = [
    client.stall(),
    client.stall(),
    client.hold(undefined, { target: buffer }),
    dripping.next(),
    client.echo(new Uint8Array(100)).then(() => client.stall()),
  ]
  assert.equal(await client.mark(20), 1)
  assert.equal(blocking.markSync(21), 1)
  {
    using _ = cutCable()
    const cutMs = performance.now()
    pending.push(client.mark(22), client.echo(new Uint8Array(1_000_000)))
    await Promise.all(pending.map((call) => assertLost(call)))
    console.log(`calls under way ended ${(performance.now() - cutMs).toFixed(0)} ms after the cut`)
    await assert.rejects(client.mark(23, { timeoutMs: 1000 }), {
      code: 'ERR_AETHER_RPC_UNAVAILABLE',
      outcome: 'not-sent',
    })
  }
  const backMs = performance.now()
  // What was never acknowledged did not arrive here, and what was not sent did not happen.
  assert.equal(await client.mark(23), 1)
  console.log(`the next call was answered ${(performance.now() - backMs).toFixed(0)} ms after the cable was back`)
  assert.equal(await client.mark(22), 1)
  assert.equal(await client.mark(20), 2)
  await other.ready({ timeoutMs: PATIENCE_MS })
  assert.equal(blocking.markSync(21), 2)
})

test('the cable is cut during a blocking call: it ends by itself, too', async () => {
  await using channel = openCalls()
  await channel.ready({ timeoutMs: PATIENCE_MS })
  const client = channel.client(far)
  assert.equal(client.markSync(30), 1)
  {
    using _ = cutCable()
    await assertLost((async () => client.markSync(31))())
  }
  assert.equal(await client.mark(31), 1)
})
