/** Who may connect: those that know the secret; without one, only processes of this machine. */
import { strict as assert } from 'node:assert'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { connect, listen } from '../../../src/cm/index.ts'
import {
  type AddressVector,
  CompletionBatch,
  CompletionStatus,
  type Device,
  openDevice,
  type QueuePair,
  type QueuePairType,
} from '../../../src/verbs/index.ts'
import { until } from '../../cluster/support.ts'
import { Networks } from '../../support/networks.ts'
import { RankProcess } from '../../support/rank-process.ts'
import { ALL_ACCESS } from '../../verbs/loopback.ts'
import type { Opened } from './fixtures/end.ts'
import { fixture } from './survivor.ts'

const { Success, RetryExceeded } = CompletionStatus
const folder = mkdtempSync(join(tmpdir(), 'aether-test-secret-'))
after(() => rmSync(folder, { recursive: true, force: true }))

function secretFile(name: string): string {
  const path = join(folder, name)
  writeFileSync(path, name.repeat(8), { mode: 0o600 })
  return path
}

const [one, other] = [secretFile('one secret'), secretFile('other secret')]
const environment = (file?: string): Record<string, string> => ({ AETHER_SECRET_FILE: file ?? '' })

/** With what status a WRITE from the first process to the second ends. */
async function reached(ends: readonly [RankProcess, RankProcess], device: string): Promise<number> {
  const [from, to] = ends
  const opened = await Promise.all(ends.map((end) => end.call<Opened>('open', device, 4096)))
  // Whoever is told to connect first, the one with the lower number calls.
  const options = { timeout: 14, retryCount: 7 }
  await to.call('connect', opened[0]!.endpoint, options)
  await from.call('connect', opened[1]!.endpoint, options)
  return await from.call('writeOnce', opened[1]!.token)
}

async function withEnds(
  files: readonly [string | undefined, string | undefined],
  under: readonly [string[], string[]],
  use: (ends: readonly [RankProcess, RankProcess]) => Promise<void>,
): Promise<void> {
  const ends = [0, 1].map((end) => new RankProcess(fixture, environment(files[end]), under[end])) as [
    RankProcess,
    RankProcess,
  ]
  try {
    await use(ends)
  } finally {
    await Promise.all(ends.map((end) => end.kill()))
  }
}

test('processes with one secret reach each other; with two, or one that has none, they do not', async () => {
  await withEnds([one, one], [[], []], async (ends) => assert.equal(await reached(ends, 'tcp-lo'), Success))
  await withEnds([one, other], [[], []], async (ends) => {
    assert.equal(await reached(ends, 'tcp-lo'), RetryExceeded)
    assert.equal(await reached([ends[1], ends[0]], 'tcp-lo'), RetryExceeded)
  })
  await withEnds([one, undefined], [[], []], async (ends) => {
    assert.equal(await reached(ends, 'tcp-lo'), RetryExceeded)
    assert.equal(await reached([ends[1], ends[0]], 'tcp-lo'), RetryExceeded)
  })
})

const skip = Networks.reasonAgainst()

test('without a secret only processes of the same machine connect; with one, all that know it', { skip }, async () => {
  using networks = Networks.make()
  const [a, b] = [networks.in(0), networks.in(1)]
  await withEnds([undefined, undefined], [a, a], async (ends) => assert.equal(await reached(ends, 'tcp0'), Success))
  await withEnds([undefined, undefined], [a, b], async (ends) => {
    assert.equal(await reached(ends, 'tcp0'), RetryExceeded)
    assert.equal(await reached([ends[1], ends[0]], 'tcp0'), RetryExceeded)
  })
  await withEnds([one, one], [a, b], async (ends) => {
    assert.equal(await reached(ends, 'tcp0'), Success)
    assert.equal(await reached([ends[1], ends[0]], 'tcp0'), Success)
  })
})

test('a listener of the connection manager hears only those that know its secret', async () => {
  const before = process.env['AETHER_SECRET_FILE']
  after(() => {
    if (before === undefined) delete process.env['AETHER_SECRET_FILE']
    else process.env['AETHER_SECRET_FILE'] = before
  })
  process.env['AETHER_SECRET_FILE'] = one
  await using listener = await listen({ device: 'tcp-lo', address: '127.0.0.1' })
  const { port } = listener
  const asking = { device: 'tcp-lo', address: '127.0.0.1', port, timeoutMs: 2000 }
  for (const file of [other, '']) {
    process.env['AETHER_SECRET_FILE'] = file
    await assert.rejects(connect(asking), { message: /./ })
  }
  process.env['AETHER_SECRET_FILE'] = one
  const accepting = listener.next().then((request) => request!.accept())
  await using connection = await connect({ ...asking, timeoutMs: 20_000 })
  await using accepted = await accepting
  assert.equal(connection.pair.query().destinationQueuePair, accepted.pair.number)
})

interface DatagramEnd {
  readonly device: Device
  readonly pair: QueuePair
  readonly to: AddressVector
  received(): number
  send(target: DatagramEnd): void
}

function datagramEnd(secret: Uint8Array): DatagramEnd {
  const device = openDevice('tcp-lo', { secret })
  const domain = device.createProtectionDomain()
  const memory = domain.allocate(4096, ALL_ACCESS)
  const queue = device.createCompletionQueue({ depth: 64 })
  const sent = device.createCompletionQueue({ depth: 64 })
  const type: QueuePairType = 'ud'
  const pair = domain.createQueuePair({ type, sendQueue: sent, receiveQueue: queue })
  pair.toInit()
  for (let id = 0; id < 8; id += 1) pair.prepareReceive({ local: memory.subarray(0, 256) }).post(id)
  pair.toReadyToReceive()
  pair.toReadyToSend()
  const batch = new CompletionBatch(16)
  return {
    device,
    pair,
    to: { gid: device.gid },
    received: () => queue.poll(batch),
    send(target) {
      const handle = domain.createAddressHandle(target.to)
      const to = { addressHandle: handle, number: target.pair.number }
      pair.prepareSend({ local: memory.subarray(1024, 1040), to }).post(1)
    },
  }
}

test('a datagram of one that does not know the secret is dropped', async () => {
  const ends = ['a', 'a', 'b'].map((text) => datagramEnd(Buffer.from(text.repeat(32))))
  const [target, right, wrong] = ends as [DatagramEnd, DatagramEnd, DatagramEnd]
  for (let round = 0; round < 4; round += 1) wrong.send(target)
  right.send(target)
  let received = 0
  await until(() => {
    received += target.received()
    return received > 0
  }, 'the right one is heard')
  // What was sent before it has been looked at, too: one socket is read in order.
  assert.equal(received + target.received(), 1)
  for (const { device } of ends) device.close()
})
