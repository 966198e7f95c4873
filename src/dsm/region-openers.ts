import { UnsupportedError } from '../native/index.ts'
import type { CoherenceKind } from './coherence.ts'
import { openCoherentRegion } from './coherent/region-opening.ts'
import { openHardwareRegion } from './hardware-region.ts'
import type { Region } from './region.ts'
import type { RegionHost } from './region-host.ts'
import type { RegionRequest } from './region-request.ts'

/** Makes or opens a region of one kind. */
type RegionOpener = (host: RegionHost, request: RegionRequest) => Promise<Region>

/** A coherence kind is added here. */
const OPENERS: Readonly<Partial<Record<CoherenceKind, RegionOpener>>> = {
  hardware: openHardwareRegion,
  mesi: openInGroup,
  moesi: openInGroup,
  directory: openInGroup,
  token: openInGroup,
}

/** Opens `request` by its kind. @throws UnsupportedError if the kind is not available. */
export async function openRegionOf(host: RegionHost, request: RegionRequest): Promise<Region> {
  const opener = OPENERS[request.coherence]
  if (opener === undefined)
    throw new UnsupportedError(`coherence '${request.coherence}' is not available in this build`)
  return await opener(host, request)
}

/** Kinds with a protocol need agents that are connected with each other. */
async function openInGroup(host: RegionHost, request: RegionRequest): Promise<Region> {
  if (host.coherent !== undefined) return await openCoherentRegion(host.coherent, request)
  const kind = request.coherence
  throw new UnsupportedError(
    `coherence '${kind}' needs a group of ranks: use join(); the members of a space share one machine and have 'hardware'`,
  )
}
