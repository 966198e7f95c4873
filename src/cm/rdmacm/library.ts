import { NativeMissingError, type RdmacmAddon, rdmacmAddon, SystemError, UnsupportedError } from '../../native/index.ts'
import { checkLayout } from './layout.ts'

/** Return the calls of librdmacm. If they are unavailable, UnsupportedError says why and how to fix it. */
export function requireRdmacm(): RdmacmAddon {
  const addon = compiledIn()
  checkLayout(addon.layout())
  const reason = addon.load()
  if (reason !== '') {
    throw new UnsupportedError(
      `connections over RDMA devices need librdmacm, which cannot be opened (${reason}); install it (Debian, Ubuntu: apt-get install librdmacm1 ibverbs-providers)`,
    )
  }
  try {
    addon.open()
  } catch (cause) {
    if (!(cause instanceof SystemError)) throw cause
    throw new UnsupportedError(
      `connections over RDMA devices need /dev/infiniband/rdma_cm, which cannot be opened (${cause.errnoName}); run: modprobe rdma_ucm, and check its permissions`,
      { cause },
    )
  }
  return addon
}

function compiledIn(): RdmacmAddon {
  let addon: RdmacmAddon | undefined
  try {
    addon = rdmacmAddon()
  } catch (error) {
    if (error instanceof NativeMissingError) throw new UnsupportedError(error.message, { cause: error })
    throw error
  }
  if (addon !== undefined) return addon
  throw new UnsupportedError(
    'connections over RDMA devices are not compiled in, because <rdma/rdma_cma.h> was missing. Install it (Debian, Ubuntu: apt-get install librdmacm-dev) and build again: node native/build.mjs',
  )
}
