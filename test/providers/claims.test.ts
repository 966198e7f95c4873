/**
 * Senders to rings that many share are killed between any two stores: the owner loses no receive request, and the
 * others go on.
 */
import { strict as assert } from 'node:assert'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  Access,
  CompletionBatch,
  type CompletionQueue,
  CompletionStatus,
  type Device,
  type MemoryRegion,
  openDevice,
  type PreparedReceive,
  type ProtectionDomain,
  type QueuePair,
  type RemoteEndpoint,
} from '../../src/verbs/index.ts'
import { drawn } from '../support/drawn.ts'
import type { ClaimantInvitation } from './fixtures/claimant.ts'
import { type CrashPoint, crashPoints, FATAL_MESSAGE } from './fixtures/crash-points.ts'
import { programToMutate } from './fixtures/mutants.ts'

const program = fileURLToPath(programToMutate('claimant'))
const hook = programToMutate('mutate').href
const RECEIVES = 8
const SLOT_BYTES = 128
const GLOBAL_ROUTE_BYTES = 40
const PATIENCE_MS = 10_000

type Type = ClaimantInvitation['type']

/** The owner of a ring, one receiver for the sender that will be killed, and a sender of its own that lives. */
class Owner {
  readonly device: Device = openDevice('shm0')
  readonly type: Type
  readonly receiver: QueuePair
  readonly #domain: ProtectionDomain
  readonly #memory: MemoryRegion
  readonly #queue: CompletionQueue
  readonly #sent: CompletionQueue
  readonly #batch = new CompletionBatch(64)
  readonly #receives: PreparedReceive[] = []
  readonly #sender: QueuePair
  readonly #send

  constructor(type: Type) {
    this.type = type
    this.#domain = this.device.createProtectionDomain()
    this.#memory = this.#domain.allocate(4096, Access.LocalWrite)
    this.#queue = this.device.createCompletionQueue({ depth: 64 })
    this.#sent = this.device.createCompletionQueue({ depth: 64 })
    const shared = type === 'rc' ? { sharedReceiveQueue: this.#domain.createSharedReceiveQueue() } : {}
    const common = { type, sendQueue: this.#sent, receiveQueue: this.#queue, ...shared }
    this.receiver = this.#domain.createQueuePair(common)
    const second = type === 'rc' ? this.#domain.createQueuePair(common) : this.receiver
    this.#sender = this.#domain.createQueuePair({ type, sendQueue: this.#sent, receiveQueue: this.#sent })
    const from = shared.sharedReceiveQueue ?? this.receiver
    for (let id = 0; id < RECEIVES; id += 1)
      this.#receives.push(from.prepareReceive({ local: this.#memory.subarray(id * SLOT_BYTES, (id + 1) * SLOT_BYTES) }))
    this.#sender.connect(second.endpoint)
    if (type === 'rc') second.connect(this.#sender.endpoint)
    const to = { addressHandle: this.#domain.createAddressHandle({ gid: this.device.gid }), number: second.number }
    this.#send = this.#sender.prepareSend({
      local: this.#memory.subarray(2048, 2112),
      ...(type === 'ud' ? { to } : {}),
    })
  }

  connect(remote: RemoteEndpoint): void {
    this.receiver.connect(remote)
  }

  post(): void {
    for (const [id, receive] of this.#receives.entries()) receive.post(id)
  }

  /** Messages of one sender that arrived whole: what they are filled with, by the id of the receive. */
  async take(count: number): Promise<Map<number, number>> {
    const taken = new Map<number, number>()
    const deadline = performance.now() + PATIENCE_MS
    while (taken.size < count) {
      assert.ok(performance.now() < deadline, `${taken.size} of ${count} receives completed`)
      for (let row = this.#queue.poll(this.#batch) - 1; row >= 0; row -= 1) this.#check(row, taken)
      await new Promise((resolve) => setImmediate(resolve))
    }
    return taken
  }

  /** The sender that lives sends `count` messages. */
  send(count: number): void {
    for (let message = 0; message < count; message += 1) {
      this.#memory.bytes.fill(100, 2048, 2112)
      this.#send.post(message)
      assert.equal(this.#sent.poll(this.#batch), 1)
      assert.equal(this.#batch.status[0], CompletionStatus.Success)
    }
  }

  #check(row: number, taken: Map<number, number>): void {
    const id = this.#batch.id[row]!
    assert.equal(this.#batch.status[row], CompletionStatus.Success)
    assert.ok(!taken.has(id), `receive ${id} completed twice`)
    const from = id * SLOT_BYTES + (this.type === 'ud' ? GLOBAL_ROUTE_BYTES : 0)
    const bytes = this.#memory.bytes.subarray(from, from + 64)
    assert.ok(bytes.every((byte) => byte === bytes[0]))
    taken.set(id, bytes[0]!)
  }
}

async function killAt(point: CrashPoint, owner: Owner): Promise<void> {
  const environment = { ...process.env, AETHER_TEST_MUTANT: point.name }
  const child: ChildProcess = fork(program, {
    execArgv: ['--import', hook],
    env: environment,
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit')
  child.send({ type: owner.type, endpoint: owner.receiver.endpoint } satisfies ClaimantInvitation)
  const [{ endpoint }] = (await once(child, 'message')) as [{ endpoint: RemoteEndpoint }]
  owner.connect(endpoint)
  owner.post()
  child.send('go')
  await ended
  assert.equal(child.signalCode, 'SIGKILL')
}

const types = [
  { type: 'rc', elsewhere: 'datagram-transport.js' },
  { type: 'ud', elsewhere: 'target.js' },
] as const

for (const point of crashPoints) {
  const fitting = types.filter(({ elsewhere }) => !point.file.endsWith(elsewhere))
  for (const { type } of drawn(fitting, 1)) {
    test(`${type}: ${point.name}`, async () => {
      const owner = new Owner(type)
      await killAt(point, owner)
      const whole = FATAL_MESSAGE - 1 + (point.delivered ? 1 : 0)
      const first = await owner.take(whole)
      assert.deepEqual(
        [...first.values()].sort(),
        Array.from({ length: whole }, (_, index) => index + 1),
      )
      // What the dead one held is there for others, once.
      owner.send(RECEIVES - whole)
      const rest = await owner.take(RECEIVES - whole)
      assert.equal(new Set([...first.keys(), ...rest.keys()]).size, RECEIVES)
      owner.post()
      owner.send(RECEIVES)
      await owner.take(RECEIVES)
      owner.device.close()
    })
  }
}
