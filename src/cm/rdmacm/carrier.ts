import type { Carrier, ConnectionIdentifier, PortSpace } from '../carrier.ts'
import { EventChannel } from './channel.ts'

/**
 * librdmacm, for RDMA devices. Opened when the first identifier is made, which throws UnsupportedError if that fails.
 */
export const rdmacmCarrier: Carrier = {
  name: 'rdmacm',
  createIdentifier: (portSpace: PortSpace): ConnectionIdentifier => EventChannel.get().create(portSpace),
}
