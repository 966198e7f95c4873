import assert from 'node:assert/strict'
import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { type Connection, connect, joinMulticast, type Listener, listen } from '../../src/cm/index.ts'
import { formatConnectionReport, runConnectionConformance } from '../../src/testing/index.ts'
import type { QueuePair } from '../../src/verbs/index.ts'
import { startProgram } from './support/program.ts'
import { RpingEnd, whenListening } from './support/rping.ts'

const address = process.env['AETHER_RDMA_ADDRESS'] ?? ''
const address6 = process.env['AETHER_RDMA_ADDRESS6'] ?? ''
const PATIENCE = { timeoutMs: 60_000 }
/** Of 32 connections each. AETHER_TEST_CONNECTIONS=1000 is a soak. */
const ROUNDS = Math.ceil(Number(process.env['AETHER_TEST_CONNECTIONS'] ?? 32) / 32)
/** In the guest's network, and nobody's. */
const SILENT_ADDRESS = '10.9.0.77'

/**
 * What the kernel holds of each kind: `pd 1 cq 1 qp 1 cm_id 0 …`. Not the open devices: librdmacm keeps the ones that
 * it has opened.
 */
function resources(): string {
  const shown = execFileSync('rdma', ['resource', 'show', 'rxe0'], { encoding: 'utf8' })
  return shown.replace(/ ctx \d+/, '').trim()
}

/** Queue pairs of rxe and the kernel's other objects go a moment after those who closed them. */
async function settlesTo(expected: string): Promise<void> {
  for (let left = 200; left > 0 && resources() !== expected; left -= 1)
    await new Promise((resolve) => setTimeout(resolve, 50))
  assert.equal(resources(), expected)
}

async function accept(listener: Listener, prepare?: (pair: QueuePair) => void): Promise<Connection> {
  const request = await listener.next(PATIENCE)
  assert.ok(request)
  return request.accept({ ...PATIENCE, ...(prepare === undefined ? {} : { prepare }) })
}

test('the connection manager conforms over an RDMA device, and leaves nothing behind', async () => {
  const before = resources()
  const report = await runConnectionConformance({ device: 'rxe0', address, address6, silentAddress: SILENT_ADDRESS })
  console.log(formatConnectionReport(report))
  assert.equal(report.failed, 0)
  await settlesTo(before)
})

test('rping as client', async () => {
  using listener = await listen({ device: 'rxe0', address })
  using program = startProgram('rping', '-c', '-v', '-V', '-C', '5', '-a', address, '-p', String(listener.port))
  let end: RpingEnd | undefined
  using connection = await accept(listener, (pair) => {
    end = new RpingEnd(pair)
  })
  const texts = await end!.serve(5)
  assert.match(texts[4] ?? '', /^rdma-ping-4: /)
  assert.equal((await program.finished()).status, 0)
  assert.equal(await connection.closed, 'peer')
})

test('rping as server, over IPv4 and IPv6', async () => {
  for (const [own, port] of [
    [address, 7301],
    [address6, 7302],
  ] as const) {
    using program = startProgram('rping', '-s', '-v', '-C', '5', '-a', own, '-p', String(port))
    let end: RpingEnd | undefined
    const prepare = (pair: QueuePair): void => {
      end = new RpingEnd(pair)
    }
    using connection = await whenListening(() => connect({ ...PATIENCE, device: 'rxe0', address: own, port, prepare }))
    await end!.ping(5)
    await connection.disconnect()
    await program.finished()
    assert.match(program.output, /server ping data: aether-ping-4/)
  }
})

const MESSAGES = 10
const BYTES = 100

/** What ucmatose does at either end: as many messages in each direction. */
async function exchange(connection: Connection, arriving: readonly Promise<unknown>[]): Promise<void> {
  const memory = connection.domain.allocate(BYTES, 1)
  for (let message = 0; message < MESSAGES; message += 1)
    await connection.pair.send({ local: memory.subarray(0, BYTES) })
  await Promise.all(arriving)
}

/** Posts the receives of one connection; they resolve as the messages come. */
function receives(into: Map<number, Promise<unknown>[]>, headerBytes = 0): (pair: QueuePair) => void {
  return (pair) => {
    const memory = pair.domain.allocate(BYTES + headerBytes, 1)
    const arriving = Array.from({ length: MESSAGES }, () =>
      pair.receive({ local: memory.subarray(0, BYTES + headerBytes) }),
    )
    // An attempt that is repeated, because nobody listens yet, takes its receives with it.
    for (const each of arriving) each.catch(() => undefined)
    into.set(pair.number, arriving)
  }
}

test('ucmatose as client: four connections at once', async () => {
  using listener = await listen({ device: 'rxe0', address })
  const sizes = ['-c', '4', '-C', String(MESSAGES), '-S', String(BYTES)]
  using program = startProgram('ucmatose', '-s', address, '-p', String(listener.port), ...sizes)
  const arriving = new Map<number, Promise<unknown>[]>()
  const accepting = Array.from({ length: 4 }, () => accept(listener, receives(arriving)))
  const connections = await Promise.all(accepting)
  await Promise.all(connections.map((each) => exchange(each, arriving.get(each.pair.number) ?? [])))
  for (const connection of connections) await connection.disconnect()
  const { status, output } = await program.finished()
  assert.equal(status, 0, output)
  assert.match(output, /test complete/)
  for (const connection of connections) connection.close()
})

test('ucmatose as server', async () => {
  const sizes = ['-c', '2', '-C', String(MESSAGES), '-S', String(BYTES)]
  using program = startProgram('ucmatose', '-b', address, '-p', '7303', ...sizes)
  const arriving = new Map<number, Promise<unknown>[]>()
  const dial = (): Promise<Connection> =>
    whenListening(() => connect({ ...PATIENCE, device: 'rxe0', address, port: 7303, prepare: receives(arriving) }))
  const connections = [await dial(), await dial()]
  await Promise.all(connections.map((each) => exchange(each, arriving.get(each.pair.number) ?? [])))
  for (const connection of connections) assert.equal(await connection.closed, 'peer')
  const { status, output } = await program.finished()
  assert.equal(status, 0, output)
  for (const connection of connections) connection.close()
})

/** It takes no other. */
const UDADDY_PORT = 7174

test('udaddy as server: its datagram service is found and answers', async () => {
  const sizes = ['-c', '1', '-C', String(MESSAGES), '-S', String(BYTES)]
  using program = startProgram('udaddy', '-b', address, ...sizes)
  const arriving = new Map<number, Promise<unknown>[]>()
  const prepare = receives(arriving, 40)
  const options = { ...PATIENCE, device: 'rxe0', address, port: UDADDY_PORT, portSpace: 'udp', prepare } as const
  using connection = await whenListening(() => connect(options))
  const memory = connection.domain.allocate(BYTES, 1)
  // It answers to the queue pair that the immediate names.
  const request = { local: memory.subarray(0, BYTES), to: connection.destination()!, immediate: connection.pair.number }
  for (let message = 0; message < MESSAGES; message += 1) await connection.pair.send(request)
  await Promise.all(arriving.get(connection.pair.number) ?? [])
  const { status, output } = await program.finished()
  assert.equal(status, 0, output)
})

test('udaddy as client: it finds a datagram service of ours', async () => {
  using listener = await listen({ device: 'rxe0', address, portSpace: 'udp', port: UDADDY_PORT })
  using program = startProgram('udaddy', '-s', address, '-c', '1', '-C', '0')
  using connection = await accept(listener)
  assert.equal(connection.pair.type, 'ud')
  const { status, output } = await program.finished()
  assert.equal(status, 0, output)
})

test('mckey receives what is sent to a group', async (t) => {
  using program = startProgram('mckey', '-m', '239.7.7.7', '-b', address, '-C', '3', '-S', '64')
  await program.until(/receiving data transfers|joined/)
  using group = await joinMulticast({ ...PATIENCE, device: 'rxe0', source: address, address: '239.7.7.7' })
  const memory = group.pair.domain.allocate(64, 1)
  const request = { local: memory.subarray(0, 64), to: group.destination(), immediate: group.pair.number }
  for (let message = 0; message < 3; message += 1) await group.pair.send(request)
  const { status, output } = await program.finished()
  assert.equal(status, 0, output)
  t.diagnostic(output.trim().split('\n').at(-1) ?? '')
})

test(`${32 * ROUNDS} connections made and ended leave nothing on the device`, async () => {
  const before = resources()
  const listener = await listen({ device: 'rxe0', address })
  const serving = (async () => {
    for await (const request of listener) {
      const connection = await request.accept(PATIENCE)
      void connection.closed.then(() => connection.close())
    }
  })()
  const to = { ...PATIENCE, device: 'rxe0', address, port: listener.port }
  for (let round = 0; round < ROUNDS; round += 1) {
    const connecting = Array.from({ length: 32 }, () => connect(to))
    const connections = await Promise.all(connecting)
    await Promise.all(connections.map((connection) => connection.disconnect()))
    for (const connection of connections) connection.close()
  }
  listener.close()
  await serving
  await settlesTo(before)
})

test('without a word the address says which device, also in a Worker', async () => {
  const listener = await listen({ address })
  const accepting = accept(listener)
  const program =
    'import("aether-dsm/cm").then(({ connect }) => connect(JSON.parse(process.env.TO))).then((c) => c.closed)'
  const to = JSON.stringify({ ...PATIENCE, address, port: listener.port })
  const worker = new Worker(program, { eval: true, env: { ...process.env, TO: to } })
  const connection = await accepting
  assert.equal(connection.device.name, 'rxe0')
  await worker.terminate()
  assert.equal(await connection.closed, 'peer')
  connection.close()
  listener.close()
})

test('refusals leave nothing on the device either', async () => {
  const before = resources()
  const listener = await listen({ device: 'rxe0', address })
  const refusing = (async () => {
    for await (const request of listener) request.reject(Uint8Array.of(1))
  })()
  const to = { device: 'rxe0', address, port: listener.port }
  for (let round = 0; round < 32; round += 1)
    await assert.rejects(connect(to), { name: 'ConnectionRejectedError', reason: 'consumer' })
  listener.close()
  await refusing
  await assert.rejects(connect({ ...to, address: SILENT_ADDRESS, timeoutMs: 500 }))
  await settlesTo(before)
})

test('the end of the peer’s process ends the connection, and the kernel takes back what it had', async () => {
  const before = resources()
  const environment = { ...process.env, AETHER_TEST_DEVICE: 'rxe0', AETHER_TEST_ADDRESS: address }
  const child = fork(fileURLToPath(new URL('../cm/fixtures/peer.js', import.meta.url)), ['listen'], {
    env: environment,
  })
  const [port] = (await once(child, 'message')) as [number]
  const connection = await connect({ ...PATIENCE, device: 'rxe0', address, port })
  child.kill('SIGKILL')
  assert.equal(await connection.closed, 'peer')
  connection.close()
  await settlesTo(before)
})
