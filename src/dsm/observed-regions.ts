import type { SpaceObserver } from '../cluster/index.ts'
import { coherenceOf } from './coherence.ts'
import { type RegionEntry, RegionState, RegionTable } from './region-table.ts'

/**
 * A region in the arena of a space, as an observer outside sees it: one memory for all. Its pages have no state of
 * their own.
 */
export interface ObservedRegion extends Pick<RegionEntry, 'name' | 'size' | 'pageSize'> {
  readonly index: number
  readonly coherence: string
  /** Slots of the members that have it open. */
  readonly openAt: readonly number[]
}

/** The regions of a space that are ready, by name, including those that Aether keeps for itself. */
export function observedRegions(observer: SpaceObserver): readonly ObservedRegion[] {
  const table = new RegionTable(observer.arena.control)
  const members = observer.members()
  return table
    .inState(RegionState.Ready)
    .map((index) => {
      const { name, size, pageSize, coherence } = table.read(index)
      const isOpenAt = (slot: number): boolean => ((observer.held(slot)[index >> 5]! >>> (index & 31)) & 1) === 1
      const openAt = members.map(({ slot }) => slot).filter(isOpenAt)
      return { index, name, size, pageSize, coherence: coherenceOf(coherence) ?? 'unknown', openAt }
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}
