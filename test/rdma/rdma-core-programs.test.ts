/**
 * More of rdma-core's programs as the other end, or as the witness: the connection manager's examples, and those that
 * list devices.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { describeDevice } from '../../src/cli/devices/describe.ts'
import { type Connection, connect, type Listener, listen } from '../../src/cm/index.ts'
import { UnsupportedError } from '../../src/native/index.ts'
import { Access, openDevice, type QueuePair } from '../../src/verbs/index.ts'
import { type Program, startProgram } from './support/program.ts'
import { whenListening } from './support/rping.ts'

const address = process.env['AETHER_RDMA_ADDRESS'] ?? ''
const PATIENCE = { timeoutMs: 60_000 }
/** rdma_client, rdma_server and their XRC siblings send one message of that many bytes, and answer it or not. */
const MESSAGE_BYTES = 16
let nextPort = 7401

async function accept(listener: Listener, prepare?: (pair: QueuePair) => void): Promise<Connection> {
  const request = await listener.next(PATIENCE)
  assert.ok(request)
  return request.accept({ ...PATIENCE, ...(prepare === undefined ? {} : { prepare }) })
}

/** A receive that is there before the connection is. */
class Inbox {
  arriving: Promise<unknown> = Promise.resolve()

  readonly prepare = (pair: QueuePair): void => {
    const memory = pair.domain.allocate(MESSAGE_BYTES, Access.LocalWrite)
    this.arriving = pair.receive({ local: memory.subarray() })
    // An attempt that is repeated, because nobody listens yet, takes its receive with it.
    this.arriving.catch(() => undefined)
  }
}

async function sendOne({ domain, pair }: Connection): Promise<void> {
  await pair.send({ local: domain.allocate(MESSAGE_BYTES, Access.LocalWrite).subarray() })
}

async function succeeded(program: Program): Promise<string> {
  const { status, output } = await program.finished()
  assert.equal(status, 0, `${program.label}: ${status}\n${output}`)
  return output
}

test('rdma_client calls ours: a message there, a message back', async () => {
  using listener = await listen({ device: 'rxe0', address })
  using program = startProgram('rdma_client', '-s', address, '-p', String(listener.port))
  const inbox = new Inbox()
  using connection = await accept(listener, inbox.prepare)
  await inbox.arriving
  await sendOne(connection)
  assert.match(await succeeded(program), /rdma_client: end 0/)
  await connection.closed
})

test('ours calls rdma_server', async () => {
  const port = nextPort++
  using program = startProgram('rdma_server', '-s', address, '-p', String(port))
  const inbox = new Inbox()
  using connection = await whenListening(() =>
    connect({ ...PATIENCE, device: 'rxe0', address, port, prepare: inbox.prepare }),
  )
  await sendOne(connection)
  await inbox.arriving
  await connection.disconnect()
  assert.match(await succeeded(program), /rdma_server: end 0/)
})

test('rdma_xclient, over a reliable connection, calls ours', async () => {
  using listener = await listen({ device: 'rxe0', address })
  using program = startProgram('rdma_xclient', '-s', address, '-p', String(listener.port), '-c', 'r')
  const inbox = new Inbox()
  using connection = await accept(listener, inbox.prepare)
  await inbox.arriving
  await succeeded(program)
  await connection.closed
})

test('ours calls rdma_xserver, over a reliable connection', async () => {
  const port = nextPort++
  using program = startProgram('rdma_xserver', '-p', String(port), '-c', 'r')
  using connection = await whenListening(() => connect({ ...PATIENCE, device: 'rxe0', address, port }))
  await sendOne(connection)
  await connection.disconnect()
  await succeeded(program)
})

test('XRC is refused by rxe, for ibv_xsrq_pingpong as for ours', async () => {
  using program = startProgram('ibv_xsrq_pingpong', '-d', 'rxe0', '-g', '1', '-p', String(nextPort++))
  const { status, output } = await program.finished()
  assert.notEqual(status, 0, output)
  using device = openDevice('rxe0')
  assert.throws(() => device.openXrcDomain(), UnsupportedError)
})

const CONNECTIONS = 8

test('cmtime calls ours: connections that it makes and ends, step by step', async () => {
  using listener = await listen({ device: 'rxe0', address })
  using program = startProgram('cmtime', '-s', address, '-p', String(listener.port), '-c', String(CONNECTIONS))
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => accept(listener)))
  await Promise.all(connections.map((connection) => connection.closed))
  for (const connection of connections) connection.close()
  assert.match(await succeeded(program), /disconnect/)
})

/**
 * All at once, as its own client does it: when the last connection has gone, the library gives up its protection
 * domain, and cmtime's next queue pair fails (ENOENT).
 */
test('ours calls cmtime', async () => {
  const port = nextPort++
  using _program = startProgram('cmtime', '-b', address, '-p', String(port), '-c', String(CONNECTIONS))
  const dial = (): Promise<Connection> => connect({ ...PATIENCE, device: 'rxe0', address, port })
  const connections = [await whenListening(dial)]
  while (connections.length < CONNECTIONS) connections.push(await dial())
  await Promise.all(connections.map((connection) => connection.disconnect()))
  for (const connection of connections) connection.close()
})

/** What `ibv_devinfo` calls it, and what `aether devices --json` does. */
const limits = {
  max_qp: 'maxQueuePairs',
  max_qp_wr: 'maxRequests',
  max_sge: 'maxSegments',
  max_cq: 'maxCompletionQueues',
  max_cqe: 'maxCompletions',
  max_mr: 'maxMemoryRegions',
  max_pd: 'maxProtectionDomains',
  max_qp_rd_atom: 'maxReadAtomic',
  max_qp_init_rd_atom: 'maxInitiatorReadAtomic',
  max_mw: 'maxMemoryWindows',
  max_ah: 'maxAddressHandles',
  max_srq: 'maxSharedReceiveQueues',
  max_srq_wr: 'maxSharedReceiveRequests',
  max_srq_sge: 'maxSharedReceiveSegments',
  max_mcast_grp: 'maxMulticastGroups',
} as const

test('aether devices says what ibv_devinfo says', async () => {
  using program = startProgram('ibv_devinfo', '-v', '-d', 'rxe0')
  const said = await succeeded(program)
  const theirs = (name: string): string => new RegExp(`^\\s*${name}:\\s*(\\S+)`, 'm').exec(said)?.[1] ?? `no ${name}`
  const ours = describeDevice('rxe0')
  for (const [name, own] of Object.entries(limits)) assert.equal(String(ours.limits[own]), theirs(name), name)
  assert.equal(ours.limits['nodeGuid'], theirs('node_guid').replaceAll(':', ''))
  assert.equal(ours.ports.length, Number(theirs('phys_port_cnt')))
  const [port] = ours.ports
  assert.ok(port)
  assert.equal(`PORT_${port.state.toUpperCase()}`, theirs('state'))
  assert.equal(String(port.activeMtu), theirs('active_mtu'))
  assert.equal(port.linkLayer, theirs('link_layer').toLowerCase())
  const gids = [...said.matchAll(/GID\[\s*(\d+)\]:\s*(\S+?),?\s/g)].map((found) => Number(found[1]))
  assert.deepEqual(
    port.gids.map(({ index }) => index),
    gids,
  )
  assert.ok(Number(ours.limits['maxInlineBytes']) >= 64, `inline: ${ours.limits['maxInlineBytes']}`)
})

test('memory and connections of the asynchronous forms work on a device as on shm', async () => {
  using device = openDevice('rxe0')
  const domain = device.createProtectionDomain()
  const queue = device.createCompletionQueue({ depth: 16 })
  const pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
  await pair.connectAsync(pair.endpoint)
  const memory = await domain.allocateAsync(64 << 20, Access.LocalWrite | Access.RemoteWrite)
  const source = await domain.registerAsync(new Uint8Array([1, 2, 3]), Access.LocalWrite)
  await pair.write({ local: source.subarray(), remote: memory.token })
  assert.equal(memory.bytes[2], 3)
})
