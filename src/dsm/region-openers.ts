import { UnsupportedError } from '../native/index.ts'
import { openCoherentRegion } from './coherent/region-opening.ts'
import { openHardwareRegion } from './hardware-region.ts'
import type { Region } from './region.ts'
import type { RegionHost } from './region-host.ts'
import type { RegionRequest } from './region-request.ts'

/**
 * Opens `request` by its kind. Kinds with a protocol need agents that are connected with each other.
 * @throws UnsupportedError if there are none.
 */
export async function openRegionOf(host: RegionHost, request: RegionRequest): Promise<Region> {
  const kind = request.coherence
  if (kind === 'hardware') return await openHardwareRegion(host, request)
  if (host.coherent !== undefined) return await openCoherentRegion(host.coherent, request)
  throw new UnsupportedError(
    `coherence '${kind}' needs a group of ranks: use join(); the members of a space share one machine and have 'hardware'`,
  )
}
