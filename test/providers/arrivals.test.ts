/**
 * The one who sends to the ring of a connected queue pair is killed between any two stores: what arrived is whole, and
 * the ring goes on with the next one.
 */
import { strict as assert } from 'node:assert'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  CompletionBatch,
  type CompletionChannel,
  type CompletionQueue,
  CompletionStatus,
  type Device,
  type MemoryRegion,
  openDevice,
  type ProtectionDomain,
  type QueuePair,
  type RemoteEndpoint,
} from '../../src/verbs/index.ts'
import { drawn } from '../support/drawn.ts'
import { ALL_ACCESS } from '../verbs/loopback.ts'
import type { ClaimantInvitation } from './fixtures/claimant.ts'
import { type CrashPoint, connectedCrashPoints, FATAL_MESSAGE } from './fixtures/crash-points.ts'
import { programToMutate } from './fixtures/mutants.ts'

const program = fileURLToPath(programToMutate('claimant'))
const hook = programToMutate('mutate').href
/** Not as many as the ring has slots, so that it wraps in the middle of the second connection. */
const RECEIVES = 6
const MESSAGE_BYTES = 64
const PATIENCE_MS = 10_000

type Way = 'SEND' | 'WRITE with immediate'

interface Came {
  readonly id: number
  readonly status: number
  readonly immediate: number
}

class Owner {
  readonly device: Device = openDevice('shm0')
  readonly domain: ProtectionDomain = this.device.createProtectionDomain()
  readonly memory: MemoryRegion = this.domain.allocate(4096, ALL_ACCESS)
  readonly channel: CompletionChannel = this.device.createCompletionChannel()
  readonly queue: CompletionQueue = this.device.createCompletionQueue({ depth: 64, channel: this.channel })
  readonly pair: QueuePair
  readonly #batch = new CompletionBatch(16)

  constructor() {
    const { queue } = this
    this.pair = this.domain.createQueuePair({
      type: 'rc',
      sendQueue: queue,
      receiveQueue: queue,
      maxReceiveRequests: RECEIVES,
    })
  }

  post(): void {
    for (let id = 0; id < RECEIVES; id += 1)
      this.pair.prepareReceive({ local: this.memory.subarray(id * MESSAGE_BYTES, (id + 1) * MESSAGE_BYTES) }).post(id)
  }

  poll(): Came[] {
    const batch = this.#batch
    return Array.from({ length: this.queue.poll(batch) }, (_, row) => ({
      id: batch.id[row]!,
      status: batch.status[row]!,
      immediate: batch.immediate[row]!,
    }))
  }

  /** Takes completions until there are `count`: polling, or asleep between them. */
  async take(count: number, sleeps: boolean): Promise<Came[]> {
    const taken: Came[] = []
    const deadline = performance.now() + PATIENCE_MS
    while (taken.length < count) {
      if (sleeps) this.queue.arm()
      const came = this.poll()
      taken.push(...came)
      assert.ok(performance.now() < deadline, `${taken.length} of ${count} completions came`)
      if (!sleeps) await new Promise((resolve) => setImmediate(resolve))
      else if (came.length === 0) {
        await this.channel.wait({ timeoutMs: PATIENCE_MS })
        this.channel.drain()
      }
    }
    return taken
  }

  /** The bytes that message `index` left. */
  bytes(index: number): Uint8Array {
    return this.memory.bytes.subarray(index * MESSAGE_BYTES, (index + 1) * MESSAGE_BYTES)
  }
}

/** A sender that dies at its third message; `ended` when it has. */
async function start(point: CrashPoint, owner: Owner, way: Way): Promise<{ readonly ended: Promise<void> }> {
  const child: ChildProcess = fork(program, {
    execArgv: ['--import', hook],
    env: { ...process.env, AETHER_TEST_MUTANT: point.name },
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit').then(() => assert.equal(child.signalCode, 'SIGKILL'))
  const target = way === 'SEND' ? {} : { target: owner.memory.token }
  child.send({ type: 'rc', endpoint: owner.pair.endpoint, ...target } satisfies ClaimantInvitation)
  const [{ endpoint }] = (await once(child, 'message')) as [{ endpoint: RemoteEndpoint }]
  owner.pair.connect(endpoint)
  owner.post()
  child.send('go')
  return { ended }
}

/** A sender that lives fills the ring twice, after a RESET of the receiver. */
async function goOn(owner: Owner): Promise<void> {
  const { pair, domain, memory } = owner
  const sent = owner.device.createCompletionQueue({ depth: 16 })
  const sender = domain.createQueuePair({ type: 'rc', sendQueue: sent, receiveQueue: sent })
  pair.toReset()
  sender.connect(pair.endpoint)
  pair.connect(sender.endpoint)
  for (let round = 0; round < 2; round += 1) {
    owner.post()
    for (let message = 0; message < RECEIVES; message += 1)
      sender
        .prepareSend({ local: memory.subarray(2048, 2112), immediate: 100 + message, signaled: false })
        .post(message)
    const came = await owner.take(RECEIVES, false)
    assert.deepEqual(
      came,
      Array.from({ length: RECEIVES }, (_, id) => ({ id, status: CompletionStatus.Success, immediate: 100 + id })),
    )
  }
}

const variants = (['SEND', 'WRITE with immediate'] as const).flatMap((way) =>
  [false, true].map((sleeps) => ({ way, sleeps })),
)

for (const point of connectedCrashPoints) {
  for (const { way, sleeps } of drawn(variants, 1)) {
    test(`${way}, the receiver ${sleeps ? 'asleep' : 'polling'}: ${point.name}`, async () => {
      const owner = new Owner()
      const { ended } = await start(point, owner, way)
      const whole = FATAL_MESSAGE - 1 + (point.delivered ? 1 : 0)
      const came = await owner.take(whole, sleeps)
      await ended
      assert.deepEqual(
        came.map(({ id, status }) => [id, status]),
        Array.from({ length: whole }, (_, id) => [id, CompletionStatus.Success]),
      )
      for (let index = 0; index < whole; index += 1) {
        assert.ok(owner.bytes(index).every((byte) => byte === index + 1))
        if (way !== 'SEND') assert.equal(came[index]!.immediate, index + 1)
      }
      // What the dead one did not use is flushed, once, and nothing of its last message is told.
      owner.pair.toError()
      const flushed = await owner.take(RECEIVES - whole, false)
      assert.deepEqual(
        flushed.map(({ id, status }) => [id, status]),
        Array.from({ length: RECEIVES - whole }, (_, index) => [whole + index, CompletionStatus.WorkRequestFlushed]),
      )
      await goOn(owner)
      owner.device.close()
    })
  }
}
