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
 * What ends it: `disconnect()` here or there, the end of the peer's process, the removal of the device. A peer whose
 * whole machine is gone says nothing: the next request ends with RetryExceeded, and then `disconnect()` with its own
 * deadline.
 */
export class Connection {
  /** RC in port space `tcp`, UD in `udp`; in RTS. */
  readonly pair: QueuePair
  /** This end's address. */
  readonly local: ConnectionAddress | undefined
  readonly remote: ConnectionAddress | undefined
  /**
   * What the peer sent along: with its request, or its answer. It may be longer than what was given there, filled up
   * with zeros.
   */
  readonly privateData: Uint8Array
  /** READs and atomics of this end that may be under way at once, as both ends agreed. */
  readonly maxReadAtomic: number
  /** Those of the peer. */
  readonly maxDestinationReadAtomic: number
  /** Port space `udp`, at the asking end: where to send to. The other end learns it from the messages that come. */
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

  /** Port space `udp`, at the asking end: the field `to` of requests that go to the service; undefined elsewhere. */
  destination(): Destination | undefined {
    return this.#destination?.get()
  }

  get state(): 'connected' | 'disconnecting' | 'closed' {
    const { state } = this.#link.machine
    return state === 'connected' || state === 'disconnecting' ? state : 'closed'
  }

  get device(): Device {
    return this.pair.domain.device
  }

  get domain(): ProtectionDomain {
    return this.pair.domain
  }

  get sendQueue(): CompletionQueue {
    return this.pair.sendQueue
  }

  get receiveQueue(): CompletionQueue {
    return this.pair.receiveQueue
  }

  /**
   * Tell the peer, and wait for its answer or the deadline. Everything outstanding on the queue pair completes as
   * flushed; the queue pair itself stays, in ERR, until `close`. May be called any number of times.
   */
  disconnect(options: WaitOptions = {}): Promise<void> {
    return this.#link.disconnect(options)
  }

  /**
   * End it at once, without waiting for the peer, and close what the connection made: queue pair, queues, domain.
   * Idempotent.
   */
  close(): void {
    this.#destination?.close()
    this.#link.close()
  }

  /** Keep the program alive while the connection lasts (the default). */
  ref(): this {
    if (this.state !== 'closed') this.#link.hold(true)
    return this
  }

  /** Let the program end although the connection lasts. */
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
