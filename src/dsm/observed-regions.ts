import type { SpaceObserver } from '../cluster/index.ts'
import { coherenceOf } from './coherence.ts'
import { type RegionEntry, RegionState, RegionTable } from './region-table.ts'

/**
 * A region in the arena of a space, as an observer outside sees it: one memory for all. Its pages have no state of
 * their own.
 */
export interface ObservedRegion extends Pick<RegionEntry, 'name' | 'size' | 'pageSize' | 'offset' | 'length'> {
  readonly index: number
  /** Tells it from an earlier region with this index. */
  readonly generation: number
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
      const generation = table.generationOf(index)
      const { name, size, pageSize, offset, length, coherence } = table.read(index)
      const isOpenAt = (slot: number): boolean => ((observer.held(slot)[index >> 5]! >>> (index & 31)) & 1) === 1
      const openAt = members.map(({ slot }) => slot).filter(isOpenAt)
      const kind = coherenceOf(coherence) ?? 'unknown'
      return { index, generation, name, size, pageSize, offset, length, coherence: kind, openAt }
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}
