import { HeapFullError } from '../errors.ts'
import { type Chunk, chunkOffset } from './chunks.ts'
import type { Home } from './home.ts'
import { CHUNK_BYTES } from './layout.ts'
import type { MapPart } from './map.ts'
import { readMapBody, tablesFor, writeMapBody } from './map-body.ts'
import { MapShard } from './map-shard.ts'
import type { NewBody } from './names.ts'

/** How a map is opened at one home. */
export interface MapPartRequest {
  readonly name: string
  readonly ttlMs: number
  readonly codec: number
  readonly capacity: number
  /** How many homes have a part of it. */
  readonly parts: number
}

/** Find the part of a map at `home`, or make it: its table first, so that whoever finds the map finds all of it. */
export async function openMapPart(home: Home, request: MapPartRequest): Promise<MapPart> {
  const { name, ttlMs, codec, capacity, parts } = request
  const tables = tablesFor(capacity)
  const found = await home.names.open({
    kind: 'map',
    name,
    parameters: [tables, ttlMs, codec, parts],
    makeBody: () => makeTables(home, tables),
  })
  const body = readMapBody(found)
  return { shard: new MapShard(home.on(`map '${name}'`), home.pool, body.tables), seed: body.seed }
}

async function makeTables(home: Home, count: number): Promise<NewBody> {
  const { chunks } = home.pool
  const taken: Chunk[] = []
  const undo = async (): Promise<void> => {
    for (const chunk of taken) await chunks.giveBack(chunk, chunk.tagFloor)
  }
  while (taken.length < count) {
    const chunk = await chunks.take({ kind: 'table' })
    if (chunk === undefined) {
      await undo()
      throw new HeapFullError(count * CHUNK_BYTES, chunks.lengthBytes, chunks.lengthBytes, ` at rank ${home.rank}`)
    }
    await chunks.clear(chunk)
    taken.push(chunk)
  }
  // Of hashes that nobody outside can foresee.
  const seed = Math.floor(home.words.random() * 2 ** 31)
  return {
    bytes: writeMapBody(
      seed,
      taken.map(({ index }) => chunkOffset(index)),
    ),
    undo,
  }
}
