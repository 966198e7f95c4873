import type { Device, ProtectionDomain } from '../verbs/index.ts'
import type { Carrier } from './carrier.ts'
import { shmCarrier } from './shm/carrier.ts'

/** Which device a connection runs over. */
export interface DeviceChoice {
  /**
   * A device, or its name. Default: that of the domain; else the device that the address leads to where this machine has RDMA devices, and
   * `shm0` where it has none.
   */
  readonly device?: Device | string
  readonly domain?: ProtectionDomain
}

export interface CarrierChoice {
  readonly carrier: Carrier
  /** Where the program insists on one. */
  readonly deviceName: string | undefined
}

/** Devices of the embedded provider are called `shm…`. */
export function chooseCarrier({ device, domain }: DeviceChoice): CarrierChoice {
  const deviceName = typeof device === 'string' ? device : (device?.name ?? domain?.device.name)
  return { carrier: shmCarrier, deviceName }
}
