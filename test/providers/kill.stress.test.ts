/**
 * SIGKILL at random moments. `AETHER_TEST_KILLS` says how many (default 36; `AETHER_TEST_KILLS=5000` for a long
 * night). One survivor keeps its device, completion queue and memory through all of them; each victim gets a queue pair
 * of its own.
 */
import { strict as assert } from 'node:assert'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  Access,
  CompletionBatch,
  CompletionOpcode,
  type CompletionQueue,
  CompletionStatus,
  type MemoryRegion,
  openDevice,
  type ProtectionDomain,
  type QueuePair,
  QueuePairState,
} from '../../src/verbs/index.ts'
import type { Invitation } from './fixtures/victim.ts'

const KILLS = Number(process.env['AETHER_TEST_KILLS'] ?? 36)
const VICTIMS_AT_ONCE = 3
const RECEIVES = 32
const MESSAGE_BYTES = 64
/**
 * A victim dies after a random number of messages up to this, and a random moment later; earlier where it gets no
 * processor.
 */
const MESSAGES_MAX = 300
const MOMENT_MS_MAX = 0.05
const WORK_MS_MAX = 20
const victimProgram = fileURLToPath(new URL('./fixtures/victim.js', import.meta.url))

interface Survivor {
  readonly domain: ProtectionDomain
  readonly queue: CompletionQueue
  readonly batch: CompletionBatch
  /** Encounters by the number of their queue pair. */
  readonly encounters: Map<number, Encounter>
}

/** The survivor's side of one victim. */
class Encounter {
  readonly pair: QueuePair
  readonly memory: MemoryRegion
  readonly #survivor: Survivor
  readonly #words: Uint32Array
  readonly #counter: BigUint64Array
  readonly #receive
  readonly #send
  lastMessage = 0
  #nextReceive = 0
  #expectedReceive = 0
  sendsOutstanding = 0
  readonly sendStatuses: number[] = []
  readonly receiveStatuses: number[] = []

  constructor(survivor: Survivor) {
    this.#survivor = survivor
    this.memory = survivor.domain.allocate(
      8192,
      Access.LocalWrite | Access.RemoteWrite | Access.RemoteRead | Access.RemoteAtomic,
    )
    this.pair = survivor.domain.createQueuePair({
      type: 'rc',
      sendQueue: survivor.queue,
      receiveQueue: survivor.queue,
      maxReceiveRequests: RECEIVES,
    })
    const { buffer, byteOffset } = this.memory.bytes
    this.#words = new Uint32Array(buffer, byteOffset, 1024)
    this.#counter = new BigUint64Array(buffer, byteOffset + 4096, 1)
    this.#receive = this.pair.prepareReceive({ local: this.memory.subarray(0, MESSAGE_BYTES) })
    this.#send = this.pair.prepareSend({ local: this.memory.subarray(6000, 6016) })
    survivor.encounters.set(this.pair.number, this)
  }

  get invitation(): Invitation {
    const { address, remoteKey: key } = this.memory
    return {
      endpoint: this.pair.endpoint,
      counter: { address: address + 4096, key },
      area: { address: address + 7000, key },
    }
  }

  start(endpoint: Invitation['endpoint']): void {
    this.pair.toInit()
    for (let index = 0; index < RECEIVES; index += 1) this.#postReceive()
    this.pair.toReadyToReceive({ remote: endpoint })
    this.pair.toReadyToSend({ timeout: 10, retryCount: 1 })
  }

  send(): void {
    this.#send.post(1_000_000)
    this.sendsOutstanding += 1
  }

  /** One completion: messages arrive whole, in order, into the receives in the order of their posts. */
  take(batch: CompletionBatch, row: number): void {
    const status = batch.status[row]!
    if (batch.id[row]! >= 1_000_000) {
      this.sendStatuses.push(status)
      this.sendsOutstanding -= 1
      return
    }
    assert.equal(batch.id[row], this.#expectedReceive)
    this.#expectedReceive += 1
    this.receiveStatuses.push(status)
    if (status !== CompletionStatus.Success) return
    assert.equal(batch.opcode[row], CompletionOpcode.Receive)
    assert.equal(batch.byteLength[row], MESSAGE_BYTES)
    const slot = ((batch.id[row]! % RECEIVES) * MESSAGE_BYTES) / 4
    const message = this.#words.slice(slot, slot + MESSAGE_BYTES / 4)
    assert.ok(
      message.every((word) => word === this.lastMessage + 1),
      `message ${this.lastMessage + 1} holds ${message}`,
    )
    this.lastMessage += 1
    if (this.pair.state === QueuePairState.ReadyToSend) this.#postReceive()
  }

  get receivesOutstanding(): number {
    return this.#nextReceive - this.#expectedReceive
  }

  /**
   * The victim is dead: everything outstanding ends, the counter agrees with the messages, and nothing stays behind.
   */
  async finish(): Promise<void> {
    // Its memory outlives it for a moment, until the watcher has seen the death: a request may still succeed, the later
    // ones do not.
    await this.#until(() => {
      if (this.sendsOutstanding === 0 && this.sendStatuses.at(-1) !== CompletionStatus.WorkRequestFlushed)
        this.#sendTwice()
      return this.sendsOutstanding === 0 && this.sendStatuses.at(-1) === CompletionStatus.WorkRequestFlushed
    })
    const failed = this.sendStatuses.findIndex((status) => status !== CompletionStatus.Success)
    assert.equal(this.sendStatuses[failed], CompletionStatus.RetryExceeded)
    assert.ok(this.sendStatuses.slice(failed + 1).every((status) => status === CompletionStatus.WorkRequestFlushed))
    await this.#until(() => this.receivesOutstanding === 0)
    // All may have been used up; where some were not, they are flushed, and behind every message.
    const flushed = this.receiveStatuses.filter((status) => status !== CompletionStatus.Success)
    assert.ok(flushed.every((status) => status === CompletionStatus.WorkRequestFlushed))
    assert.ok(
      this.receiveStatuses
        .slice(0, -flushed.length || undefined)
        .every((status) => status === CompletionStatus.Success),
    )
    const ahead = this.#counter[0]! - BigInt(this.lastMessage)
    assert.ok(ahead === 0n || ahead === 1n, `the counter is ${ahead} ahead of the messages`)
    this.#survivor.encounters.delete(this.pair.number)
    this.pair.close()
    this.memory.close()
  }

  #sendTwice(): void {
    this.send()
    this.send()
  }

  async #until(condition: () => boolean): Promise<void> {
    const deadline = performance.now() + 10_000
    while (!condition()) {
      pump(this.#survivor)
      assert.ok(performance.now() < deadline, 'what was outstanding did not complete')
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  #postReceive(): void {
    const at = (this.#nextReceive % RECEIVES) * MESSAGE_BYTES
    this.#receive.setSegmentAddress(0, this.memory.address + at)
    this.#receive.post(this.#nextReceive)
    this.#nextReceive += 1
  }
}

/** Poll once for everybody. */
function pump(survivor: Survivor): void {
  const { batch } = survivor
  const count = survivor.queue.poll(batch)
  for (let row = 0; row < count; row += 1) survivor.encounters.get(batch.queuePairNumber[row]!)?.take(batch, row)
}

function workUntil(survivor: Survivor, encounter: Encounter, limitMs: number, enough: () => boolean): void {
  const until = performance.now() + limitMs
  while (!enough() && performance.now() < until) {
    pump(survivor)
    if (encounter.sendsOutstanding < 8) encounter.send()
  }
}

/** Let the victim work, with traffic in both directions, then kill it at a random moment in the middle. */
async function killInTheMiddle(survivor: Survivor, victim: ChildProcess): Promise<number> {
  const encounter = new Encounter(survivor)
  victim.send(encounter.invitation)
  const [{ endpoint }] = (await once(victim, 'message')) as [{ endpoint: Invitation['endpoint'] }]
  encounter.start(endpoint)
  victim.send('begin')
  while (encounter.lastMessage === 0) {
    pump(survivor)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const messages = Math.random() * MESSAGES_MAX
  workUntil(survivor, encounter, WORK_MS_MAX, () => encounter.lastMessage >= messages)
  workUntil(survivor, encounter, Math.random() * MOMENT_MS_MAX, () => false)
  const gone = once(victim, 'exit')
  victim.kill('SIGKILL')
  await gone
  assert.equal(victim.signalCode, 'SIGKILL')
  await encounter.finish()
  return encounter.lastMessage
}

function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length
}

test(`${KILLS} victims killed in the middle leave the survivor whole`, async (context) => {
  const device = openDevice('shm0')
  const domain = device.createProtectionDomain()
  const queue = device.createCompletionQueue({ depth: 1024 })
  const survivor: Survivor = { domain, queue, batch: new CompletionBatch(64), encounters: new Map() }
  let started = 0
  let messages = 0
  const lane = async (): Promise<void> => {
    while (started < KILLS) {
      started += 1
      const victim = fork(victimProgram, { serialization: 'advanced', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
      messages += await killInTheMiddle(survivor, victim)
    }
  }
  const warmUp = fork(victimProgram, { serialization: 'advanced', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  messages += await killInTheMiddle(survivor, warmUp)
  const before = openDescriptors()
  await Promise.all(Array.from({ length: VICTIMS_AT_ONCE }, lane))
  // The pipes to processes that were killed last are closed in a later turn.
  for (let wait = 0; openDescriptors() !== before && wait < 1000; wait += 1) await sleep(10)
  assert.equal(openDescriptors(), before, 'descriptors are left behind')
  context.diagnostic(`${started + 1} kills, ${messages} messages received whole and in order`)
  queue.close()
  device.close()
})
