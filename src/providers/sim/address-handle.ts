import type { AddressVector, ProviderAddressHandle } from '../address.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { Tokens } from '../soft/tokens.ts'
import type { SimContext, SimDomain } from './context.ts'
import { checkPort } from './device-attributes.ts'

/** A device with its address handles. */
export interface AddressDevice extends SimContext {
  readonly addressHandles: Tokens<SimAddressHandle>
}

interface AddressDomain extends SimDomain {
  readonly device: AddressDevice
  readonly addressHandles: Set<SimAddressHandle>
}

/** Where a datagram goes. Creating one does not check that it exists. */
export class SimAddressHandle implements ProviderAddressHandle {
  readonly token: number
  readonly vector: AddressVector
  readonly domain: AddressDomain

  constructor(domain: AddressDomain, vector: AddressVector) {
    checkPort('ibv_create_ah', vector.port ?? 1)
    if (vector.global === false) refuse('this device is Ethernet: an address handle needs its global route header')
    if ((vector.sourceGidIndex ?? 0) !== 0) refuse(`the device has gid 0 only, not ${vector.sourceGidIndex}`)
    this.domain = domain
    this.vector = vector
    this.token = domain.device.addressHandles.add(this)
  }

  destroy(): void {
    this.domain.device.addressHandles.remove(this.token)
    this.domain.addressHandles.delete(this)
  }
}

function refuse(why: string): never {
  throw new VerbsError('ibv_create_ah', Errno.EINVAL, why)
}
