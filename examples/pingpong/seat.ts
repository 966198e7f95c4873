/** One queue pair of a ping-pong, and the memory that it sends. */
import {
  Access,
  type CompletionQueue,
  type MemoryRegion,
  type PreparedRequest,
  type ProtectionDomain,
  type QueuePair,
  type RemoteEndpoint,
  type SharedReceiveQueue,
} from 'aether-dsm/verbs'
import type { TableOptions } from './table.ts'

export class Seat implements Disposable {
  readonly pair: QueuePair
  readonly leaving: MemoryRegion
  /** Requests that must complete before the next send, as bits. */
  pending = 0
  readonly #options: TableOptions
  #send: PreparedRequest | undefined

  constructor(
    domain: ProtectionDomain,
    queue: CompletionQueue,
    shared: SharedReceiveQueue | undefined,
    options: TableOptions,
  ) {
    this.#options = options
    this.leaving = domain.allocate(options.sizeBytes, Access.LocalWrite)
    this.pair = domain.createQueuePair({
      type: options.type === 'srq' ? 'rc' : options.type,
      sendQueue: queue,
      receiveQueue: queue,
      maxSendRequests: 1,
      ...(shared === undefined ? { maxReceiveRequests: options.receiveDepth } : { sharedReceiveQueue: shared }),
    })
    this.pair.toInit(options.type === 'ud' ? {} : { access: 0 })
  }

  connect(remote: RemoteEndpoint): void {
    const { type, pathMtu } = this.#options
    if (type === 'ud') {
      this.pair.toReadyToReceive()
      this.pair.toReadyToSend()
    } else if (type === 'uc') {
      this.pair.toReadyToReceive({ remote, pathMtu })
      this.pair.toReadyToSend()
    } else {
      this.pair.toReadyToReceive({ remote, pathMtu, maxDestinationReadAtomic: 1 })
      // On soft-RoCE, 7 means to retry for ever.
      this.pair.toReadyToSend({ retryCount: 6, maxReadAtomic: 1 })
    }
    this.#send = this.pair.prepareSend({ local: this.leaving.subarray(), ...this.#destination(remote) })
  }

  send(id: number): void {
    this.#send?.post(id)
  }

  /** To be called before its completion queue is closed. */
  [Symbol.dispose](): void {
    this.pair.close()
    this.leaving.close()
  }

  /** Only datagrams need a destination in each request. */
  #destination({ gid, localIdentifier, queuePairNumber }: RemoteEndpoint) {
    if (this.#options.type !== 'ud') return {}
    const vector = localIdentifier === undefined ? { gid } : { gid, localIdentifier }
    return { to: { addressHandle: this.pair.domain.createAddressHandle(vector), number: queuePairNumber } }
  }
}
