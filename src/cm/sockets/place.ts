import type { Socket } from 'node:net'
import type { ConnectionAddress } from '../address.ts'
import type { PortSpace } from '../carrier.ts'

/** Where a listener is reached. */
export interface MeetingPlace {
  readonly address: ConnectionAddress
  close(): void
}

/** What the sockets of a carrier are: how a listener is opened, and how it is reached. */
export interface SocketPlace {
  /** The device whose queue pairs are connected. */
  readonly deviceName: string
  /** @throws ConnectionError if the address is taken, or is none of this machine. */
  listen(portSpace: PortSpace, local: ConnectionAddress, arrived: (socket: Socket) => void): Promise<MeetingPlace>
  /** Undefined if no process listens there. */
  meet(portSpace: PortSpace, remote: ConnectionAddress): Promise<Socket | undefined>
}
