import { ArgumentError, checkBoolean, checkInstance, mustBe } from '../native/index.ts'
import { isLoopback, isOfThisMachine, secretOfEnvironment } from '../runtime/index.ts'
import { Device, deviceNames, type PairDomain, ProtectionDomain } from '../verbs/index.ts'
import { type ConnectionAddress, isWildcard } from './address.ts'
import type { Carrier, PortSpace } from './carrier.ts'
import { IwarpIdentifier } from './iwarp/identifier.ts'
import { rdmacmCarrier } from './rdmacm/carrier.ts'
import { shmCarrier, tcpCarrier } from './sockets/carrier.ts'

/** Which device a connection runs over. */
export interface DeviceChoice {
  /**
   * A device, or its name. Default: that of the domain. Without a domain, the device that the address leads to if this
   * machine has RDMA devices. If it has none, `shm0` for its own addresses and `tcp0` for others. A listener then hears
   * both, if there is a secret and its address is not of the loopback interface.
   */
  readonly device?: Device | string
  readonly domain?: PairDomain
  /**
   * The peer is any implementation of iWARP, such as an adapter or the kernel's siw, and not Aether. For a tcp device,
   * port space `tcp`. Nothing is sent but what the standards have. The peer proves no secret, so a listener with this
   * option takes requests from everyone who can reach its address. Default false.
   */
  readonly iwarpPeer?: boolean
}

export interface CarrierChoice {
  readonly carrier: Carrier
  /** The device that the program insists on, if any. */
  readonly deviceName: string | undefined
}

/** The device on the best network interface. */
const NETWORK = 'tcp0'

/** Choose the carriers of a listener: all over which its address can be reached. */
export function listenersCarriers(choice: DeviceChoice, local: ConnectionAddress): readonly Carrier[] {
  const { carrier } = chooseCarrier(choice)
  const isOpen = carrier === shmCarrier && choice.device === undefined && choice.domain === undefined
  const isReached = isOpen && !isLoopback(local.address) && secretOfEnvironment() !== undefined
  return isReached && deviceNames().includes(NETWORK) ? [carrier, tcpCarrier(NETWORK)] : [carrier]
}

/**
 * Choose the carrier for a device, or for a connection to `remote`. Its first identifier throws UnsupportedError for an
 * RDMA device without librdmacm.
 */
export function chooseCarrier(
  { device, domain, iwarpPeer = false }: DeviceChoice,
  remote?: ConnectionAddress,
): CarrierChoice {
  checkDevice(device)
  checkBoolean('iwarpPeer', iwarpPeer)
  if (domain !== undefined) checkInstance('domain', domain, ProtectionDomain, 'as createProtectionDomain() returns')
  const deviceName = typeof device === 'string' ? device : (device?.name ?? domain?.device.name)
  if (iwarpPeer) return { carrier: iwarpCarrier(deviceName), deviceName }
  if (deviceName !== undefined) return { carrier: carrierOf(deviceName), deviceName }
  const names = deviceNames()
  if (names.some(isRdma)) return { carrier: rdmacmCarrier, deviceName }
  const isFar = remote !== undefined && !isOwn(remote) && names.includes(NETWORK)
  return { carrier: isFar ? tcpCarrier(NETWORK) : shmCarrier, deviceName }
}

const isOwn = ({ address }: ConnectionAddress): boolean => isWildcard(address) || isOfThisMachine(address)

/** @throws ArgumentError */
function checkDevice(device: Device | string | undefined): void {
  if (device === undefined || device instanceof Device) return
  const names = deviceNames()
  if (typeof device !== 'string' || !names.includes(device))
    throw mustBe('device', `a device, or the name of one: ${names.join(', ')}`, device)
}

/** @throws ArgumentError */
export function checkPortSpace(portSpace: PortSpace): void {
  if (portSpace !== 'tcp' && portSpace !== 'udp') throw mustBe('portSpace', "'tcp' or 'udp'", portSpace)
}

function carrierOf(deviceName: string): Carrier {
  if (isRdma(deviceName)) return rdmacmCarrier
  return deviceName.startsWith('tcp') ? tcpCarrier(deviceName) : shmCarrier
}

/** @throws ArgumentError unless it is a tcp device. RDMA devices that speak iWARP need no option. */
function iwarpCarrier(deviceName: string | undefined): Carrier {
  if (deviceName === undefined || !deviceName.startsWith('tcp'))
    throw new ArgumentError('iwarpPeer', "iwarpPeer needs a tcp device: pass one as `device`, such as 'tcp0'")
  return {
    name: 'iwarp',
    createIdentifier: (portSpace) => {
      if (portSpace === 'tcp') return new IwarpIdentifier(deviceName)
      throw new ArgumentError('portSpace', "iWARP connects queue pairs; use port space 'tcp'")
    },
  }
}

/** Devices of the embedded provider are called `shm…`, those that need no RDMA hardware `tcp…`. */
function isRdma(deviceName: string): boolean {
  return !deviceName.startsWith('shm') && !deviceName.startsWith('tcp')
}
