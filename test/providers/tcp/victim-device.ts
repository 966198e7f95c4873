import {
  CompletionBatch,
  type CompletionQueue,
  type Device,
  type MemoryRegion,
  openDevice,
  type ProtectionDomain,
  type QueuePair,
  type QueuePairAttributes,
} from '../../../src/verbs/index.ts'
import { CALLER } from '../../support/iwarp-peer.ts'
import { ALL_ACCESS } from '../../verbs/loopback.ts'

/** Keys of what no peer may reach are not given away; this is one that there is not. */
export const NO_KEY = 0xdead0001
const RECEIVES = 16

/** A loopback device that strangers attack, and two queue pairs of it that have nothing to do with them. */
export class VictimDevice implements Disposable {
  readonly device: Device = openDevice('tcp-lo')
  readonly domain: ProtectionDomain = this.device.createProtectionDomain()
  readonly queue: CompletionQueue = this.device.createCompletionQueue({ depth: 1024 })
  readonly memory: MemoryRegion = this.domain.allocate(65_536, ALL_ACCESS)
  readonly bystanders: readonly [QueuePair, QueuePair]
  readonly #batch = new CompletionBatch(64)
  #lap = 0

  constructor() {
    const own = this.device.createCompletionQueue({ depth: 64 })
    const pairs = [0, 1].map(() => this.domain.createQueuePair({ type: 'rc', sendQueue: own, receiveQueue: own }))
    this.bystanders = pairs as [QueuePair, QueuePair]
    const [one, other] = this.bystanders
    one.connect(other.endpoint)
    other.connect(one.endpoint)
  }

  /** A queue pair that waits for the caller of {@link IwarpPeer}, with receives for `RECEIVES` messages of 64 bytes. */
  target(number: number = CALLER, attributes: Partial<QueuePairAttributes> = {}): QueuePair {
    const pair = this.pair()
    const remote = { gid: this.device.gid, queuePairNumber: number, psn: 0 }
    pair.toInit()
    const receive = pair.prepareReceive({ local: this.memory.subarray(0, 64) })
    for (let id = 0; id < RECEIVES; id += 1) receive.post(id)
    pair.toReadyToReceive({ remote, ...attributes })
    pair.toReadyToSend({ timeout: 14, retryCount: 0 })
    return pair
  }

  pair(): QueuePair {
    return this.domain.createQueuePair({ type: 'rc', sendQueue: this.queue, receiveQueue: this.queue })
  }

  /** Throws unless the device still serves a connection that nobody disturbed. */
  checkAlive(): void {
    const [one, other] = this.bystanders
    const local = this.memory.subarray(32_768, 32_776)
    const remote = { address: this.memory.address + 32_776, key: this.memory.remoteKey }
    for (const pair of [one, other]) {
      local.bytes.fill(++this.#lap & 0xff)
      pair.writeSync({ local, remote })
      if (this.memory.bytes[32_776] !== (this.#lap & 0xff)) throw new Error('a WRITE of the bystanders did not arrive')
    }
  }

  /** Statuses of what has completed since. */
  statuses(): number[] {
    const count = this.queue.poll(this.#batch)
    return [...this.#batch.status.slice(0, count)]
  }

  [Symbol.dispose](): void {
    this.device.close()
  }
}

/** Whoever calls `pair` from the device itself: its number is lower. */
export function callerAndCalled(victim: VictimDevice): readonly [caller: QueuePair, called: QueuePair] {
  const pairs = [victim.pair(), victim.pair()].sort((one, other) => one.number - other.number)
  return pairs as [QueuePair, QueuePair]
}
