import type { Heap } from './heap/heap.ts'
import { Reach } from './heap/reach.ts'
import { isInList } from './list/node.ts'
import { isInMap } from './map/core.ts'
import { REFERENCE_MASK } from './map/layout.ts'
import { settleWriteSet } from './mvrlu/settle.ts'

/**
 * How the blocks of each kind of structure are looked for by recovery: also of kinds that this participant has not
 * opened.
 */
export function addReaches(heap: Heap): void {
  heap.addReach(Reach.Cell, (place, reference) => heap.memory.load(place) === reference)
  heap.addReach(Reach.List, (head, reference) => isInList(heap, head, reference))
  heap.addReach(Reach.Map, (body, reference) => isInMap(heap, body, reference))
  heap.addReach(Reach.Slot, (slot, reference) => (heap.memory.load(slot) & REFERENCE_MASK) === reference)
  heap.addSettler((participant) => settleWriteSet(heap, participant))
}
