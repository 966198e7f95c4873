import type { OpenDeviceOptions, Provider, ProviderDevice } from './contract.ts'
import { Errno, VerbsError } from './errors.ts'
import { ibverbsProvider } from './ibverbs/provider.ts'
import { tcpProvider } from './ibverbs/tcp-provider.ts'
import { shmProvider } from './shm/provider.ts'
import { simProvider } from './sim/provider.ts'

/** Every provider of this build, in the order in which names are looked up. */
const providers: readonly Provider[] = [shmProvider, ibverbsProvider, simProvider, tcpProvider]

/** Names of all devices of all providers. */
export function listDeviceNames(): string[] {
  return providers.flatMap((provider) => provider.deviceNames())
}

/** Open a device by name. If no provider knows the name, throws ENODEV with the names that exist. */
export function openProviderDevice(name: string, options: OpenDeviceOptions = {}): ProviderDevice {
  for (const provider of providers) {
    const device = provider.open(name, options)
    if (device !== undefined) return device
  }
  const reasons = providers.map((provider) => provider.whyNone?.()).filter((reason) => reason !== undefined)
  throw new VerbsError(
    'ibv_open_device',
    Errno.ENODEV,
    [`there is no device ${JSON.stringify(name)}; there is: ${listDeviceNames().join(', ')}`, ...reasons].join('; '),
  )
}
