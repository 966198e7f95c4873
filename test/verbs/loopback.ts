import {
  Access,
  type CompletionQueue,
  type Device,
  type MemoryRegion,
  openDevice,
  type ProtectionDomain,
  type QueuePair,
  type QueuePairOptions,
} from '../../src/verbs/index.ts'

export const ALL_ACCESS: number = Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite | Access.RemoteAtomic

/** Two queue pairs of one device, connected to each other. */
export class Loopback implements Disposable {
  readonly device: Device = openDevice('shm0')
  readonly domain: ProtectionDomain = this.device.createProtectionDomain()
  readonly memory: MemoryRegion = this.domain.allocate(16_384, ALL_ACCESS)
  readonly queue: CompletionQueue = this.device.createCompletionQueue({ depth: 64 })
  readonly peerQueue: CompletionQueue = this.device.createCompletionQueue({ depth: 64 })
  readonly pair: QueuePair
  readonly peer: QueuePair

  constructor(options: Partial<QueuePairOptions> = {}) {
    this.pair = this.domain.createQueuePair({ type: 'rc', sendQueue: this.queue, receiveQueue: this.queue, ...options })
    this.peer = this.domain.createQueuePair({
      type: 'rc',
      sendQueue: this.peerQueue,
      receiveQueue: this.peerQueue,
      ...options,
    })
    this.pair.connect(this.peer.endpoint)
    this.peer.connect(this.pair.endpoint)
  }

  remote(offset: number): { readonly address: number; readonly key: number } {
    return { address: this.memory.address + offset, key: this.memory.remoteKey }
  }

  [Symbol.dispose](): void {
    this.device.close()
  }
}
