import type { OpenDeviceOptions, Provider, ProviderDevice } from '../contract.ts'
import { ShmDevice } from './device.ts'

const DEVICE_NAME = 'shm0'

/** The embedded provider: a software RNIC over shared memory between the processes of one user on one machine. */
export const shmProvider: Provider = {
  name: 'shm',
  deviceNames: () => [DEVICE_NAME],
  open(name: string, options: OpenDeviceOptions): ProviderDevice | undefined {
    return name === DEVICE_NAME ? new ShmDevice(name, options) : undefined
  },
}
