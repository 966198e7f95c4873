/** What the end of a ping-pong has per kind of queue pair: where its bytes lie, how it connects, what it sends. */
import {
  Access,
  type CompletionQueue,
  type MemoryRegion,
  type PreparedReceive,
  type PreparedRequest,
  type ProtectionDomain,
  type QueuePair,
  type RemoteEndpoint,
} from 'aether-dsm/verbs'

/** As rdma-core's programs are called: `ibv_rc_pingpong` and so on. */
export type PingpongType = 'rc' | 'uc'

export interface SeatOptions {
  readonly type: PingpongType
  readonly sizeBytes: number
  readonly pathMtu: number
  readonly receiveDepth: number
}

/** One queue pair at the table. The bytes that arrive and those that leave lie apart, so that they can be compared. */
export class Seat implements Disposable {
  readonly pair: QueuePair
  readonly receive: PreparedReceive
  readonly #options: SeatOptions
  readonly #memory: MemoryRegion
  #send: PreparedRequest | undefined

  constructor(domain: ProtectionDomain, queue: CompletionQueue, options: SeatOptions) {
    this.#options = options
    this.#memory = domain.allocate(2 * options.sizeBytes, Access.LocalWrite)
    this.pair = domain.createQueuePair({
      type: options.type,
      sendQueue: queue,
      receiveQueue: queue,
      maxSendRequests: 1,
      maxReceiveRequests: options.receiveDepth,
    })
    this.pair.toInit({ access: 0 })
    this.receive = this.pair.prepareReceive({ local: this.#memory.subarray(options.sizeBytes) })
  }

  /** What a completed receive counts. */
  get messageBytes(): number {
    return this.#options.sizeBytes
  }

  get arrived(): Uint8Array {
    return this.#memory.bytes.subarray(this.#options.sizeBytes)
  }

  get leaving(): Uint8Array {
    return this.#memory.bytes.subarray(0, this.#options.sizeBytes)
  }

  connect(remote: RemoteEndpoint): void {
    const { type, pathMtu, sizeBytes } = this.#options
    const limits = type === 'rc' ? { maxDestinationReadAtomic: 1 } : {}
    this.pair.toReadyToReceive({ remote, pathMtu, ...limits })
    // Seven retries would be for ever on soft-RoCE.
    this.pair.toReadyToSend(type === 'rc' ? { retryCount: 6, maxReadAtomic: 1 } : {})
    this.#send = this.pair.prepareSend({ local: this.#memory.subarray(0, sizeBytes) })
  }

  send(id: number): void {
    this.#send?.post(id)
  }

  /** Before the queue that it uses is closed. */
  [Symbol.dispose](): void {
    this.pair.close()
    this.#memory.close()
  }
}
