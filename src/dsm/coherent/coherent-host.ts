import type { Locks } from '../../cluster/index.ts'
import type { Agent } from '../../runtime/index.ts'
import type { UserfaultProbe } from '../mmu/probe.ts'
import type { DemandRing } from './demand-ring.ts'

/** What a group offers to its coherent regions. */
export interface CoherentHost {
  readonly agent: Agent
  readonly locks: Locks
  readonly ranks: number
  readonly demands: DemandRing
  readonly userfault: UserfaultProbe
  /** Regions of this process by name, also closed ones that other ranks still use: they may be opened again. */
  readonly regions: Map<string, { close(): unknown }>
  /** The last opening of each name: one at a time. */
  readonly openings: Map<string, Promise<unknown>>
}
