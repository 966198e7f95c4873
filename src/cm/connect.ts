import { ArgumentError, checkOptions, mustBe, type OptionNames } from '../native/index.ts'
import { connectionAddress } from './address.ts'
import type { PortSpace } from './carrier.ts'
import { checkPortSpace, chooseCarrier, type DeviceChoice } from './carriers.ts'
import { Connection } from './connection.ts'
import { ConnectionSide } from './connection-side.ts'
import { connectionNames, deviceNames } from './option-names.ts'
import { lookupAddress } from './resolve.ts'
import { type ConnectionOptions, checkConnectionOptions, checkRange } from './terms.ts'

export interface ConnectOptions extends DeviceChoice, ConnectionOptions {
  /** The address of the listener: a numeric IPv4 or IPv6 address, or a name. */
  readonly address: string
  readonly port: number
  /** Default `tcp`: a connected RC queue pair. `udp` finds a datagram service. */
  readonly portSpace?: PortSpace
  /** The local address to connect from. Default: as the routing table says. */
  readonly source?: string
  /** How often both ends retry without an acknowledgement, 0 to 7. Default 6, because soft-RoCE treats 7 as forever. */
  readonly retryCount?: number
}

const connectNames: OptionNames<ConnectOptions> = {
  address: true,
  port: true,
  ...deviceNames,
  ...connectionNames,
  portSpace: true,
  source: true,
  retryCount: true,
}

/**
 * Connect to a listener: resolve address and route, make the queue pair, ask, and move the queue pair to RTS.
 * @throws ConnectionRejectedError with the peer's private data; ConnectionError; TimeoutError; the signal's reason. On
 * failure nothing is left behind.
 */
export async function connect(options: ConnectOptions): Promise<Connection> {
  if (typeof options !== 'object' || options === null)
    throw mustBe('options', 'an object such as { address, port }', options)
  checkOptions('connect', options, connectNames)
  const { portSpace = 'tcp', source, retryCount } = options
  checkPortSpace(portSpace)
  const privateData = checkConnectionOptions(options, portSpace, 'connect')
  checkRange('retryCount', retryCount, 7)
  if (options.port === 0)
    throw new ArgumentError('port', 'port 0 cannot be connected to; pass the port of the listener')
  const from = source === undefined ? undefined : connectionAddress(source, 0, 'source')
  const destination = await lookupAddress(options.address, options.port, options)
  const choice = chooseCarrier(choiceOf(options), destination)
  options.signal?.throwIfAborted()
  const link = new ConnectionSide(choice.carrier.createIdentifier(portSpace), undefined)
  await link.open({ source: from, destination, retryCount, deviceName: choice.deviceName }, options, privateData)
  return new Connection(link)
}

/** A queue pair of the program's own has a device, too. */
function choiceOf({ device, domain, pair, iwarpPeer = false }: ConnectOptions): DeviceChoice {
  const of = domain ?? pair?.domain
  return { iwarpPeer, ...(device === undefined ? {} : { device }), ...(of === undefined ? {} : { domain: of }) }
}
