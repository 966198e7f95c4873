import { HeapFullError } from '../../errors.ts'
import { CHUNK_BYTES } from '../memory/layout.ts'
import { type Chunk, chunkOffset } from './chunks.ts'
import type { HomeHeap } from './home-heap.ts'

/** Tables that nothing names yet. */
export interface NewTables {
  /** Where each begins. */
  readonly places: readonly number[]
  /** Give them back: another made the structure meanwhile. */
  undo(): Promise<void>
}

/**
 * Take so many chunks of words, all zero, for a structure that is being made. Its name's block has to say where they
 * are, for the census. @throws HeapFullError
 */
export async function takeTables(heap: HomeHeap, count: number): Promise<NewTables> {
  const { chunks } = heap.pool
  const { taken, undo } = await takeAll(heap, 'table', count, (chunk) => chunks.clear(chunk))
  return { places: taken.map(({ index }) => chunkOffset(index)), undo }
}

/** The same for a map, filled with what the generation of each says. */
export async function takeMapTables(
  heap: HomeHeap,
  count: number,
  bytesOf: (generation: number) => Uint8Array,
): Promise<TakenTables> {
  return await takeAll(heap, 'map table', count, (chunk) => heap.pool.chunks.write(chunk, bytesOf(chunk.tagFloor)))
}

interface TakenTables {
  readonly taken: readonly Chunk[]
  undo(): Promise<void>
}

async function takeAll(
  heap: HomeHeap,
  kind: 'table' | 'map table',
  count: number,
  fill: (chunk: Chunk) => Promise<void>,
): Promise<TakenTables> {
  const { chunks } = heap.pool
  const taken: Chunk[] = []
  const undo = async (): Promise<void> => {
    for (const chunk of taken) await chunks.giveBack(chunk, chunk.tagFloor)
  }
  while (taken.length < count) {
    const chunk = await heap.pool.takeChunk({ kind })
    if (chunk === undefined) {
      await undo()
      throw new HeapFullError(count * CHUNK_BYTES, chunks.lengthBytes, chunks.lengthBytes, ` at rank ${heap.rank}`)
    }
    await fill(chunk)
    taken.push(chunk)
  }
  return { taken, undo }
}
