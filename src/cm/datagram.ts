import type { AddressDomain, AddressHandle, Destination } from '../verbs/index.ts'
import type { DatagramPeer } from './carrier.ts'

/** The queue key of every datagram queue pair that the connection manager sets up: RDMA_UDP_QKEY of rdma_cma.h. */
export const DATAGRAM_QUEUE_KEY = 0x01234567

/** A destination of datagrams, whose address handle is made on first use. */
export class DatagramDestination {
  readonly #domain: AddressDomain
  readonly #peer: DatagramPeer
  #handle: AddressHandle | undefined

  constructor(domain: AddressDomain, peer: DatagramPeer) {
    this.#domain = domain
    this.#peer = peer
  }

  /** Return the field `to` of requests. */
  get(): Destination {
    const { addressVector, queuePairNumber, queueKey } = this.#peer
    this.#handle ??= this.#domain.createAddressHandle(addressVector)
    return { addressHandle: this.#handle, number: queuePairNumber, queueKey }
  }

  close(): void {
    this.#handle?.close()
    this.#handle = undefined
  }
}
