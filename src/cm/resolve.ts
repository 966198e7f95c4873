import { lookup } from 'node:dns/promises'
import { checkOptions, checkText, type OptionNames } from '../native/index.ts'
import { type ConnectionAddress, checkPort, connectionAddress, familyOf, formatAddress } from './address.ts'
import type { ConnectionIdentifier, PortSpace } from './carrier.ts'
import { checkPortSpace, chooseCarrier, type DeviceChoice } from './carriers.ts'
import { checkWaitValues, Deadline, type WaitOptions, waitNames } from './deadline.ts'
import { ConnectionError } from './errors.ts'
import { errorOf } from './event-error.ts'
import { deviceNames } from './option-names.ts'

export interface ResolveOptions extends DeviceChoice, WaitOptions {
  /** Default 0. */
  readonly port?: number
  /** The local address to go out from. Default: as the routing table says. */
  readonly source?: string
  readonly portSpace?: PortSpace
}

const resolveNames: OptionNames<ResolveOptions> = {
  ...deviceNames,
  ...waitNames,
  port: true,
  source: true,
  portSpace: true,
}

/** The result of resolving an address. */
export interface ResolvedAddress {
  readonly deviceName: string
  readonly local: ConnectionAddress | undefined
  readonly remote: ConnectionAddress
}

/**
 * Find the device that leads to `address` and the local address it uses: rdma_resolve_addr(3) and
 * rdma_resolve_route(3).
 * @throws ConnectionError if no device leads there; TimeoutError.
 */
export async function resolve(address: string, options: ResolveOptions = {}): Promise<ResolvedAddress> {
  checkOptions('resolve', options, resolveNames)
  const { port = 0, portSpace = 'tcp' } = options
  checkPortSpace(portSpace)
  checkWaitValues(options)
  const source = options.source === undefined ? undefined : connectionAddress(options.source, 0, 'source')
  const remote = await lookupAddress(address, port, options)
  const { carrier, deviceName } = chooseCarrier(options, remote)
  const identifier = carrier.createIdentifier(portSpace)
  try {
    await resolveWith(identifier, source, remote, options)
    return { deviceName: identifier.deviceName ?? deviceName ?? '', local: identifier.local, remote }
  } finally {
    identifier.destroy()
  }
}

/** Move an identifier from nothing to a resolved route. */
function resolveWith(
  identifier: ConnectionIdentifier,
  source: ConnectionAddress | undefined,
  destination: ConnectionAddress,
  wait: WaitOptions,
): Promise<void> {
  return new Promise((done, reject) => {
    const deadline = new Deadline(wait, `the way to ${formatAddress(destination)}`, reject)
    const settle = (error: unknown): void => {
      deadline.clear()
      if (error === undefined) done()
      else reject(error)
    }
    identifier.onEvent = (event) => {
      if (event.type !== 'address-resolved') return settle(errorOf(event, formatAddress(destination)))
      try {
        identifier.resolveRoute(deadline.remainingMs)
      } catch (error) {
        settle(error)
      }
    }
    try {
      identifier.resolveAddress(source, destination, deadline.remainingMs)
    } catch (error) {
      settle(error)
    }
  })
}

/** Return a numeric address as it is, or look a name up. */
export async function lookupAddress(address: string, port: number, wait: WaitOptions): Promise<ConnectionAddress> {
  checkText('address', address)
  checkPort('port', port)
  if (familyOf(address) !== 0) return connectionAddress(address, port)
  const found = await new Promise<string>((done, reject) => {
    const deadline = new Deadline(wait, `the address of ${address}`, reject)
    lookup(address)
      .then(
        (result) => done(result.address),
        (cause) =>
          reject(
            new ConnectionError(
              'address',
              0,
              `the name ${address} has no address; check the spelling, or pass a numeric address`,
              { cause },
            ),
          ),
      )
      .finally(() => deadline.clear())
  })
  return connectionAddress(found, port)
}
