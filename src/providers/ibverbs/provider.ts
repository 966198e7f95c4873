import type { OpenDeviceOptions, Provider, ProviderDevice } from '../contract.ts'
import { openRdmaDevice } from './device.ts'
import { ibverbsStatus, requireVerbs } from './library.ts'

/** RDMA devices of this machine, through rdma-core's libibverbs, which is opened at the first use. */
export const ibverbsProvider: Provider = {
  name: 'ibverbs',
  deviceNames: () => (ibverbsStatus().state === 'ready' ? requireVerbs().deviceNames() : []),
  open(name: string, options: OpenDeviceOptions): ProviderDevice | undefined {
    if (ibverbsStatus().state !== 'ready') return undefined
    const verbs = requireVerbs()
    return verbs.deviceNames().includes(name) ? openRdmaDevice(verbs, name, options) : undefined
  },
  whyNone(): string | undefined {
    const { state, message } = ibverbsStatus()
    return state === 'ready' ? undefined : message
  },
}
