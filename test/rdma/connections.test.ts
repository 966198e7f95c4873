import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import {
  Access,
  CompletionBatch,
  type CompletionQueue,
  CompletionStatus,
  type MemoryRegion,
  openDevice,
  type ProtectionDomain,
  type QueuePair,
} from '../../src/verbs/index.ts'
import { PATIENCE_MS } from './support/program.ts'
import { rdmaResources } from './support/resources.ts'

/** AETHER_TEST_CONNECTIONS=1000 is a soak; emulated, each takes 35 ms. */
const CONNECTIONS = Number(process.env['AETHER_TEST_CONNECTIONS'] ?? 32)
const AT_ONCE = Math.min(256, 2 * CONNECTIONS)

interface Connection {
  readonly first: QueuePair
  readonly second: QueuePair
}

function open(domain: ProtectionDomain, queue: CompletionQueue): Connection {
  const create = (): QueuePair =>
    domain.createQueuePair({
      ...{ type: 'rc', sendQueue: queue, receiveQueue: queue, maxSendRequests: 4, maxReceiveRequests: 1 },
    })
  const [first, second] = [create(), create()]
  first.connect(second.endpoint)
  second.connect(first.endpoint)
  return { first, second }
}

function write({ first }: Connection, memory: MemoryRegion, id: number): void {
  const remote = { address: memory.address + 8 * (id + 1), key: memory.remoteKey }
  first.prepareWrite({ local: memory.subarray(0, 8), remote }).post(id)
}

async function complete(queue: CompletionQueue, count: number): Promise<number[]> {
  const batch = new CompletionBatch(64)
  const ids: number[] = []
  const deadline = Date.now() + PATIENCE_MS
  while (ids.length < count) {
    const rows = queue.poll(batch)
    for (let row = 0; row < rows; row += 1) {
      assert.equal(batch.status[row], CompletionStatus.Success)
      ids.push(batch.id[row]!)
    }
    assert.ok(Date.now() < deadline, `${ids.length} of ${count} writes done`)
    if (rows === 0) await turn()
  }
  return ids
}

test(`${CONNECTIONS} connections are opened, used and closed, and the kernel keeps none`, async () => {
  using device = openDevice('rxe0')
  using domain = device.createProtectionDomain()
  using queue = device.createCompletionQueue({ depth: 16 })
  using memory = domain.allocate(4096, Access.LocalWrite | Access.RemoteWrite)
  const before = rdmaResources()
  for (let index = 0; index < CONNECTIONS; index += 1) {
    const connection = open(domain, queue)
    write(connection, memory, index % 256)
    assert.deepEqual(await complete(queue, 1), [index % 256])
    connection.first.close()
    connection.second.close()
  }
  assert.deepEqual(rdmaResources(), before)
})

test(`${AT_ONCE} connections are open at once, each is used, and closing the domain closes all`, async () => {
  using device = openDevice('rxe0')
  const before = rdmaResources()
  const domain = device.createProtectionDomain()
  const queue = device.createCompletionQueue({ depth: AT_ONCE })
  const memory = domain.allocate(4096, Access.LocalWrite | Access.RemoteWrite)
  memory.bytes.fill(7, 0, 8)
  const connections = Array.from({ length: AT_ONCE }, () => open(domain, queue))
  assert.equal(rdmaResources()['qp'], (before['qp'] ?? 0) + 2 * AT_ONCE)
  for (const [index, connection] of connections.entries()) write(connection, memory, index)
  const ids = await complete(queue, AT_ONCE)
  assert.deepEqual(
    ids.sort((a, b) => a - b),
    connections.map((_, index) => index),
  )
  assert.ok(memory.bytes.subarray(0, 8 * (AT_ONCE + 1)).every((byte) => byte === 7))
  domain.close()
  queue.close()
  assert.deepEqual(rdmaResources(), before)
})
