import { getSystemErrorMap } from 'node:util'
import type { ConnectionEvent } from './carrier.ts'
import { ConnectionError, ConnectionRejectedError } from './errors.ts'

/** The error of a waiting call if this event ends it. */
export function errorOf(event: ConnectionEvent, remote: string): ConnectionError | undefined {
  switch (event.type) {
    case 'address-error':
      return new ConnectionError(
        'address',
        event.status,
        `no way to ${remote}: ${describe(event.status)}; check that an RDMA device is in its network`,
      )
    case 'route-error':
      return new ConnectionError(
        'route',
        event.status,
        `no route to ${remote}: ${describe(event.status)}; check the network between the two devices`,
      )
    case 'unreachable':
      return new ConnectionError(
        'connect',
        event.status,
        `${remote} does not answer: ${describe(event.status)}; check that the host is up and reachable`,
      )
    case 'connect-error':
      return new ConnectionError(
        'connect',
        event.status,
        `the connection with ${remote} failed: ${describe(event.status)}`,
      )
    case 'rejected':
      return new ConnectionRejectedError(event.status, event.privateData, remote)
    case 'disconnected':
      return new ConnectionError('connect', 0, `${remote} went away before the connection was made`)
    case 'device-removal':
      return new ConnectionError('connect', 0, `the device to ${remote} was removed`)
    case 'multicast-error':
      return new ConnectionError(
        'multicast',
        event.status,
        `the group ${remote} cannot be joined: ${describe(event.status)}`,
      )
    default:
      return undefined
  }
}

/** The kernel's negative errno as `ETIMEDOUT`; other numbers are the transport's. */
function describe(status: number): string {
  return getSystemErrorMap().get(status)?.[0] ?? `status ${status}`
}
