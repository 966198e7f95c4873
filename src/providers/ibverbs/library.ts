import { NativeMissingError, UnsupportedError, type VerbsAddon, verbsAddon } from '../../native/index.ts'
import { checkLayout } from './layout.ts'

/** How far RDMA is usable here. Problems after that (permission, locked memory) are reported by the call that fails. */
export interface IbverbsStatus {
  readonly state: 'ready' | 'not compiled in' | 'library missing' | 'no device'
  /** One sentence for people, with how to fix it. */
  readonly message: string
}

let checked: VerbsAddon | undefined

/** Find out by trying what stands between this process and RDMA devices. */
export function ibverbsStatus(): IbverbsStatus {
  const addon = addonOrReason()
  if (typeof addon === 'string') return { state: 'not compiled in', message: addon }
  const reason = addon.load()
  if (reason !== '') {
    return {
      state: 'library missing',
      message: `RDMA is not usable because libibverbs cannot be opened (${reason}); install it (Debian, Ubuntu: apt-get install libibverbs1 ibverbs-providers)`,
    }
  }
  if (addon.deviceNames().length > 0) return { state: 'ready', message: 'libibverbs is installed and lists devices' }
  return {
    state: 'no device',
    message:
      'there is no RDMA device: load the driver of the NIC, or make a software one with: modprobe rdma_rxe && rdma link add rxe0 type rxe netdev eth0',
  }
}

/** The verbs calls, with the library opened. If that is impossible, throws UnsupportedError with the reason. */
export function requireVerbs(): VerbsAddon {
  const status = ibverbsStatus()
  if (status.state === 'not compiled in' || status.state === 'library missing')
    throw new UnsupportedError(status.message)
  return addonOrReason() as VerbsAddon
}

/** The verbs calls of the addon, or why there are none. The library may still be missing. */
export function addonOrReason(): VerbsAddon | string {
  if (checked !== undefined) return checked
  let addon: VerbsAddon | undefined
  try {
    addon = verbsAddon()
  } catch (error) {
    if (error instanceof NativeMissingError || error instanceof UnsupportedError) return error.message
    throw error
  }
  if (addon === undefined) {
    return 'RDMA is not compiled in: the addon was built without <infiniband/verbs.h>; install the header (Debian, Ubuntu: apt-get install libibverbs-dev) and build again: node native/build.mjs'
  }
  checkLayout(addon.layout())
  checked = addon
  return addon
}
