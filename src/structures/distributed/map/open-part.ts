import { fixed, type Parameter } from '../../parameter.ts'
import type { HomeHeap } from '../heap/home-heap.ts'
import type { NewBody } from '../heap/names.ts'
import { takeMapTables } from '../heap/tables.ts'
import { bucketsFor, depthFor, readMapBody, TABLE_BUCKETS, writeMapBody } from './body.ts'
import type { MapPart } from './group-map.ts'
import { MapShard } from './shard.ts'
import { emptySlot, tableBytes } from './slot.ts'
import { evenTree } from './tree.ts'

/** How a map is opened at one home. */
export interface MapPartRequest {
  readonly name: string
  readonly ttlMs: number
  /** Of all parts; 0: no bound. */
  readonly maxEntries: number
  readonly codec: Parameter
  /** Where it is made: how much it takes at first. */
  readonly capacity: number
  /** Of each table; a multiple of eight. Default: what fits `maxEntries`. */
  readonly buckets?: number
  /** How many homes have a part of it. */
  readonly parts: number
}

/**
 * Find the part of a map at `home`, or make it. Its table is made first, so that a rank that finds the map finds all of
 * it.
 */
export async function openMapPart(heap: HomeHeap, request: MapPartRequest): Promise<MapPart> {
  const { name, ttlMs, maxEntries, codec, capacity, parts } = request
  const bound = Math.ceil(maxEntries / parts)
  const { buckets = bound === 0 ? TABLE_BUCKETS : bucketsFor(bound) } = request
  const found = await heap.names.open({
    kind: 'map',
    name,
    parameters: [fixed('ttlMs', ttlMs), codec, fixed('parts', parts), fixed('maxEntries', maxEntries)],
    makeBody: () => makeTables(heap, buckets, 2 ** depthFor(capacity)),
  })
  const body = readMapBody(found)
  return { shard: new MapShard(heap.on(`map '${name}'`), heap.pool, body, found.offset, bound), seed: body.seed }
}

async function makeTables(heap: HomeHeap, buckets: number, count: number): Promise<NewBody> {
  const bytesOf = (generation: number): Uint8Array => tableBytes(buckets, emptySlot(generation))
  const { taken, undo } = await takeMapTables(heap, count, bytesOf)
  const nodes = evenTree(taken.map(({ index, tagFloor }) => ({ chunk: index, generation: tagFloor })))
  // The seed of hashes that no outsider can predict.
  const seed = Math.floor(heap.group.random() * 2 ** 31)
  return { bytes: writeMapBody({ seed, buckets, nodes }), undo }
}
