import type { AddressVector, ProviderAddressHandle } from '../address.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { OnlyPort } from '../soft/only-port.ts'
import type { SoftProtectionDomain } from '../soft/protection-domain.ts'
import type { Tokens } from '../soft/tokens.ts'
import type { SimContext } from './context.ts'

/** A device with its address handles. */
export interface AddressDevice extends SimContext {
  readonly port: OnlyPort
  readonly addressHandles: Tokens<SimAddressHandle>
}

/** Where a datagram goes. Creating one does not check that it exists. */
export class SimAddressHandle implements ProviderAddressHandle {
  readonly token: number
  readonly vector: AddressVector
  readonly domain: SoftProtectionDomain
  readonly #device: AddressDevice

  constructor(device: AddressDevice, domain: SoftProtectionDomain, vector: AddressVector) {
    device.port.check('ibv_create_ah', vector.port ?? 1)
    if (vector.global === false) refuse('this device is Ethernet: an address handle needs its global route header')
    if ((vector.sourceGidIndex ?? 0) !== 0) refuse(`the device has gid 0 only, not ${vector.sourceGidIndex}`)
    this.#device = device
    this.domain = domain
    this.vector = vector
    this.token = device.addressHandles.add(this)
  }

  destroy(): void {
    this.#device.addressHandles.remove(this.token)
    this.domain.addressHandles.delete(this)
  }
}

function refuse(why: string): never {
  throw new VerbsError('ibv_create_ah', Errno.EINVAL, why)
}
