import type { RegionGroup } from 'aether-dsm/internal/dsm'
import type { TorturePlan } from './torture-plan.ts'

/** What a rank of a torture sees: pages of words. Every call rejects with a PageLostError where the page is lost. */
export interface TortureMemory {
  /** A copy of the page. */
  read(page: number): Promise<Uint32Array>
  /** Alone with the page: `change` is given a copy and turns it into what is to be left. */
  update(page: number, change: (words: Uint32Array) => void): Promise<void>
  /** Give up this rank's copy. */
  release(page: number): Promise<void>
  close(): Promise<void>
}

/** Opens the memory for this rank, the same at every rank. */
export type OpenTortureMemory = (group: RegionGroup, plan: TorturePlan) => Promise<TortureMemory>
