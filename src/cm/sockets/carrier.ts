import type { Carrier, ConnectionIdentifier, PortSpace } from '../carrier.ts'
import { SocketIdentifier } from './identifier.ts'
import { MeetingPoint, meet } from './meeting-point.ts'
import { NetworkPlace } from './network-place.ts'
import type { SocketPlace } from './place.ts'

const runtimeDirectory: SocketPlace = {
  deviceName: 'shm0',
  listen: (portSpace, local, arrived) => MeetingPoint.open(portSpace, local, arrived),
  meet,
}

/** The embedded carrier: processes of one user on one machine meet at sockets in the runtime directory. */
export const shmCarrier: Carrier = {
  name: 'shm',
  createIdentifier: (portSpace: PortSpace): ConnectionIdentifier => new SocketIdentifier(runtimeDirectory, portSpace),
}

/** The carrier of a tcp device: processes of any machines meet at TCP ports. */
export function tcpCarrier(deviceName: string): Carrier {
  const place = new NetworkPlace(deviceName)
  return { name: 'tcp', createIdentifier: (portSpace) => new SocketIdentifier(place, portSpace) }
}
