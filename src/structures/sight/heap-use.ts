import { SLAB_BYTES } from '../heap/layout.ts'
import { SlabKind, slabKind } from '../heap/slab-word.ts'
import type { HeapSight } from './heap-sight.ts'

/** Slabs whose blocks are counted one by one. */
const SLABS_COUNTED_MAX = 48

const WITHOUT_BLOCKS: ReadonlySet<number> = new Set([SlabKind.Free, SlabKind.Hole, SlabKind.Bare])

/** How much of a heap is used. */
export interface HeapUse {
  readonly sizeBytes: number
  /** Of blocks in use, or that readers may still use. */
  readonly usedBytes: number
  /** It is estimated from some of the slabs. */
  readonly isEstimate: boolean
}

/** Looks at the record of every slab, and at the blocks of some, spread evenly over those that have any. */
export function heapUse(heap: HeapSight): HeapUse {
  const { backed, layout } = heap
  const taken: number[] = []
  for (let slab = 0; slab < backed; slab += 1) if (!WITHOUT_BLOCKS.has(slabKind(heap.slabWord(slab)))) taken.push(slab)
  const step = Math.max(1, taken.length / SLABS_COUNTED_MAX)
  let [counted, used] = [0, 0]
  for (let at = 0; at < taken.length; at += step) {
    used += heap.usedIn(taken[Math.floor(at)]!)
    counted += 1
  }
  const usedBytes = counted === 0 ? 0 : Math.round((used / counted) * taken.length)
  return { sizeBytes: layout.slabs * SLAB_BYTES, usedBytes, isEstimate: counted < taken.length }
}
