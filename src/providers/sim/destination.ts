import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { isMulticast } from '../gid.ts'
import type { QueuePairAttributes } from '../queue-pair-contract.ts'
import { GlobalRoute } from '../soft/global-route.ts'
import type { AddressDevice } from './address-handle.ts'
import type { Place } from './context.ts'

/** Where the requests of one type of queue pair go. */
export interface Destination {
  /** True if the destination that a request names can be used. */
  admits(request: EncodedRequest): boolean
  places(request: EncodedRequest): readonly Place[]
  /** The header in front of a datagram. */
  route(request: EncodedRequest, lengthBytes: number): Uint8Array | undefined
}

/** Connected: always the same. */
export class ConnectedDestination implements Destination {
  readonly #places: readonly Place[]

  constructor(attributes: QueuePairAttributes) {
    const { addressVector, destinationQueuePair = 0 } = attributes
    this.#places = [{ gid: addressVector?.gid ?? 0n, number: destinationQueuePair }]
  }

  admits(): boolean {
    return true
  }

  places(): readonly Place[] {
    return this.#places
  }

  route(): undefined {
    return undefined
  }
}

/** Each request names its destination: datagrams, and dynamic connections. */
export class NamedDestination implements Destination {
  readonly #device: AddressDevice
  readonly #domainId: number
  readonly #datagrams: boolean

  constructor(device: AddressDevice, domainId: number, datagrams: boolean) {
    this.#device = device
    this.#domainId = domainId
    this.#datagrams = datagrams
  }

  admits(request: EncodedRequest): boolean {
    const handle = this.#device.addressHandles.get(request.words[RequestSlot.AddressHandle]!)
    return handle?.domain.id === this.#domainId
  }

  /** For a multicast group, all that are attached now. */
  places(request: EncodedRequest): readonly Place[] {
    const handle = this.#device.addressHandles.get(request.words[RequestSlot.AddressHandle]!)
    if (handle === undefined) return []
    const { gid } = handle.vector
    if (isMulticast(gid)) return this.#device.cluster.multicastMembers(gid)
    return [{ gid, number: request.words[RequestSlot.RemoteQueuePair]! }]
  }

  route(request: EncodedRequest, lengthBytes: number): Uint8Array | undefined {
    const handle = this.#device.addressHandles.get(request.words[RequestSlot.AddressHandle]!)
    if (!this.#datagrams || handle === undefined) return undefined
    const route = new GlobalRoute(this.#device.gid)
    route.describe(handle.vector, lengthBytes)
    return route.bytes
  }
}
