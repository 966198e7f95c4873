import type { Carrier, ConnectionIdentifier, PortSpace } from '../carrier.ts'
import { ShmIdentifier } from './identifier.ts'

/** The embedded carrier: processes of one user on one machine meet at sockets in the runtime directory. */
export const shmCarrier: Carrier = {
  name: 'shm',
  createIdentifier: (portSpace: PortSpace): ConnectionIdentifier => new ShmIdentifier(portSpace),
}
