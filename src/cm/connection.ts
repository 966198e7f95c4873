import type { CompletionQueue, Destination, Device, ProtectionDomain, QueuePair } from '../verbs/index.ts'
import type { ConnectionAddress } from './address.ts'
import type { DatagramPeer } from './carrier.ts'
import type { CloseReason } from './connection-machine.ts'
import type { ConnectionSide } from './connection-side.ts'
import { DatagramDestination } from './datagram.ts'
import type { WaitOptions } from './deadline.ts'

/**
 * A connected queue pair. Like a socket it keeps the program alive until it is over; see {@link unref}.
 *
 * It ends with `disconnect()` at either end, the end of the peer's process, or the removal of the device. If the peer's
 * whole machine is lost, nothing arrives: the next request fails with RetryExceeded. Then call `disconnect()` with a
 * deadline.
 */
export class Connection {
  /** In RTS. RC in port space `tcp`, UD in `udp`. */
  readonly pair: QueuePair
  /** This end's address. */
  readonly local: ConnectionAddress | undefined
  readonly remote: ConnectionAddress | undefined
  /**
   * What the peer sent along with its request or its answer. It may be longer than what the peer passed, padded with
   * zeros.
   */
  readonly privateData: Uint8Array
  /** READs and atomics of this end that may be under way at once, as agreed by both ends. */
  readonly maxReadAtomic: number
  /** READs and atomics of the peer that may be under way at once. */
  readonly maxDestinationReadAtomic: number
  /** Port space `udp`, at the active end: where to send. The other end learns it from incoming messages. */
  readonly peer: DatagramPeer | undefined
  /** Resolves when the connection is over, with the reason; never rejects. */
  readonly closed: Promise<CloseReason>
  readonly #link: ConnectionSide
  readonly #destination: DatagramDestination | undefined

  /** @internal Made by `connect` and by `ConnectionRequest.accept`. */
  constructor(link: ConnectionSide) {
    this.#link = link
    this.pair = link.pair
    this.local = link.identifier.local
    this.remote = link.identifier.remote
    this.privateData = link.privateData
    this.maxReadAtomic = link.limits.maxReadAtomic
    this.maxDestinationReadAtomic = link.limits.maxDestinationReadAtomic
    this.peer = link.peer
    this.closed = link.closed
    if (link.peer !== undefined) this.#destination = new DatagramDestination(this.pair.domain, link.peer)
  }

  /** The field `to` of requests to the service: port space `udp`, at the active end. Undefined elsewhere. */
  destination(): Destination | undefined {
    return this.#destination?.get()
  }

  get state(): 'connected' | 'disconnecting' | 'closed' {
    const { state } = this.#link.machine
    return state === 'connected' || state === 'disconnecting' ? state : 'closed'
  }

  get device(): Device {
    return this.domain.device as Device
  }

  get domain(): ProtectionDomain {
    // Pairs know it, and domains their device, by what they need of it.
    return this.pair.domain as ProtectionDomain
  }

  get sendQueue(): CompletionQueue {
    return this.pair.sendQueue
  }

  get receiveQueue(): CompletionQueue {
    return this.pair.receiveQueue
  }

  /**
   * Tell the peer, and wait for its answer or the deadline. All outstanding requests complete as flushed. The queue
   * pair stays, in ERR, until `close`. May be called repeatedly.
   */
  disconnect(options: WaitOptions = {}): Promise<void> {
    return this.#link.disconnect(options)
  }

  /**
   * End the connection at once, without waiting for the peer. Closes the queue pair, queues and domain that it made.
   * Idempotent.
   */
  close(): void {
    this.#destination?.close()
    this.#link.close()
  }

  /** Keep the program alive while the connection lasts. This is the default. */
  ref(): this {
    if (this.state !== 'closed') this.#link.hold(true)
    return this
  }

  /** Let the program end while the connection lasts. */
  unref(): this {
    this.#link.hold(false)
    return this
  }

  [Symbol.dispose](): void {
    this.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.disconnect()
    this.close()
  }
}
