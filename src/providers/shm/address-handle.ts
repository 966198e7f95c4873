import type { AddressVector, ProviderAddressHandle } from '../address.ts'
import { Errno, VerbsError } from '../errors.ts'
import { isMulticast } from '../gid.ts'
import type { OnlyPort } from '../soft/only-port.ts'
import type { SoftProtectionDomain } from '../soft/protection-domain.ts'
import type { Tokens } from '../soft/tokens.ts'
import { decodeGid } from './gid.ts'
import type { PeerDevice } from './peer-device.ts'
import { reachable, type VisitingDevice } from './visiting.ts'

export interface AddressingDevice extends VisitingDevice {
  readonly port: OnlyPort
  readonly addressHandles: Tokens<ShmAddressHandle>
}

/** Where a datagram goes: a device or a multicast group, by its gid. Creating one does not check that it exists. */
export class ShmAddressHandle implements ProviderAddressHandle {
  readonly token: number
  readonly vector: AddressVector
  readonly domain: SoftProtectionDomain
  readonly #device: AddressingDevice
  #peer: PeerDevice | undefined

  constructor(device: AddressingDevice, domain: SoftProtectionDomain, vector: AddressVector) {
    device.port.check('ibv_create_ah', vector.port ?? 1)
    checkVector(vector)
    this.#device = device
    this.domain = domain
    this.vector = vector
    this.token = device.addressHandles.add(this)
  }

  /** The device; undefined if it does not answer, or no longer does. Looked up at the first use. */
  open(): PeerDevice | undefined {
    if (this.#peer?.gone === true) this.#close()
    this.#peer ??= reachable(this.#device, this.vector.gid)
    return this.#peer
  }

  destroy(): void {
    this.#close()
    this.#device.addressHandles.remove(this.token)
    this.domain.addressHandles.delete(this)
  }

  #close(): void {
    if (this.#peer !== undefined) this.#device.closePeer(this.#peer)
    this.#peer = undefined
  }
}

function checkVector(vector: AddressVector): void {
  if (vector.global === false)
    refuse('shared memory has no local identifiers: an address handle needs its global route header')
  if ((vector.sourceGidIndex ?? 0) !== 0) refuse(`the shm device has gid 0 only, not ${vector.sourceGidIndex}`)
  if (!isMulticast(vector.gid) && decodeGid(vector.gid) === undefined)
    refuse('the gid belongs neither to an shm device nor to a multicast group')
}

function refuse(why: string): never {
  throw new VerbsError('ibv_create_ah', Errno.EINVAL, why)
}
