import { openSimulatedCluster, type SimulatedCluster, type SimulationOptions } from '../../../src/providers/index.ts'
import {
  Access,
  CompletionBatch,
  type CompletionChannel,
  type CompletionQueue,
  type ConnectOptions,
  type Device,
  type MemoryRegion,
  openDevice,
  type ProtectionDomain,
  type QueuePair,
} from '../../../src/verbs/index.ts'

const MEMORY_BYTES = 16_384

/** One host's end of a connection. */
export class HostEnd {
  readonly device: Device
  readonly domain: ProtectionDomain
  readonly memory: MemoryRegion
  readonly channel: CompletionChannel
  readonly queue: CompletionQueue
  readonly pair: QueuePair

  constructor(device: Device) {
    this.device = device
    this.domain = device.createProtectionDomain()
    this.memory = this.domain.allocate(
      MEMORY_BYTES,
      Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite | Access.RemoteAtomic,
    )
    this.channel = device.createCompletionChannel()
    this.queue = device.createCompletionQueue({ depth: 64, channel: this.channel })
    this.pair = this.domain.createQueuePair({
      type: 'rc',
      sendQueue: this.queue,
      receiveQueue: this.queue,
      maxInlineBytes: 64,
    })
  }

  /** What was completed since the last call: id and status. */
  completions(): [number, number][] {
    const batch = new CompletionBatch(64)
    const count = this.queue.poll(batch)
    return Array.from({ length: count }, (_, row) => [batch.id[row]!, batch.status[row]!])
  }

  /** The `index`-th 64-bit word, as a program reads it. */
  word(index: number): bigint {
    const { bytes } = this.memory
    return new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(8 * index, true)
  }

  setWord(index: number, value: bigint): void {
    const { bytes } = this.memory
    new DataView(bytes.buffer, bytes.byteOffset).setBigUint64(8 * index, value, true)
  }

  /** Post a WRITE of `length` bytes from `offset` on to the same place at the other end. */
  write(to: HostEnd, id: number, offset: number, length: number): void {
    this.pair.prepareWrite({ local: this.memory.subarray(offset, offset + length), remote: to.at(offset) }).post(id)
  }

  read(from: HostEnd, id: number, offset: number, length: number): void {
    this.pair.prepareRead({ local: this.memory.subarray(offset, offset + length), remote: from.at(offset) }).post(id)
  }

  add(to: HostEnd, id: number, value: bigint): void {
    this.pair.prepareFetchAdd({ local: this.memory.subarray(MEMORY_BYTES - 8), remote: to.at(0), add: value }).post(id)
  }

  send(id: number): void {
    this.pair.prepareSend({ local: this.memory.subarray(0, 8) }).post(id)
  }

  receive(id: number): void {
    this.pair.prepareReceive({ local: this.memory.subarray(8192, 8256) }).post(id)
  }

  at(offset: number): { readonly address: number; readonly key: number } {
    return { address: this.memory.address + offset, key: this.memory.remoteKey }
  }
}

/** Two hosts, connected: 0 and 1. */
export interface TwoHosts {
  readonly cluster: SimulatedCluster
  readonly a: HostEnd
  readonly b: HostEnd
  /** Let time pass until `end` has so many completions; what they were. */
  until(end: HostEnd, count: number): [number, number][]
}

/** A timeout of 67 µs, and three retries: a peer that does not answer is given up after 268 µs. */
export const QUICK: ConnectOptions = { timeout: 4, retryCount: 3 }

export function twoHosts(seed: number, options: SimulationOptions = {}, connect: ConnectOptions = QUICK): TwoHosts {
  const cluster = openSimulatedCluster(seed, options)
  const [a, b] = [new HostEnd(openDevice(cluster.device)), new HostEnd(openDevice(cluster.device))]
  a.pair.connect(b.pair.endpoint, connect)
  b.pair.connect(a.pair.endpoint, connect)
  const until = (end: HostEnd, count: number): [number, number][] => {
    const all: [number, number][] = []
    cluster.runUntil(() => all.push(...end.completions()) >= count)
    return all
  }
  return { cluster, a, b, until }
}
