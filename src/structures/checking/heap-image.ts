import { BlockTable } from '../heap/block-table.ts'
import { heapBytesOf, layoutOf, SLAB_RECORD_BYTES } from '../heap/layout.ts'
import { LocalMemory } from '../memory/local-memory.ts'
import { type CopySource, partsInUse } from '../saving/heap-copy.ts'

/**
 * A private copy of a heap that no process uses, of what is in use. Nothing is changed in the source, and what has no
 * memory there takes none here.
 */
export function readImage(source: CopySource, regionBytes: number): Uint8Array {
  const lengthBytes = heapBytesOf(regionBytes)
  const layout = layoutOf(lengthBytes)
  // Pages that are never written take no memory.
  const bytes = new Uint8Array(lengthBytes)
  const read = (offset: number, length: number) => source.read(offset, bytes.subarray(offset, offset + length))
  read(0, layout.recordsOffset + layout.slabs * SLAB_RECORD_BYTES)
  for (const [offset, length] of partsInUse(new BlockTable(new LocalMemory(bytes), layout))) read(offset, length)
  return bytes
}
