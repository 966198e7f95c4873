import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { isLoopback } from '../../runtime/index.ts'
import { deviceNames } from '../../verbs/index.ts'
import type { Place } from './index-contract.ts'
import { ownAddress } from './own-address.ts'

/** Where a node listens for clients of other machines. */
export interface ListenPlace extends Place {
  /** The address that they are told; undefined: the one at which it listens. */
  readonly told?: string | undefined
}

const ALL_ADDRESSES = '::'

/**
 * Others are told what has a meaning on their machines. `::` has none. A machine's own name often means 127.0.1.1 to
 * itself, so for a name that leads here it listens at all addresses, and tells the name.
 *
 * `device`: to other machines.
 */
export async function listenPlaceOf({ address, port }: Place, device: string): Promise<ListenPlace> {
  if (address === ALL_ADDRESSES || address === '0.0.0.0') {
    const told = deviceNames().includes(device) ? ownAddress(device) : undefined
    return { address, port, told }
  }
  if (isIP(address) !== 0 || isLoopback(address)) return { address, port }
  const found = await lookup(address).catch(() => undefined)
  const isOwnName = found !== undefined && isLoopback(found.address)
  return isOwnName ? { address: ALL_ADDRESSES, port, told: address } : { address, port }
}
