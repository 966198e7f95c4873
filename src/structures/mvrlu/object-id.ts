import { type ArgumentError, mustBe } from '../../native/index.ts'
import { BlockKind, blockState, generationOf, kindOf } from '../heap/block-state.ts'
import type { Heap } from '../heap/heap.ts'
import { GRANULES_PER_SLAB } from '../heap/layout.ts'

/** An object, as the number that other objects store to refer to it: its block's reference and generation. */
export type MvRluObject = number

const REFERENCES = 2 ** 26

export function objectId(reference: number, state: number): MvRluObject {
  return generationOf(state) * REFERENCES + reference
}

export function notAnObject(object: unknown): ArgumentError {
  return mustBe('object', 'an object, the root or what allocate() returned', object)
}

/** @throws ArgumentError if it is not an object of this heap. */
export function referenceOf(heap: Heap, object: MvRluObject): number {
  if (Number.isSafeInteger(object) && object >= 0) {
    const reference = object % REFERENCES
    const { backed, layout } = heap.blocks
    const granule = reference - layout.firstReference
    if (granule >= 0 && granule < backed * GRANULES_PER_SLAB) return reference
  }
  throw notAnObject(object)
}

/** The state of the object's block; undefined if it no longer exists. Inside an epoch it stays in memory if it was. */
export function stateOf(heap: Heap, object: MvRluObject): number | undefined {
  const state = heap.blocks.state(object % REFERENCES)
  const isIt = kindOf(state) === BlockKind.Live && generationOf(state) === Math.floor(object / REFERENCES)
  return isIt ? state : undefined
}

/**
 * For roots, which lie within the block of their name and are never freed: in no state that a block could be retired
 * from.
 */
export const ROOT_STATE: number = blockState(BlockKind.Closed, 0, 0)
