import type { Locks, Membership } from '../cluster/index.ts'
import type { CoherentHost } from './coherent/coherent-host.ts'
import type { RegionDirectory } from './region-directory.ts'

/** What a region is opened in: a space or a group. Openers take from it what their kind needs. */
export interface RegionHost {
  /** The arena and its members. */
  readonly membership: Membership
  /** The arena's list of regions. */
  readonly directory: RegionDirectory
  /** The keeper of locks; a space has none. */
  readonly locks?: Locks
  /** What coherent kinds need; a space has none. */
  readonly coherent?: CoherentHost
}
